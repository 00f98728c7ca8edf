import { listPairs, type Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { LANE_OF, LANES, type Lane, type ToolName } from '../../../shared/domain/catalogue/tools.ts';
import type { Logger } from '../../../shared/log/log.ts';
import type { ReadyEngine } from '../context.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Engine } from './engine.ts';

/** Versions of the tools that passed their self-test here. */
export type ReadyTools = ReadonlyMap<ToolName, string>;

/** Lets every engine try its tools; one that does not work is named in the log, with what brings it. */
export async function probeTools(engines: readonly Engine[], sandbox: Sandbox, logger: Logger): Promise<ReadyTools> {
  const ready = new Map<ToolName, string>();
  for (const engine of engines) {
    const states = Object.entries(await engine.probe(sandbox)) as [ToolName, NonNullable<Awaited<ReturnType<Engine['probe']>>[ToolName]>][];
    for (const [tool, state] of states) {
      if (state.available) ready.set(tool, state.version);
      else logger.error({ tool, engine: engine.name, reason: state.reason }, 'a tool does not work; its conversions are not offered here');
    }
  }
  logger.info({ tools: Object.fromEntries(ready), sandbox: sandbox.level }, 'tools work');
  return ready;
}

/** Finds the engine for a pair, among those whose tools work here. */
export function engineFinder(engines: readonly Engine[], tools: ReadyTools): (pair: Pair) => ReadyEngine | undefined {
  return (pair) => {
    const engine = engines.find(({ name }) => name === pair.engine);
    const version = tools.get(pair.tools[0]);
    return engine && version !== undefined && pair.tools.every((tool) => tools.has(tool)) ? { name: pair.engine, version, engine } : undefined;
  };
}

/** The queues of which anything can be converted here; the others are left to converters that can. */
export function readyLanes(engineFor: (pair: Pair) => ReadyEngine | undefined): readonly Lane[] {
  const lanes = new Set(listPairs().filter((pair) => engineFor(pair)).map(({ engine }) => LANE_OF[engine]));
  return LANES.filter((lane) => lanes.has(lane));
}
