import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';

/** An answer as it is checked. */
export type CheckedAnswer = { readonly method: string; readonly path: string; readonly status: number; readonly headers: Headers; readonly body: unknown };

const responseSchema = z.object({
  headers: z.record(z.string(), z.object({ required: z.boolean().optional(), schema: z.object({ type: z.string() }).optional() })).optional(),
  content: z.record(z.string(), z.object({ schema: z.unknown() })).optional(),
});
const documentSchema = z.object({
  openapi: z.literal('3.1.0'),
  servers: z.array(z.object({ url: z.string() })).min(1),
  paths: z.record(z.string(), z.record(z.string(), z.object({ responses: z.record(z.string(), responseSchema) }).loose())),
});

/** Checks answers against a served OpenAPI document; throws with what does not agree. */
export interface OpenApiCheck {
  /** `METHOD /path status` of every answer that was checked. */
  readonly seen: ReadonlySet<string>;
  check(answer: CheckedAnswer): void;
}

const shared = new Map<string, OpenApiCheck>();

/** One check for all clients of a service; undefined while it cannot be asked for its document. */
export async function sharedCheck(baseUrl: string): Promise<OpenApiCheck | undefined> {
  const known = shared.get(baseUrl) ?? (await openApiCheck(baseUrl).catch(() => undefined));
  if (known) shared.set(baseUrl, known);
  return known;
}

/** Reads the document that the service itself serves. */
export async function openApiCheck(baseUrl: string): Promise<OpenApiCheck> {
  const served: unknown = await (await fetch(`${baseUrl}/v1/openapi.json`)).json();
  const document = documentSchema.parse(served);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(served as object, 'openapi');
  const seen = new Set<string>();
  return {
    seen,
    check(answer) {
      const { method, status } = answer;
      const template = findPath(document.paths, answer.path);
      const operation = template === undefined ? undefined : document.paths[template]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
      const response = operation?.responses[String(status)];
      const name = `${method} ${answer.path} ${status}`;
      // Where no operation is meant there is only the envelope to check.
      if (operation && !response) throw new Error(`${name} is not in the OpenAPI document`);
      if (operation) seen.add(`${method} ${template} ${status}`);
      if (!answer.headers.has('x-request-id')) throw new Error(`${name} has no X-Request-Id`);
      for (const [header, { required, schema }] of Object.entries(response?.headers ?? {})) {
        if (required === true && !answer.headers.has(header)) throw new Error(`${name} lacks the header ${header}`);
        const value = answer.headers.get(header);
        if (schema?.type === 'integer' && value !== null && !/^\d+$/.test(value)) throw new Error(`${name} has no whole number in ${header}, but ${value}`);
      }
      if (method === 'HEAD') return;
      const pointer = response ? pointerOf(template ?? '', method, status, response, answer) : '#/components/schemas/Error';
      if (pointer !== undefined) requireValid(ajv.getSchema(`openapi${pointer}`) ?? ajv.compile({ $ref: `openapi${pointer}` }), answer.body, name);
    },
  };
}

function pointerOf(template: string, method: string, status: number, response: z.infer<typeof responseSchema>, answer: CheckedAnswer): string | undefined {
  if (!response.content) {
    if (answer.body !== undefined && answer.body !== '') throw new Error(`${method} ${template} ${status} has a body that is not in the document`);
    return undefined;
  }
  if (!response.content['application/json']) return undefined;
  const type = answer.headers.get('content-type') ?? '';
  if (!type.startsWith('application/json')) throw new Error(`${method} ${template} ${status} is ${type}, not JSON`);
  const escaped = template.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
  return `#/paths/${escaped}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`;
}

function requireValid(validate: ValidateFunction, body: unknown, name: string): void {
  if (validate(body)) return;
  throw new Error(`${name} does not fit its schema: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`);
}

function findPath(paths: Readonly<Record<string, unknown>>, path: string): string | undefined {
  const plain = path.replace(/\?.*$/, '');
  const relative = plain.startsWith('/v1/') ? plain.slice('/v1'.length) : plain;
  return Object.keys(paths).find((template) => {
    const [wanted, given] = [template.split('/'), relative.split('/')];
    return wanted.length === given.length && wanted.every((part, index) => part.startsWith('{') || part === given[index]);
  });
}
