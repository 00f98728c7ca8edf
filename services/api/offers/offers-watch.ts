import { setTimeout as delay } from 'node:timers/promises';
import { Kvm, type KV, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { announcement, ENGINES_BUCKET } from '../../../shared/converters/announcement.ts';
import { Announced } from '../../../shared/converters/announced.ts';
import { listPairs, type Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Logger } from '../../../shared/log/log.ts';
import { parseJson } from '../../../shared/json/parse-json.ts';

/** Wait before the bucket is watched anew after the server could not be asked, in ms. */
const WATCH_AGAIN_MS = 1_000;

/** What can be asked of the offers. */
export type Offers = {
  /** True once any converter has ever said what it can do. */
  readonly isKnown: () => boolean;
  /** The pairs that some converter converts; the same array until that changes. Throws `TransientError('converter')` while nothing is known. */
  readonly pairs: () => readonly Pair[];
  /** Whether some converter converts the pair. Throws as `pairs` does. */
  readonly includes: (pair: Pair) => boolean;
};

/**
 * Knows which conversions are offered: those for which one converter has all the tools. Converters that are away for a
 * while refuse no job, theirs wait; see `Announced`.
 */
export class OffersWatch implements Offers {
  readonly #announced = new Announced();
  readonly #bucket: KV;
  readonly #logger: Logger;
  #known: { readonly tools: string; readonly pairs: readonly Pair[]; readonly set: ReadonlySet<Pair> } | undefined;
  #stopped = false;
  #entries: { readonly stop: () => void } | undefined;

  private constructor(bucket: KV, logger: Logger) {
    this.#bucket = bucket;
    this.#logger = logger;
  }

  /** Begins to watch the bucket, which must exist, until `stop`. */
  static async start(nc: NatsConnection, logger: Logger): Promise<OffersWatch> {
    const watch = new OffersWatch(await new Kvm(nc).open(ENGINES_BUCKET), logger);
    void watch.#run();
    return watch;
  }

  isKnown(): boolean {
    return this.#known !== undefined;
  }

  pairs(): readonly Pair[] {
    return this.#require().pairs;
  }

  includes(pair: Pair): boolean {
    return this.#require().set.has(pair);
  }

  stop(): void {
    this.#stopped = true;
    this.#entries?.stop();
  }

  #require(): { readonly pairs: readonly Pair[]; readonly set: ReadonlySet<Pair> } {
    if (!this.#known) throw new TransientError('converter', 'no converter has said yet what it can do');
    return this.#known;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        const entries = await this.#bucket.watch();
        this.#entries = entries;
        if (this.#stopped) entries.stop();
        for await (const entry of entries) this.#hear(entry);
      } catch (error) {
        this.#logger.warn({ err: error }, 'cannot watch what converters can do; trying again');
      }
      if (!this.#stopped) await delay(WATCH_AGAIN_MS);
    }
  }

  #hear(entry: KvWatchEntry): void {
    const said = entry.operation === 'PUT' ? announcement.safeParse(parseJson(entry.string())) : undefined;
    if (said?.success === true) this.#announced.hear(entry.key, said.data, entry.created.getTime());
    else this.#announced.forget(entry.key);
    // What was in the bucket comes one after the other; the list is made when the last of it is there.
    if (entry.isUpdate) this.#renew();
  }

  #renew(): void {
    const sets = this.#announced.toolSets();
    const tools = JSON.stringify(sets);
    // Taken out by an operator, the last announcement goes on counting as that of a converter that is away does.
    if (sets.length === 0 || tools === this.#known?.tools) return;
    const pairs = listPairs().filter((pair) => sets.some((set) => pair.tools.every((tool) => set.includes(tool))));
    this.#known = { tools, pairs, set: new Set(pairs) };
    this.#logger.info({ tools: sets, pairs: pairs.length }, 'conversions on offer');
  }
}
