import { spawn } from 'node:child_process';
import { serviceNews, type ServiceNews } from '../../shared/lifecycle/tell-parent.ts';
import { copyWithPrefix } from './prefixed-lines.ts';
import { runOf, type ServerRun } from './server-run.ts';

/** Longest name of a service, so that the lines of all begin in one column. */
const PREFIX_WIDTH = 'projections'.length;

/** One of our own services as a child process. */
export interface ServiceSpec {
  readonly name: string;
  /** Path of its compiled main file. */
  readonly entry: string;
  /** Everything it finds in its environment; nothing of ours is passed on unnamed. */
  readonly environment: Readonly<Record<string, string>>;
  /** Time in ms to finish or hand back its work after SIGTERM; then it is killed. */
  readonly stopGraceMs: number;
}

/** A running service. */
export interface ServiceRun extends ServerRun {
  /** True once the service said that it is ready. */
  isReady(): boolean;
  /** True while it says that it does nothing until an operator has decided. */
  isHeld(): boolean;
}

/**
 * Starts a service. Its lines come out with its name in front. The channel between us closes when we die, however that
 * happens; the service sees it and finishes in its own order.
 */
export function startService(spec: ServiceSpec): ServiceRun {
  const child = spawn(process.execPath, ['--enable-source-maps', spec.entry], {
    env: { ...spec.environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A group of its own: a Ctrl-C in the terminal reaches only us, and we stop the services in order.
    detached: true,
  });
  const prefix = `${spec.name.padEnd(PREFIX_WIDTH)} | `;
  let said: ServiceNews['type'] | undefined;
  child.on('message', (message) => (said = serviceNews.safeParse(message).data?.type ?? said));
  const run = runOf(child, 'SIGTERM', spec.stopGraceMs);
  if (child.stdout !== null) void copyWithPrefix(child.stdout, process.stdout, prefix);
  if (child.stderr !== null) void copyWithPrefix(child.stderr, process.stderr, prefix);
  return { ...run, isReady: () => said === 'ready', isHeld: () => said === 'held' };
}
