import { TransientError } from '../../../shared/errors/errors.ts';

/** Throws when some process has not applied a change yet; the change itself is made and cannot be lost (D62). */
export function requireApplied(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new TransientError('nats', `the change is stored, but these processes have not confirmed it yet and may still act on the old state: ${missing.join(', ')}. Restart them if it matters now`);
}
