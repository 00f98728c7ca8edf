/**
 * A pure decision over the folded state of one aggregate. `decide` returns the event that follows from the command, or
 * `null` when nothing is left to do; it throws `DomainError` for what is refused. One decision is at most one event.
 */
export type Decider<State, Command, Event> = {
  readonly initialState: State;
  readonly decide: (command: Command, state: State) => Event | null;
  readonly evolve: (state: State, event: Event) => State;
};

/** Folds events, oldest first, into the state after them. */
export function fold<State, Command, Event>(decider: Decider<State, Command, Event>, events: Iterable<Event>): State {
  let state = decider.initialState;
  for (const event of events) state = decider.evolve(state, event);
  return state;
}
