import { Defect } from '../errors/errors.ts';
import { EVENT_VERSIONS, isEventType, type DomainEvent, type EventVersion } from './registry.ts';

/**
 * Lifts data as it was stored to the latest version, one step at a time, and checks every step. The one place where
 * old versions are known; folds and projections see only the latest (throws `Defect` on what is not registered).
 */
export function upcast(type: string, dataversion: number, data: unknown): DomainEvent {
  if (!isEventType(type)) throw new Defect(`event type ${type} is not registered`);
  // The registry's type and this lift are one fact: the last schema that parsed is the latest of this type.
  return { type, data: lift(type, EVENT_VERSIONS[type], dataversion, data) } as DomainEvent;
}

/** Lifts data of version `dataversion` through the versions that follow it; throws `Defect` when a step does not fit. */
export function lift(type: string, versions: readonly EventVersion[], dataversion: number, data: unknown): unknown {
  if (dataversion > versions.length) throw new Defect(`${type} version ${dataversion} was written by newer code`);
  let current = data;
  for (const [index, version] of versions.entries()) {
    if (index + 1 < dataversion) continue;
    const parsed = version.schema.safeParse(current);
    if (!parsed.success) throw new Defect(`${type} version ${index + 1} does not fit its schema`, { cause: parsed.error });
    current = version.upcast ? version.upcast(parsed.data) : parsed.data;
  }
  return current;
}
