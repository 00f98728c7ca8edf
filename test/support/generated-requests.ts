import fc from 'fast-check';
import { generateSync, type JsonSchema } from 'json-schema-faker';
import { z } from 'zod';

const parameterSchema = z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), schema: z.record(z.string(), z.unknown()) });
const operationSchema = z.object({
  operationId: z.string(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()) })) }).optional(),
});
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** An operation of the document, as requests are made for it. */
export type Operation = z.infer<typeof operationSchema> & { readonly method: string; readonly path: string; readonly components: object };

/** A request that was made up; `target` is a path from the root of the server. */
export type GeneratedRequest = { readonly method: string; readonly target: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string };

/** What requests are filled with that lead somewhere: ids of jobs, secrets of keys, a body that is accepted. */
export type Known = { readonly ids: readonly string[]; readonly secrets: readonly string[]; readonly body: unknown };

/** Longest wait that is asked for, in seconds; the rest of the range is refused or takes too long. */
const WAIT_SECONDS = ['0', '1', '26', '-1'];

/** Every operation of a served OpenAPI document. */
export function readOperations(document: unknown): readonly Operation[] {
  const { paths, components } = documentSchema.parse(document);
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const operation = operationSchema.safeParse(described);
      if (!operation.success) return [];
      const isAtRoot = typeof described === 'object' && described !== null && 'servers' in described;
      return [{ ...operation.data, method: method.toUpperCase(), path: isAtRoot ? template : `/v1${template}`, components }];
    }),
  );
}

/** Requests for an operation: as its description wants them, and broken in one place or everywhere. */
export function requestsFor(operation: Operation, known: Known): fc.Arbitrary<GeneratedRequest> {
  return fc.record({ path: pathOf(operation, known), query: queryOf(operation), headers: headersOf(operation, known), body: bodyOf(operation, known) }).map(({ path, query, headers, body }) => ({
    method: operation.method,
    target: `${path}${query}`,
    headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  }));
}

function pathOf({ path }: Operation, known: Known): fc.Arbitrary<string> {
  const segment = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known.ids) }, fc.uuid(), oddText().map((text) => encodeURIComponent(text) || '-'));
  const parts = path.split('/').map((part) => (part.startsWith('{') ? segment : fc.constant(part)));
  return fc.tuple(...parts).map((segments) => segments.join('/'));
}

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const fields = parameters.filter((parameter) => parameter.in === 'query').map(({ name, schema }) => {
    const value = name === 'wait' ? fc.constantFrom(...WAIT_SECONDS) : fc.oneof(fc.integer().map((seed) => textOf(generateSync(schema as JsonSchema, { seed }))), oddText());
    return fc.option(value.map((text) => `${name}=${encodeURIComponent(text)}`), { nil: '' });
  });
  const unknown = fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('page=1&page=2', 'unknown=1', 'wait=', '%ff', 'a[b]=c', '__proto__=1'));
  return fc.tuple(...fields, unknown).map((given) => given.filter((text) => text !== '').join('&')).map((text) => (text === '' ? '' : `?${text}`));
}

function headersOf({ parameters }: Operation, known: Known): fc.Arbitrary<Record<string, string>> {
  const secret = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...known.secrets) }, headerText());
  const key = fc.oneof({ weight: 8, arbitrary: secret.map((value) => ({ Authorization: `Bearer ${value}` })) }, secret.map((value) => ({ 'X-API-Key': value })), fc.constant({}));
  const others = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => fc.option(headerText().map((value) => ({ [name]: value })), { nil: {} }));
  const odd = fc.constantFrom('text/plain', 'application/json; charset=latin1', 'multipart/form-data', 'application/octet-stream').map((value) => ({ 'Content-Type': value }));
  const type = fc.oneof({ weight: 8, arbitrary: fc.constant({}) }, odd);
  return fc.tuple(key, type, ...others).map((parts) => Object.assign({}, ...parts) as Record<string, string>);
}

function bodyOf({ method, requestBody, components }: Operation, known: Known): fc.Arbitrary<string | undefined> {
  if (method === 'GET') return fc.constant(undefined);
  const schema = requestBody?.content['application/json']?.schema;
  const fitting = schema ? fc.integer().map((seed) => generateSync({ ...schema, components }, { seed })) : fc.constant({});
  const broken = fc.tuple(fc.constant(known.body), fc.array(fc.nat(), { maxLength: 4 }), fc.jsonValue()).map(([body, route, value]) => replaceAt(body, route, value));
  const json = fc.oneof(fitting, { weight: 3, arbitrary: fc.constant(known.body) }, broken, fc.jsonValue()).map((value) => JSON.stringify(value));
  return fc.oneof({ weight: 6, arbitrary: json }, oddText(), fc.constant(''), fc.constant('[[[[[[[['), fc.constant('{"tasks":{"__proto__":{"operation":"convert"}}}'), fc.constant(undefined));
}

/** Puts a value in place of one part of another; the numbers choose the way down. */
function replaceAt(value: unknown, [step, ...rest]: readonly number[], replacement: unknown): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const entries = Object.entries(value);
  const index = entries.length === 0 ? 0 : step % entries.length;
  const changed = entries.map(([name, part], at): [string, unknown] => [name, at === index ? replaceAt(part, rest, replacement) : part]);
  return Array.isArray(value) ? changed.map(([, part]) => part) : Object.fromEntries(changed);
}

function oddText(): fc.Arbitrary<string> {
  return fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '0', '-1', '1e1', '0x10', '1.5', 'null', '*', '>', '../..', '%00', "' or 1=1 --", '\u0000'));
}

/** What Node lets into a header. */
function headerText(): fc.Arbitrary<string> {
  return fc.string({ maxLength: 300 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, 'x').trim());
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
