import { join } from 'node:path';
import { EXIT_BAD_CONFIGURATION } from '../../shared/config/load.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { keepRunning, type Kept } from './keep-running.ts';
import { startService, type ServiceRun } from './service-process.ts';

/** Where the compiled main file of a service is, and how long in ms it may take to finish its work. */
export interface ServicePlan {
  readonly name: string;
  readonly entry: string;
  readonly stopGraceMs: number;
}

/**
 * The services in the order in which they stop: first who takes work, then who does it, at last who only follows.
 * Together with the servers below them (4 s) they have to end within 20 s; the converter gets most of it, to finish
 * what it converts or to hand it back.
 */
export const SERVICES: readonly ServicePlan[] = [
  { name: 'api', entry: compiled('services/api/main.js'), stopGraceMs: 2_000 },
  { name: 'converter', entry: compiled('services/converter/main.js'), stopGraceMs: 5_000 },
  { name: 'importer', entry: compiled('services/importer/main.js'), stopGraceMs: 2_000 },
  { name: 'notifier', entry: compiled('services/notifier/main.js'), stopGraceMs: 1_500 },
  { name: 'ledger', entry: compiled('services/ledger/main.js'), stopGraceMs: 4_000 },
  { name: 'projections', entry: compiled('projections/main.js'), stopGraceMs: 1_500 },
];

function compiled(path: string): string {
  return join(findProjectRoot(), 'dist', path);
}

/** What all services have in common. */
export interface ServiceCircumstances {
  readonly environment: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
  /** Called when a service refuses its configuration, which a restart does not mend. */
  readonly onBadConfiguration: (service: string) => void;
}

/** Starts one service and keeps it running. */
export async function keepService(plan: ServicePlan, circumstances: ServiceCircumstances): Promise<Kept<ServiceRun>> {
  const spec = { ...plan, environment: circumstances.environment };
  return keepRunning({
    name: plan.name,
    launch: async () => startService(spec),
    say: circumstances.say,
    isHopeless: (end) => end.code === EXIT_BAD_CONFIGURATION,
    onHopeless: () => circumstances.onBadConfiguration(plan.name),
  });
}
