import { expect } from 'chai';
import { fold, type Decider } from '../../shared/domain/decider.ts';
import { DomainError } from '../../shared/errors/errors.ts';

/** What a test can say about one decision. */
export type Decision<Event> = {
  /** The decision is this event, or `null`: nothing was left to do. */
  readonly thenDecides: (expected: Event | null) => void;
  /** The command is refused with this code, and with these details where they are given. */
  readonly thenRefused: (code: string, details?: Readonly<Record<string, unknown>>) => void;
};

/** Given these events, when this command comes, then … */
export type Given<Command, Event> = (events: readonly Event[]) => { readonly when: (command: Command) => Decision<Event> };

/** Tests of a decider as sentences: `given(events).when(command).thenDecides(event)`. */
export function specify<State, Command, Event>(decider: Decider<State, Command, Event>): Given<Command, Event> {
  return (events) => ({
    when: (command) => {
      const decide = (): Event | null => decider.decide(command, fold(decider, events));
      return {
        thenDecides: (expected) => void expect(decide()).to.deep.equal(expected),
        thenRefused: (code, details) => expectRefusal(decide, code, details),
      };
    },
  });
}

function expectRefusal(decide: () => unknown, code: string, details: Readonly<Record<string, unknown>> | undefined): void {
  let decided: unknown;
  try {
    decided = decide();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).to.equal(code);
    if (details !== undefined) expect(error.details).to.deep.equal(details);
    return;
  }
  expect.fail(`expected the refusal ${code}, got ${JSON.stringify(decided)}`);
}
