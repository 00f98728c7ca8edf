/** Nothing may be loaded or framed by an answer of the API: it is data. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** A year: browsers that have been here over TLS do not come without it. */
const TLS_ONLY = 'max-age=31536000';

/**
 * Headers of every answer: types are not guessed, nothing is stored on the way, nothing is run or framed, and where
 * `publicUrl` is https, nobody comes without TLS.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
    ...(new URL(publicUrl).protocol === 'https:' ? { 'Strict-Transport-Security': TLS_ONLY } : {}),
  };
}
