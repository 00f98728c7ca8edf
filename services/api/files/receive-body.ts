import type { ApiContext } from '../http/context.ts';
import { allowBody } from '../http/expect-continue.ts';

/** How long an upload may stand still, in ms, before it is given up. */
const IDLE_MS_MAX = 60_000;

/** What `Content-Length` says; undefined for a chunked body. */
export function declaredLength(ctx: ApiContext): number | undefined {
  const length = ctx.headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Takes in the body of an upload, for which a client that waits to be asked is asked only when the body is `welcome`. */
export async function receiveBody<Stored>(ctx: ApiContext, welcome: boolean, store: () => Promise<Stored>): Promise<Stored> {
  if (welcome) allowBody(ctx);
  ctx.req.setTimeout(IDLE_MS_MAX, () => ctx.req.destroy());
  try {
    return await store();
  } finally {
    // The connection goes on to other requests, which may stand still for longer.
    ctx.req.setTimeout(0);
  }
}
