import type { ApiContext } from './context.ts';

/** How long the rest of a refused body is still taken in, in ms; a client that sends longer finds the connection closed. */
const LINGER_MS_MAX = 5_000;

/**
 * Sends an answer while the client is still sending its body. Closing at once would reset the connection under what is
 * on its way, and the client would see a broken pipe instead of the answer. So the whole answer goes out now, the rest
 * of the body is thrown away for a bounded time, and only then does the connection end.
 */
export function answerEarly(ctx: ApiContext, body: object): void {
  const { req: request, res: response } = ctx;
  const text = JSON.stringify(body);
  ctx.respond = false;
  ctx.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close' });
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS_MAX);
  response.write(text);
  request.once('end', finish).once('close', finish).once('error', finish);
  request.resume();
  if (request.destroyed) finish();
}
