/** How a step of the set-up ended. `missing` needs a person, `degraded` works with less. */
export interface StepResult {
  readonly outcome: 'ready' | 'degraded' | 'missing';
  /** A sentence for the person who runs the set-up: what is there, or what to do. */
  readonly sentence: string;
}

/** Says what is going on while a step runs. */
export type Say = (line: string) => void;

/** One way to get a program: a value when it worked, else why it did not, as half a sentence. */
export type Attempt<T> = { readonly value: T } | { readonly reason: string };

/** The first words of an error, for a line of output: no stack, no page of text. */
export function briefly(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const text = error instanceof Error ? error.message + cause : String(error);
  return text.trim().split('\n').slice(0, 3).join(' / ');
}
