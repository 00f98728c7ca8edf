import { CodedError, TransientError } from '../../errors/errors.ts';

/** Code of a failed system call (`ENOENT`, `ENOSPC`, …); undefined for every other error. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Runs file operations. A failed system call that was not handled, such as a full or read-only disk (`ENOSPC`,
 * `EROFS`, `EIO`), becomes `TransientError` (`storage`): an operator makes room, then the same works.
 */
export async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof CodedError ? undefined : systemCode(error);
    if (code === undefined) throw error;
    throw new TransientError('storage', `the folder of stored files answered ${code}`, { cause: error });
  }
}

/** Answers undefined instead of throwing when the system call failed with one of `codes`. */
export async function unless<Result>(codes: readonly string[], work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
