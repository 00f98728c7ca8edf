import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ask, type WayOut } from './ask.ts';
import { checkHead, readBody } from './body.ts';
import { EgressAbortedError, EgressError } from './egress-error.ts';
import type { Header } from './header-rules.ts';
import { REDIRECTS_MAX, type EgressLimits } from './limits.ts';
import { checkRedirect, checkUrl } from './url-rule.ts';

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const OK = 200;
/** With them the service presents itself to the hosts it fetches from. */
const OWN_HEADERS: readonly Header[] = [['User-Agent', 'Service-Import/1'], ['Accept', '*/*'], ['Accept-Encoding', 'identity']];

/** What the way out of this process is like, for fetches. */
export type EgressOptions = WayOut & { readonly limits: EgressLimits };

/** What to fetch, up to how many bytes, and for how long somebody wants it. */
export type FetchRequest = { readonly url: string; readonly headers: readonly Header[]; readonly maxBytes: number; readonly signal: AbortSignal };

/**
 * Fetches what lies at a URL that a client named, and hands its body to `take` while it comes; answers what `take`
 * answers (§8 URL import rules). Each hop is checked, looked up, connected and compared anew; the client's headers go
 * no further than the first change of origin. Whatever happens, nothing of it is left when this returns. Throws
 * `EgressError`, `AnswerTooLargeError`, `EgressAbortedError`, and what `take` throws.
 */
export async function fetchUrl<Taken>(options: EgressOptions, request: FetchRequest, take: (body: Readable) => Promise<Taken>): Promise<Taken> {
  const over = new AbortController();
  let failure: Error | undefined;
  const end = (error: Error): void => {
    failure ??= error;
    over.abort();
  };
  const timer = setTimeout(() => end(new EgressError('timeout')), options.limits.totalMs);
  const giveUp = (): void => end(new EgressAbortedError());
  request.signal.addEventListener('abort', giveUp);
  if (request.signal.aborted) giveUp();
  try {
    const answer = await followRedirects(options, request, over.signal);
    over.signal.addEventListener('abort', () => answer.destroy());
    const body = Readable.from(readBody(answer, { ...options.limits, maxBytes: request.maxBytes }, () => failure), { objectMode: false });
    try {
      if (over.signal.aborted) throw new EgressAbortedError();
      checkHead(answer, request.maxBytes);
      return await take(body);
    } finally {
      answer.destroy();
      body.destroy();
    }
  } catch (error) {
    // Every step only knows that it was given up; why, is known here.
    throw error instanceof EgressAbortedError ? (failure ?? error) : error;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', giveUp);
  }
}

/** The first answer that is none; it has status 200. */
async function followRedirects(options: EgressOptions, request: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  let to = checkUrl(request.url, options.isAllowed);
  let headers = request.headers;
  const { connectMs, headMs } = options.limits;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(options, to, { message: { headers: withOwn(headers) }, connectMs, headMs, signal });
    const status = answer.statusCode ?? 0;
    if (status === OK) return answer;
    answer.destroy();
    const { location } = answer.headers;
    if (!REDIRECT_STATUSES.has(status) || location === undefined) throw new EgressError('http_status');
    if (redirects === REDIRECTS_MAX) throw new EgressError('too_many_redirects');
    const next = checkRedirect(location, to.url, options.isAllowed);
    // Dropped for good: a host that is led away and back could otherwise be made to show them to a third.
    if (next.url.origin !== to.url.origin) headers = [];
    to = next;
  }
}

/** A header of the client takes the place of ours; those that matter it cannot have. No cookie, no encoding. */
function withOwn(headers: readonly Header[]): readonly Header[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...OWN_HEADERS.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}
