import { expect } from 'chai';
import { decodeText, encodeText } from '../../../services/converter/engines/office/texts/encodings.ts';
import { EngineFailure } from '../../../services/converter/engines/failure.ts';
import { OUTPUT_ENCODINGS } from '../../../shared/domain/catalogue/options/text.ts';

/** What each encoding has a sign for, besides ASCII. */
const SIGNS: Readonly<Record<(typeof OUTPUT_ENCODINGS)[number], string>> = {
  'utf-8': 'é€Жあ🍵', 'utf-16le': 'é€Жあ🍵', 'utf-16be': 'é€Жあ🍵', 'windows-1250': 'ąčő€', 'windows-1251': 'Жяї€', 'windows-1252': 'é€ß„', 'windows-1253': 'αώ€',
  'windows-1254': 'ğİş€', 'windows-1257': 'āėų€', 'iso-8859-2': 'ąčő', 'iso-8859-15': 'é€Š', 'koi8-r': 'Жя', macintosh: 'é†Ω', ibm866: 'Жя',
};

describe('encodings of texts', () => {
  for (const encoding of OUTPUT_ENCODINGS) {
    it(`come back from ${encoding} as they went in`, () => {
      const text = `plain ${SIGNS[encoding]}\n`;
      expect(decodeText(encodeText(text, encoding), encoding)).to.equal(text);
    });
  }

  it('are the bytes that other programs write', () => {
    expect(encodeText('é€', 'windows-1252')).to.deep.equal(Buffer.from([0xe9, 0x80]));
    expect(encodeText('é€', 'iso-8859-15')).to.deep.equal(Buffer.from([0xe9, 0xa4]));
    expect(encodeText('Ж', 'koi8-r')).to.deep.equal(Buffer.from([0xf6]));
    expect(encodeText('é', 'utf-16be')).to.deep.equal(Buffer.from([0xfe, 0xff, 0, 0xe9]));
    expect(encodeText('é', 'utf-16le', false)).to.deep.equal(Buffer.from([0xe9, 0]));
    expect(encodeText('é', 'utf-8', true)).to.deep.equal(Buffer.from([0xef, 0xbb, 0xbf, 0xc3, 0xa9]));
    expect(encodeText('é', 'windows-1252', true), 'an encoding without a mark').to.deep.equal(Buffer.from([0xe9]));
  });

  it('write a question mark for what they have no sign for', () => {
    expect(encodeText('1 茶 🍵', 'windows-1252').toString('latin1')).to.equal('1 ? ?');
  });

  it('are found by their mark, whatever was asked for', () => {
    for (const encoding of ['utf-8', 'utf-16le', 'utf-16be'] as const) expect(decodeText(encodeText('é茶', encoding, true), 'windows-1252')).to.equal('é茶');
  });

  it('are found without a mark: utf-8 where it is valid, else windows-1252', () => {
    expect(decodeText(Buffer.from('é茶'))).to.equal('é茶');
    expect(decodeText(Buffer.from([0x93, 0xe9, 0x94]))).to.equal('“é”');
  });

  it('are what a page says of itself, if it can be true', () => {
    expect(decodeText(Buffer.from([0xf6]), 'auto', 'koi8-r')).to.equal('Ж');
    expect(decodeText(Buffer.from('é'), 'auto', 'nonsense')).to.equal('é');
    expect(decodeText(Buffer.from('é'), 'auto', 'utf-16')).to.equal('é');
  });

  it('of binary files are none', () => {
    expect(() => decodeText(Buffer.from('a\0b'))).to.throw(EngineFailure).with.property('code', 'not_what_it_claims');
  });
});
