import { setTimeout as delay } from 'node:timers/promises';
import { fold, type Decider } from '../domain/decider.ts';
import { ConflictError, Defect, DomainError } from '../errors/errors.ts';
import type { AggregateRef, Origin, StoredEvent } from '../events/envelope.ts';
import type { DomainEvent } from '../events/registry.ts';
import { afterLast, type EventStore } from './event-store.ts';

/** How often a command is decided anew when somebody else appended first. */
const DECISIONS_MAX = 4;
/** Upper end of the random wait before deciding anew, in ms; keeps racing writers apart. */
const RETRY_JITTER_MS_MAX = 20;

/** The state a command left behind. `appended` is absent when nothing was left to do. */
export type Handled<State> = { readonly state: State; readonly appended?: StoredEvent; readonly events: readonly StoredEvent[] };

/** Loads an aggregate and folds it; the events come along for whoever needs versions and positions. */
export async function loadState<State, Command, Event extends DomainEvent>(store: EventStore, decider: Decider<State, Command, Event>, aggregate: AggregateRef): Promise<Handled<State>> {
  const events = await store.load(aggregate);
  return { state: foldStored(decider, events), events };
}

/**
 * The four steps of every change: load, decide, append, answer. When somebody appended in between, loads and decides
 * again, a bounded number of times. Throws what `decide` throws, `ConflictError` at the bound, `TransientError`.
 */
export async function handle<State, Command, Event extends DomainEvent>(
  store: EventStore,
  decider: Decider<State, Command, Event>,
  aggregate: AggregateRef,
  command: Command,
  origin: Origin,
): Promise<Handled<State>> {
  for (let decision = 1; ; decision += 1) {
    const { state, events } = await loadState(store, decider, aggregate);
    const mine = events.find((stored) => stored.envelope.id === origin.commandId);
    if (mine) return { state, appended: mine, events };
    const event = decider.decide(command, state);
    if (event === null) return { state, events };
    try {
      const appended = await store.append(aggregate, afterLast(events), event, origin);
      return { state: decider.evolve(state, event), appended, events: [...events, appended] };
    } catch (error) {
      if (!(error instanceof ConflictError) || decision === DECISIONS_MAX) throw error;
      await delay(Math.random() * RETRY_JITTER_MS_MAX);
    }
  }
}

/** The same, but undefined when `decide` refuses the command: whoever only reacts to events finds that others were faster. */
export async function handleUnlessRefused<State, Command, Event extends DomainEvent>(
  store: EventStore,
  decider: Decider<State, Command, Event>,
  aggregate: AggregateRef,
  command: Command,
  origin: Origin,
): Promise<Handled<State> | undefined> {
  try {
    return await handle(store, decider, aggregate, command, origin);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/** Folds stored events of one aggregate; throws `Defect` when they are not versions 1, 2, 3, … in this order. */
function foldStored<State, Command, Event extends DomainEvent>(decider: Decider<State, Command, Event>, events: readonly StoredEvent[]): State {
  for (const [index, stored] of events.entries()) {
    if (stored.version !== index + 1) throw new Defect(`version ${index + 1} of an aggregate is missing`);
  }
  // The store hands out events of the aggregate it was asked for, and `decode` checked their kind.
  return fold(decider, events.map((stored) => stored.event as Event));
}
