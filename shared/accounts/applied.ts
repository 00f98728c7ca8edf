import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { streamExtent } from '../consume/read-stream.ts';
import type { Logger } from '../log/log.ts';
import { STREAM_OF } from '../store/subjects.ts';
import type { AccountsCopy } from './accounts-copy.ts';

const SUBJECT = 'accounts.applied';
const LEASES_BUCKET = 'LEASES';
/** The bucket forgets an entry that is not renewed after this time, in ms. */
export const LEASE_TTL_MS = 10_000;
/** A process takes itself for gone so long before the bucket does, in ms; clocks run at nearly the same speed. */
const LEASE_MARGIN_MS = 1_000;
/** How often a process says that it lives, in ms: several times before it would be forgotten. */
const ANNOUNCE_MS = 2_000;
/** How long a process may take to apply a change before it answers that it has not, in ms. */
const APPLY_MS_MAX = 4_000;
/** How long an operator's command waits for all answers, in ms. */
const ANSWERS_MS_MAX = 5_000;

const request = z.object({ position: z.int().min(0) });
const reply = z.object({ instance: z.string(), applied: z.boolean() });

/** A process that takes part in "at once". */
export type AppliedAnswers = {
  /**
   * True while operators still count on this process, and its copy holds everything that was in the log when it last
   * said that it lives. A process that is cut off stops to be current before the others stop to wait for it.
   */
  readonly isCurrent: () => boolean;
  readonly stop: () => Promise<void>;
};

/**
 * Makes a process that knows keys by its local copy take part in "at once" (D62): it announces itself, and answers when
 * it has applied a change.
 */
export async function answerApplied(nc: NatsConnection, accounts: AccountsCopy, instance: string, logger: Logger): Promise<AppliedAnswers> {
  const leases = await new Kvm(nc).open(LEASES_BUCKET);
  const entry = `accounts.${instance}`;
  let currentUntilMs = 0;
  const announce = async (): Promise<void> => {
    const beganMs = performance.now();
    try {
      await leases.put(entry, '');
      const { last } = await streamExtent(nc, STREAM_OF.account);
      if (await accounts.reader.waitFor(last, APPLY_MS_MAX)) currentUntilMs = beganMs + LEASE_TTL_MS - LEASE_MARGIN_MS;
    } catch (error) {
      logger.warn({ err: error }, 'cannot announce this process');
    }
  };
  await announce();
  const timer = setInterval(() => void announce(), ANNOUNCE_MS);
  const subscription = nc.subscribe(SUBJECT, {
    callback: (error, message) => {
      const parsed = error ? undefined : request.safeParse(message.json());
      if (!parsed?.success) return;
      void accounts.reader.waitFor(parsed.data.position, APPLY_MS_MAX).then((applied) => message.respond(JSON.stringify({ instance, applied })));
    },
  });
  return {
    isCurrent: () => performance.now() < currentUntilMs,
    async stop() {
      clearInterval(timer);
      subscription.unsubscribe();
      await leases.delete(entry).catch(() => undefined);
    },
  };
}

/**
 * Waits until every process that announced itself has applied `position`. Answers the instances that did not within
 * the bound; none is the good answer (D62).
 */
export async function waitUntilApplied(nc: NatsConnection, position: number): Promise<readonly string[]> {
  const missing = new Set(await announced(await new Kvm(nc).open(LEASES_BUCKET)));
  if (missing.size === 0) return [];
  const answers = await nc.requestMany(SUBJECT, JSON.stringify({ position }), { strategy: 'timer', maxWait: ANSWERS_MS_MAX });
  for await (const message of answers) {
    const parsed = reply.safeParse(message.json());
    if (parsed.success && parsed.data.applied) missing.delete(parsed.data.instance);
    if (missing.size === 0) break;
  }
  return [...missing];
}

async function announced(leases: KV): Promise<readonly string[]> {
  const instances: string[] = [];
  for await (const key of await leases.keys('accounts.>')) instances.push(key.slice('accounts.'.length));
  return instances;
}
