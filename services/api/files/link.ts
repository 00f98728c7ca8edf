import { verifyLink, type FileLink } from '../../../shared/objects/links.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ApiContext } from '../http/context.ts';

/** What the link of this request allows. */
export function linkOf(deps: Pick<Dependencies, 'linkKey' | 'clock'>, ctx: ApiContext): FileLink | 'forged' | 'expired' {
  return verifyLink(deps.linkKey, { method: ctx.method, path: ctx.path, query: ctx.querystring, nowMs: deps.clock.nowMs() });
}
