import { expect } from 'chai';
import { readValue } from '../../../services/converter/engines/pdf/reflow/values.ts';

describe('what a cell of a table holds', () => {
  const numbers: Readonly<Record<string, number>> = {
    '42': 42, '-7': -7, '\u22127': -7, '(123)': -123, '1,234.50': 1234.5, '1.234,50': 1234.5, '12,5': 12.5, '1 234 567': 1_234_567, '$19.99': 19.99, '19,99 \u20AC': 19.99, '0.5': 0.5, '12%': 0.12, '1.000.000': 1_000_000,
  };
  for (const [text, value] of Object.entries(numbers)) {
    it(`reads ${text} as the number ${value}`, () => {
      expect(readValue(text)).to.include({ type: 'number', value });
    });
  }

  const dates: Readonly<Record<string, string>> = { '2024-02-29': '2024-02-29', '31.12.1999': '1999-12-31', '25/12/2024': '2024-12-25', '12/25/2024': '2024-12-25', '5 March 2020': '2020-03-05' };
  for (const [text, iso] of Object.entries(dates)) {
    it(`reads ${text} as the day ${iso}`, () => {
      expect(readValue(text)).to.include({ type: 'date', iso });
    });
  }

  it('leaves as text what may be something else: codes, long numbers, days that do not exist or can be two', () => {
    for (const text of ['00123', '12345678901234567890', '2023-02-29', '01/02/2024', '1-2', '1,23,4', 'A1', '', '(12', '1.2.3', '+49 30 123456', '3 4']) expect(readValue(text).type, text).to.equal('text');
  });
});
