import { expect } from 'chai';
import { UsageError } from '../../services/cli/command.ts';
import { readOptions } from '../../services/cli/convert/options.ts';

describe('options on the command line of convert', () => {
  it('are what they look like, where the service does not take text', () => {
    expect(readOptions(['width=48', 'zoom=-1.5', 'flip=true', 'fit=cover'], () => false)).to.deep.equal({ width: 48, zoom: -1.5, flip: true, fit: 'cover' });
  });

  it('stay text where the service takes text, such as a password of digits', () => {
    expect(readOptions(['password=1234', 'pages=2', 'width=2'], (name) => name !== 'width')).to.deep.equal({ password: '1234', pages: '2', width: 2 });
  });

  it('may have any sign in their value, and none but a name before it', () => {
    expect(readOptions(['password==a b=', 'empty='], () => true)).to.deep.equal({ password: '=a b=', empty: '' });
    for (const text of ['quality', '=80', '']) expect(() => readOptions([text], () => true), text).to.throw(UsageError);
  });
});
