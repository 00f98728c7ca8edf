import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, envelopeOf } from '../errors/api-error.ts';

/** How long a connection stays for a client to take the refusal of bad HTTP, in ms; who never closes it would hold it for ever. */
const LINGER_MS_MAX = 1_000;

/** What cannot be read as HTTP has no request to answer; the envelope and an id of its own go straight onto the socket (D51, D74). */
export function answerBadHttp(error: ApiError, socket: Socket, headers: Readonly<Record<string, string>>): void {
  const requestId = randomUUID();
  const body = JSON.stringify(envelopeOf(error, requestId));
  const all = {
    ...headers,
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cutOff = setTimeout(() => socket.destroy(), LINGER_MS_MAX);
  socket.once('close', () => clearTimeout(cutOff));
}

/** A proxy is asked to CONNECT; this is none, and no address of it takes that (RFC 9110 §9.3.6). */
export function noProxy(): ApiError {
  return ApiError.of(405, 'method_not_allowed', 'This service is not a proxy.', {}, { Allow: '' });
}

/** What a client is told of an error of the parser. `headBytesMax` is the limit it may have met. */
export function badHttp(errorCode: string | undefined, headBytesMax: number): ApiError {
  if (errorCode === 'HPE_HEADER_OVERFLOW') return ApiError.of(431, 'validation_failed', `The headers are larger than ${headBytesMax} bytes.`, { reason: 'headers_too_large', max_bytes: headBytesMax });
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT') return ApiError.of(408, 'validation_failed', 'The request did not arrive in time.', { reason: 'request_timeout' });
  return ApiError.of(400, 'validation_failed', 'This is not a valid HTTP request.', { reason: 'bad_http' });
}
