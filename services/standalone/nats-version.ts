import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTool, toolsFolder } from '../../shared/tools/find-tool.ts';

/**
 * The lowest nats-server that has all we rely on. Older ones accept the settings they do not know and ignore them,
 * which would cost events, not errors.
 */
export const NATS_SERVER_FLOOR = '2.14.0';
/** Printing a version takes milliseconds. */
const VERSION_LIMIT_MS = 5_000;

const execute = promisify(execFile);

/** A nats-server on this machine: `version` is undefined when the program did not say one. */
export interface FoundNatsServer {
  readonly path: string;
  readonly version: string | undefined;
  readonly isNewEnough: boolean;
}

/** What was looked at: the one to use, and those that were passed over because they are too old. */
export interface NatsSearch {
  readonly use: FoundNatsServer | undefined;
  readonly refused: readonly FoundNatsServer[];
}

/**
 * Looks for a nats-server that is new enough: the configured one, which is then the only one, else the first on the
 * PATH, else the one in `.tools/`.
 */
export async function searchNatsServer(configured: string | undefined): Promise<NatsSearch> {
  const paths =
    configured !== undefined && configured !== ''
      ? [findTool('nats-server', configured)]
      : [findTool('nats-server'), findTool('nats-server', join(toolsFolder(), 'nats-server'))];
  const refused: FoundNatsServer[] = [];
  for (const path of new Set(paths)) {
    if (path === undefined) continue;
    const found = await inspectNatsServer(path);
    if (found.isNewEnough) return { use: found, refused };
    refused.push(found);
  }
  return { use: undefined, refused };
}

/** Asks the program for its version. */
export async function inspectNatsServer(path: string): Promise<FoundNatsServer> {
  const output = await execute(path, ['--version'], { timeout: VERSION_LIMIT_MS }).then(({ stdout, stderr }) => stdout + stderr, () => '');
  const version = /v?(\d+\.\d+\.\d+)/.exec(output)?.[1];
  return { path, version, isNewEnough: version !== undefined && isAtLeast(version, NATS_SERVER_FLOOR) };
}

/** One sentence on a program that cannot be used. */
export function describeRefusal(found: FoundNatsServer): string {
  const version = found.version === undefined ? 'does not say its version' : `is version ${found.version}`;
  return `${found.path} ${version}; ${NATS_SERVER_FLOOR} or later is needed, because older servers silently ignore settings that keep events safe`;
}

function isAtLeast(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split('.').map(Number));
  for (const [index, wanted] of (b ?? []).entries()) {
    const part = a?.[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
