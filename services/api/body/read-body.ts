import { koaBody } from 'koa-body';
import { isPlainJson } from './content-type.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from '../http/context.ts';
import { allowBody } from '../http/expect-continue.ts';
import { findBadText } from './find-bad-text.ts';
import { nestsDeeperThan } from './scan-depth.ts';

/** Largest JSON body (§8, D98). */
const JSON_BODY_BYTES_MAX = 2 ** 20;
/** Levels of objects and arrays in a body; a job needs three. */
const JSON_LEVELS_MAX = 32;

/** One character a byte: exactly the bytes that came. */
const BYTES_AS_TEXT = 'binary';
/** Status of the error with which koa-body refuses a body over its limit. */
const PAYLOAD_TOO_LARGE = 413;

/** A JSON object as a client sent it: own properties only, of any name. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the JSON object in the body. Size first, then type, then text (D1, D52, D76). Throws `ApiError` with 413 for
 * more than `JSON_BODY_BYTES_MAX`, else 400.
 */
export async function readJsonObject(ctx: ApiContext): Promise<JsonObject> {
  refuseDeclaredSize(ctx);
  if (!isPlainJson(ctx.headers)) {
    // Also of another type it is counted first: the size comes before the type, whether or not it was declared.
    await discardBody(ctx);
    throw invalid('must be JSON in UTF-8, sent with Content-Type: application/json and no Content-Encoding');
  }
  const bytes = await readBytes(ctx);
  if (nestsDeeperThan(bytes, JSON_LEVELS_MAX)) throw invalid(`must not nest deeper than ${JSON_LEVELS_MAX} levels`);
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('must be a JSON object');
  const bad = findBadText(value);
  if (bad) throw ApiError.issues([bad]);
  return value as JsonObject;
}

/** Takes in a body that means nothing here, within the same limit, so that the connection can be used again (D52). */
export async function discardBody(ctx: ApiContext): Promise<void> {
  refuseDeclaredSize(ctx);
  if (!ctx.req.complete) await skipBytes(ctx);
}

function refuseDeclaredSize(ctx: ApiContext): void {
  if (Number(ctx.headers['content-length'] ?? 0) > JSON_BODY_BYTES_MAX) throw tooLarge();
}

/** Takes JSON as text, because what it may hold is decided before it is parsed, and byte by byte, so that none is lost. */
const readText = koaBody({ json: false, urlencoded: false, text: true, textTypes: ['application/json'], textLimit: JSON_BODY_BYTES_MAX, encoding: BYTES_AS_TEXT });

async function readBytes(ctx: ApiContext): Promise<Buffer> {
  return received(ctx, async () => {
    await readText(ctx, () => Promise.resolve());
    const { body } = ctx.request;
    return Buffer.from(typeof body === 'string' ? body : '', BYTES_AS_TEXT);
  });
}

/** Counts while it throws away: a chunked body has no declared length. */
async function skipBytes(ctx: ApiContext): Promise<void> {
  await received(ctx, async () => {
    let size = 0;
    // Not destroyed at an early end: the client has to be answered on the same connection.
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length;
      if (size > JSON_BODY_BYTES_MAX) throw tooLarge();
    }
  });
}

/** Asks for the body, and says what came instead of it; how long it may take is bounded for all requests alike. */
async function received<T>(ctx: ApiContext, read: () => Promise<T>): Promise<T> {
  allowBody(ctx);
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof Error && 'status' in error && error.status === PAYLOAD_TOO_LARGE) throw tooLarge();
    throw ApiError.of(400, 'validation_failed', 'The body did not arrive completely.', { reason: 'incomplete_body' });
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid('is not valid JSON in UTF-8');
  }
}

function invalid(message: string): ApiError {
  return ApiError.issues([{ path: 'body', message }]);
}

function tooLarge(): ApiError {
  return ApiError.of(413, 'validation_failed', `The body is larger than ${JSON_BODY_BYTES_MAX} bytes.`, { reason: 'body_too_large', max_bytes: JSON_BODY_BYTES_MAX });
}
