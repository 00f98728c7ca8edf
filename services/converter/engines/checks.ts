import { chmod, lstat } from 'node:fs/promises';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../../shared/objects/sniff/heads.ts';
import { EngineFailure } from './failure.ts';
import { readHead } from './head.ts';
import { checkInside, type KnownOfSource } from './source/inside.ts';

/**
 * Refuses a source that no engine should ever see, before any process is started for it. An engine that opens protected
 * files says whether it was given a password.
 * @throws EngineFailure `empty_file`, `not_what_it_claims`, or what `checkInside` throws.
 */
export async function checkSource(path: string, input: FormatName, known: KnownOfSource = { hasPassword: false }): Promise<void> {
  const head = await readHead(path, SNIFF_BYTES);
  if (head.length === 0) throw new EngineFailure('empty_file');
  if (!matchesDeclared(head, input)) throw new EngineFailure('not_what_it_claims');
  await checkInside(path, head, input, known);
  // The job's user must be able to read it; nobody else can enter the folder.
  await chmod(path, 0o644);
}

/** Formats that are nothing but text, so that a source without any becomes an empty file. */
const TEXTS: ReadonlySet<FormatName> = new Set(['txt', 'csv', 'md']);

/**
 * Accepts what a converter left behind only when it is what was promised; an exit code says nothing. A link is refused
 * because it would make us publish a file that only we can read.
 * @returns its size in bytes
 * @throws EngineFailure `engine_crashed`, and `no_text` for an empty text.
 */
export async function checkResult(path: string, output: FormatName): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.nlink !== 1) throw new EngineFailure('engine_crashed', 'it left no proper result');
  if (found.size === 0) throw new EngineFailure(TEXTS.has(output) ? 'no_text' : 'engine_crashed', 'it left an empty result');
  if (!matchesDeclared(await readHead(path, SNIFF_BYTES), output)) throw new EngineFailure('engine_crashed', 'the result has another format');
  return found.size;
}
