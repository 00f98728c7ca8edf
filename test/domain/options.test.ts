import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import { FORMATS } from '../../shared/domain/catalogue/formats.ts';
import { OPTION_SCHEMAS, parseOptions, type OutputFormat } from '../../shared/domain/catalogue/options/options.ts';

const outputs = Object.keys(OPTION_SCHEMAS) as OutputFormat[];

describe('conversion options', () => {
  it('lets good values through unchanged', () => {
    const options = { quality: 82, width: 640, fit: 'cover', background: '#FFaa00', rotate: -90, lossless: false };
    expect(parseOptions('jpg', 'webp', options)).to.deep.equal({ options, ignored: [], issues: [] });
  });

  it('names unknown keys and gives them no effect (D22)', () => {
    const parsed = parseOptions('jpg', 'png', JSON.parse('{"quality":80,"__proto__":{"width":1},"constructor":1,"colors":16}') as Record<string, unknown>);
    expect(parsed).to.deep.equal({ options: { colors: 16 }, ignored: ['quality', '__proto__', 'constructor'], issues: [] });
  });

  it('says for a bad value what is allowed', () => {
    const { issues, options } = parseOptions('jpg', 'jpg', { quality: 101, width: 0, fit: 'zoom', progressive: 'yes', background: 'red', height: null });
    expect(options).to.deep.equal({});
    expect(Object.fromEntries(issues.map(({ path, message }) => [path, message]))).to.deep.equal({
      quality: 'must be a whole number from 1 to 100',
      width: 'must be a whole number from 1 to 16383',
      height: 'must be a whole number from 1 to 16383',
      fit: 'must be one of inside, outside, cover, contain, fill',
      progressive: 'must be true or false',
      background: 'must be a colour written #rrggbb or #rrggbbaa',
    });
  });

  it('refuses fractions, numbers in quotes, lists and colours with something behind them', () => {
    for (const options of [{ width: 1.5 }, { width: '100' }, { width: [100] }, { quality: Number.NaN }, { background: '#ffffff\n-o' }, { background: '#ffffff;x' }]) {
      expect(parseOptions('jpg', 'avif', options).issues, JSON.stringify(options)).to.have.length(1);
    }
  });

  for (const output of outputs) {
    it(`describes the options of ${output} as a JSON Schema that agrees with the check`, () => {
      const schema = z.toJSONSchema(OPTION_SCHEMAS[output]);
      const validate = new Ajv2020({ keywords: ['x-inputs'] }).compile(schema);
      expect(validate({})).to.equal(true);
      if (FORMATS[output].category === 'image' && output !== 'svg') {
        expect(validate({ width: 10, page: 1 })).to.equal(true);
        expect(validate({ width: 0 })).to.equal(false);
      }
      expect(validate({ unknown: 1 })).to.equal(false);
      for (const property of Object.values(schema.properties ?? {})) expect(property).to.have.property('description').that.is.a('string');
    });
  }
});
