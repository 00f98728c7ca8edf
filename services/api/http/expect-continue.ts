import type { ApiContext } from './context.ts';

/** Tells a client that waits for it (`Expect: 100-continue`) to send the body; a request that is refused never gets here. */
export function allowBody(ctx: ApiContext): void {
  if (!ctx.state.awaitsContinue) return;
  ctx.state.awaitsContinue = false;
  ctx.res.writeContinue();
}
