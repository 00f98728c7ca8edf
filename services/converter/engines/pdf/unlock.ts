import { EngineFailure } from '../failure.ts';
import { runTool } from './tool.ts';

/** What `qpdf --requires-password` ends with. */
const PASSWORD_IS_MISSING = 0;
const IS_OPEN = 3;

/** qpdf ends with this when it could repair what it complains about. */
const WITH_WARNINGS = 3;

/** Where the decrypted copy lies in the job's folder. */
const DECRYPTED = 'open.pdf';

/** A document that can be read without a password. */
export interface Unlocked {
  readonly path: string;
  /** True when a password was given and is right: then nothing is forbidden to whoever asks. */
  readonly byPassword: boolean;
}

/**
 * Makes a decrypted copy of a document that needs a password; qpdf reads passwords from its stdin, poppler does not.
 * @throws EngineFailure `password_required`, `wrong_password` or `damaged`.
 */
export async function unlock(path: string, password: string | undefined): Promise<Unlocked> {
  const state = await askForPassword(path, '');
  if (state !== PASSWORD_IS_MISSING && state !== IS_OPEN) return { path, byPassword: false };
  if (state === IS_OPEN && (password === undefined || (await askForPassword(path, password)) !== IS_OPEN)) return { path, byPassword: false };
  if (password === undefined) throw new EngineFailure('password_required');
  if (state === PASSWORD_IS_MISSING && (await askForPassword(path, password)) === PASSWORD_IS_MISSING) throw new EngineFailure('wrong_password');
  const { code } = await runTool('qpdf', ['--password-file=-', '--decrypt', path, DECRYPTED], password);
  if (code !== 0 && code !== WITH_WARNINGS) throw new EngineFailure('damaged');
  return { path: DECRYPTED, byPassword: true };
}

async function askForPassword(path: string, password: string): Promise<number> {
  const { code } = await runTool('qpdf', ['--password-file=-', '--requires-password', path], `${password}\n`);
  return code;
}
