import { pino, type Logger } from 'pino';

export type { Logger };

/** Levels of `LOG_LEVEL`, quiet to loud. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/**
 * JSON lines on stdout: info = state changed, warn = retried or degraded, error = a person must look.
 * Callers bind ids (`job_id`, `request_id`, `correlation_id`); bodies, URLs and secrets are never logged.
 */
export function createLogger(service: string, level: (typeof LOG_LEVELS)[number] = 'info'): Logger {
  return pino({
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: ['headers', 'authorization', 'secret', 'url', '*.headers', '*.authorization', '*.secret', '*.url'],
  });
}
