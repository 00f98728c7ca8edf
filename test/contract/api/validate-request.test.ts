import { expect } from 'chai';
import { ApiError, type Issue } from '../../../services/api/errors/api-error.ts';
import { validateRequest, type AcceptedRequest } from '../../../services/api/create-job/validate-request.ts';
import { createAddressRule } from '../../../shared/egress/address-rule.ts';
import { formatOfUrl } from '../../../services/api/create-job/url-format.ts';

const good = {
  'import-1': { operation: 'import/upload' },
  'convert-1': { operation: 'convert', input: 'import-1', input_format: 'jpg', output_format: 'webp' },
  'export-1': { operation: 'export/url', input: 'convert-1' },
};

function accept(tasks: unknown, tag?: unknown, keyMode: 'live' | 'test' = 'live'): AcceptedRequest {
  return validateRequest({ tasks, ...(tag === undefined ? {} : { tag }) }, keyMode, { isAllowedAddress: createAddressRule([]), isOffered: () => true });
}

function refuse(tasks: unknown, tag?: unknown, keyMode: 'live' | 'test' = 'live'): ApiError {
  try {
    accept(tasks, tag, keyMode);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

function pathsOf(error: ApiError): readonly string[] {
  expect(error.status).to.equal(400);
  expect(error.code).to.equal('validation_failed');
  return (error.details['issues'] as Issue[]).map(({ path }) => path);
}

function withConvert(more: Readonly<Record<string, unknown>>): object {
  return { ...good, 'convert-1': { ...good['convert-1'], ...more } };
}

function byUrl(task: object, convert: object = {}): ApiError {
  return refuse(tasksByUrl(task, convert));
}

function inputFormatOf(task: object, convert: object = {}): string {
  return accept(tasksByUrl(task, convert)).request.inputFormat;
}

function answerOf(error: ApiError): unknown {
  return [error.status, error.code, error.details];
}

function tasksByUrl(task: object, convert: object = {}): object {
  return { ...withConvert({ input_format: undefined, ...convert }), 'import-1': { operation: 'import/url', ...task } };
}

describe('Validation of a create request', () => {
  it('accepts the three tasks in any order, and finds their roles (D13, D23)', () => {
    const reversed = Object.fromEntries(Object.entries(good).toReversed());
    for (const tasks of [good, reversed]) {
      expect(accept(tasks).request.typed.task_names).to.deep.equal({ import: 'import-1', convert: 'convert-1', export: 'export-1' });
    }
  });

  it('accepts names that JavaScript orders or owns', () => {
    const tasks: unknown = JSON.parse(`{
      "2": {"operation": "export/url", "input": "constructor"},
      "__proto__": {"operation": "import/upload"},
      "constructor": {"operation": "convert", "input": "__proto__", "input_format": "png", "output_format": "jpg"}
    }`);
    expect(accept(tasks).request.typed.task_names).to.deep.equal({ import: '__proto__', convert: 'constructor', export: '2' });
  });

  it('ignores fields it does not know and spells formats its own way (D22)', () => {
    const { request, pair } = accept({ ...withConvert({ input_format: 'JPEG', output_format: 'TIF', extra: 1 }), 'import-1': { operation: 'import/upload', filename: 'x' } });
    expect([request.inputFormat, request.outputFormat]).to.deep.equal(['jpg', 'tiff']);
    expect(pair.estimate).to.equal(1);
  });

  it('keeps known options, and names those without effect (D22)', () => {
    const { request } = accept(withConvert({ options: { quality: 80, blink: true } }));
    expect(request.typed.options).to.deep.equal({ quality: 80 });
    expect(request.typed.ignored_options).to.deep.equal(['blink']);
  });

  it('refuses tasks that are not an object', () => {
    for (const tasks of [undefined, null, [], 'x', 3]) expect(pathsOf(refuse(tasks))).to.deep.equal(['tasks']);
  });

  it('refuses any other number of tasks and any other mix of roles (§2.3, D23)', () => {
    expect(pathsOf(refuse({}))).to.include('tasks');
    expect(pathsOf(refuse({ ...good, more: { operation: 'import/upload' } }))).to.include('tasks');
    expect(pathsOf(refuse({ ...good, 'export-1': good['convert-1'] }))).to.deep.equal(['tasks', 'tasks']);
  });

  it('names every problem at once, by its dotted path (D75)', () => {
    const error = refuse({ 'import-1': { operation: 'import/upload' }, 'convert-1': { operation: 'convert', input: 3, output_format: '' }, 'export-1': { operation: 'nothing' } }, 7);
    expect(pathsOf(error)).to.include.members(['tasks.convert-1.input', 'tasks.convert-1.output_format', 'tasks.export-1.operation', 'tag']);
  });

  it('refuses inputs that do not name the task before (§2.3, D23, D75)', () => {
    expect(pathsOf(refuse(withConvert({ input: 'export-1' })))).to.deep.equal(['tasks.convert-1.input']);
    expect(pathsOf(refuse({ ...good, 'export-1': { operation: 'export/url', input: 'import-1' } }))).to.deep.equal(['tasks.export-1.input']);
    expect(pathsOf(refuse(withConvert({ input: ['import-1'] })))).to.deep.equal(['tasks.convert-1.input']);
  });

  it('requires input_format with an upload, and says so in details.field too (§2.3.1, D20)', () => {
    const error = refuse(withConvert({ input_format: undefined }));
    expect(error.details['field']).to.equal('input_format');
    expect(pathsOf(error)).to.deep.equal(['tasks.convert-1.input_format']);
  });

  it('refuses bad options of the target format by their own path (D22)', () => {
    expect(pathsOf(refuse(withConvert({ options: { quality: 0, width: 'wide' } })))).to.deep.equal(['tasks.convert-1.options.quality', 'tasks.convert-1.options.width']);
    for (const options of [[], 'x', 3, null]) expect(pathsOf(refuse(withConvert({ options })))).to.deep.equal(['tasks.convert-1.options']);
    expect(pathsOf(refuse(withConvert({ options: { blink: 'x'.repeat(70_000) } })))).to.deep.equal(['tasks.convert-1.options']);
  });

  it('counts a tag in code points (§8 tag, D6)', () => {
    expect(accept(good, '🙂'.repeat(255)).tag).to.have.length(510);
    expect(pathsOf(refuse(good, '🙂'.repeat(256)))).to.deep.equal(['tag']);
    expect(accept(good, '').tag).to.equal('');
    for (const tag of [null, 5, []]) expect(pathsOf(refuse(good, tag))).to.deep.equal(['tag']);
  });

  it('refuses task names that are empty or too long', () => {
    expect(pathsOf(refuse({ ...good, 'import-1': undefined, '': { operation: 'import/upload' } }))).to.include('tasks');
    const { 'import-1': source, ...rest } = good;
    expect(pathsOf(refuse({ ['n'.repeat(256)]: source, ...rest }))).to.include('tasks');
  });

  it('refuses a pair that is not supported, after everything else was right (§2.3.3, D1, D22)', () => {
    const error = refuse(withConvert({ input_format: 'PNG', output_format: 'Docx' }));
    expect([error.status, error.code]).to.deep.equal([400, 'unsupported_conversion']);
    expect(error.details).to.deep.equal({ input_format: 'png', output_format: 'docx' });
    expect(refuse(withConvert({ output_format: 'svg' })).code).to.equal('unsupported_conversion');
    expect(refuse(withConvert({ output_format: 'docx', input: 'x' })).code).to.equal('validation_failed');
  });

  it('refuses a pair for which no converter is there as one that is not supported, and accepts nothing else instead (§2.3.3, §4.1 GET /operations)', () => {
    const body = { tasks: good };
    const isAllowedAddress = createAddressRule([]);
    const asked: string[] = [];
    const isOffered = ({ input, output }: { readonly input: string; readonly output: string }): boolean => {
      asked.push(`${input}>${output}`);
      return false;
    };
    expect(() => validateRequest(body, 'live', { isAllowedAddress, isOffered })).to.throw(ApiError).with.property('code', 'unsupported_conversion');
    expect(() => validateRequest({ tasks: withConvert({ output_format: 'webp', input: 'x' }) }, 'live', { isAllowedAddress, isOffered })).to.throw(ApiError).with.property('code', 'validation_failed');
    expect(asked).to.deep.equal(['jpg>webp']);
  });

  it('takes the format of an import/url from the convert task, the import task or the extension (§2.3.2, D20, D21)', () => {
    expect(inputFormatOf({ url: 'https://example.com/a.JPEG?x=.png#.gif' })).to.equal('jpg');
    expect(inputFormatOf({ url: 'https://example.com/a.png', input_format: 'TIF' })).to.equal('tiff');
    expect(inputFormatOf({ url: 'https://example.com/a.png' }, { input_format: 'gif' })).to.equal('gif');
    expect(byUrl({ url: 'https://example.com/a' }).details['field']).to.equal('input_format');
    expect(pathsOf(byUrl({ url: 'https://example.com/a', input_format: 'png' }, { input_format: 'jpg' }))).to.include('tasks.convert-1.input_format');
    expect(byUrl({ url: 'https://example.com/a.php' }).code).to.equal('unsupported_conversion');
  });

  it('keeps URL and headers of an import/url as they were given (§2.3)', () => {
    const headers: unknown = JSON.parse('{"X-Token": "a b", "__proto__": "c"}');
    const { fetch } = accept(tasksByUrl({ url: 'https://example.com/a.png?q=1#f', headers })).request;
    expect(fetch).to.deep.equal({ url: 'https://example.com/a.png?q=1#f', headers: [['X-Token', 'a b'], ['__proto__', 'c']] });
  });

  it('names every header that cannot be sent by its path (§8 url import 2, D83)', () => {
    const url = 'https://example.com/a.jpg';
    expect(pathsOf(byUrl({}))).to.deep.equal(['tasks.import-1.url']);
    expect(pathsOf(byUrl({ url, headers: { a: 1, Host: 'x', b: 'ok', 'Proxy-Authorization': 'x' } }))).to.deep.equal(['a', 'Host', 'Proxy-Authorization'].map((name) => `tasks.import-1.headers.${name}`));
    for (const bad of [[], 'x', 3, null]) expect(pathsOf(byUrl({ url, headers: bad })), String(bad)).to.deep.equal(['tasks.import-1.headers']);
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, 'v']));
    expect(pathsOf(byUrl({ url, headers: many }))).to.deep.equal(['tasks.import-1.headers']);
    const { 'x-10': _, ...ten } = many;
    expect(accept(tasksByUrl({ url, headers: ten })).request.fetch?.headers).to.have.length(10);
  });

  it('refuses a URL that may not be fetched, after everything else was right (§8 url import 1, D1, D83)', () => {
    expect(answerOf(byUrl({ url: 'http://example.com/a.jpg' }))).to.deep.equal([400, 'url_import_failed', { reason: 'not_https' }]);
    expect(answerOf(byUrl({ url: 'https://a:b@example.com/a.jpg' }))).to.deep.equal([400, 'url_import_failed', { reason: 'invalid_url' }]);
    expect(answerOf(byUrl({ url: 'https://0x7f.1/a.jpg' }))).to.deep.equal([400, 'url_import_failed', { reason: 'blocked_address' }]);
    expect(byUrl({ url: 'http://127.0.0.1/a.php' }).code).to.equal('unsupported_conversion');
    expect(byUrl({ url: 'http://127.0.0.1/a.jpg', headers: { Host: 'x' } }).code).to.equal('validation_failed');
  });
});

describe('The format in a URL', () => {
  it('is the extension of the decoded last segment, without query and fragment (D21)', () => {
    expect(formatOfUrl('https://example.com/a/b.JPEG?x=.png#y.gif')).to.equal('jpeg');
    expect(formatOfUrl('https://example.com/a%2Epng')).to.equal('png');
    expect(formatOfUrl('https://example.com/x.php')).to.equal('php');
  });

  it('is missing in a dot-file, after a dot at the end, and where nothing can be read (D21)', () => {
    for (const url of ['https://example.com/', 'https://example.com/.png', 'https://example.com/a.', 'https://example.com/a.b/c', 'https://example.com/%ff.png', 'nonsense']) {
      expect(formatOfUrl(url), url).to.equal(undefined);
    }
  });

  it('reads the tag of a test key, and of no other, for what it asks (D65)', () => {
    expect(accept(good, 'test:fail=internal test:delay=5', 'test').triggers).to.deep.equal({ delayMs: 5, refusal: 'internal' });
    expect(accept(good, 'test:fail=nonsense').triggers).to.deep.equal({ delayMs: 0 });
    expect(pathsOf(refuse(good, 'test:fail=nonsense', 'test'))).to.deep.equal(['tag']);
    expect(pathsOf(refuse({ ...good, 'export-1': {} }, 'test:delay=x', 'test'))).to.include('tag').and.have.length.greaterThan(1);
    expect(pathsOf(refuse(good, 'test:fail=url_import_failed/timeout', 'test'))).to.deep.equal(['tag']);
  });
});
