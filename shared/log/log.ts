import { pino, type Logger, type LoggerOptions } from 'pino';

export type { Logger };

/** Levels of `LOG_LEVEL`, quiet to loud. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/**
 * JSON lines on stdout: info = state changed, warn = retried or degraded, error = a person must look.
 * Callers bind ids (`job_id`, `request_id`, `correlation_id`); bodies, URLs and secrets are never logged.
 */
export function createLogger(service: string, level: (typeof LOG_LEVELS)[number] = 'info'): Logger {
  survivePipeEnd();
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: ['headers', 'authorization', 'secret', 'url', '*.headers', '*.authorization', '*.secret', '*.url'],
  };
  // Not pino's own writer: when the reader of our lines is gone, it tries for ever at exit and the process never ends.
  return pino(options, process.stdout);
}

/** A reader that is gone (its process was killed) costs the lines, not the process that still has to end in order. */
function survivePipeEnd(): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
}
