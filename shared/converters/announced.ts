import { SILENT_MS_MAX, type Announcement } from './announcement.ts';

/** What one converter said last, and when the server stored it, in ms since 1970. */
type Said = { readonly tools: ReadonlySet<string>; readonly atMs: number };

/**
 * Which converters count. Time is measured by the announcements themselves, each against the newest: a converter is gone
 * when others went on without it, and while none is there nothing changes, because their jobs wait for them.
 */
export class Announced {
  readonly #said = new Map<string, Said>();
  #newestMs = 0;

  /** Takes what a converter says; `atMs` is the server's time of it, so that clocks of converters do not matter. */
  hear(converter: string, { tools }: Announcement, atMs: number): void {
    this.#said.set(converter, { tools: new Set(Object.keys(tools)), atMs });
    this.#newestMs = Math.max(this.#newestMs, atMs);
    for (const [name, said] of this.#said) if (said.atMs < this.#newestMs - SILENT_MS_MAX) this.#said.delete(name);
  }

  /** An operator took it out of the bucket. */
  forget(converter: string): void {
    this.#said.delete(converter);
  }

  /** The different sets of tools that are there, in a fixed order; none when nothing was ever announced. */
  toolSets(): readonly (readonly string[])[] {
    const sets = new Map([...this.#said.values()].map(({ tools }) => [...tools].toSorted()).map((tools) => [tools.join(' '), tools]));
    return [...sets.keys()].toSorted().map((key) => sets.get(key) ?? []);
  }
}
