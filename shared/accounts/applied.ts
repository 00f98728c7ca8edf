import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { Logger } from '../log/log.ts';
import type { AccountsCopy } from './accounts-copy.ts';

const SUBJECT = 'accounts.applied';
const LEASES_BUCKET = 'LEASES';
/** The bucket forgets an entry after 6 s, so a process says three times in between that it lives. */
const ANNOUNCE_MS = 2_000;
/** How long a process may take to apply a change before it answers that it has not, in ms. */
const APPLY_MS_MAX = 4_000;
/** How long an operator's command waits for all answers, in ms. */
const ANSWERS_MS_MAX = 5_000;

const request = z.object({ position: z.int().min(0) });
const reply = z.object({ instance: z.string(), applied: z.boolean() });

/**
 * Makes a process that knows keys by its local copy take part in "at once" (D62): it announces itself, and answers when
 * it has applied a change. Returns what ends it.
 */
export async function answerApplied(nc: NatsConnection, accounts: AccountsCopy, instance: string, logger: Logger): Promise<() => Promise<void>> {
  const leases = await new Kvm(nc).open(LEASES_BUCKET);
  const entry = `accounts.${instance}`;
  const announce = (): Promise<unknown> => leases.put(entry, '').catch((error: unknown) => logger.warn({ err: error }, 'cannot announce this process'));
  await announce();
  const timer = setInterval(() => void announce(), ANNOUNCE_MS);
  const subscription = nc.subscribe(SUBJECT, {
    callback: (error, message) => {
      const parsed = error ? undefined : request.safeParse(message.json());
      if (!parsed?.success) return;
      void accounts.waitFor(parsed.data.position, APPLY_MS_MAX).then((applied) => message.respond(JSON.stringify({ instance, applied })));
    },
  });
  return async () => {
    clearInterval(timer);
    subscription.unsubscribe();
    await leases.delete(entry).catch(() => undefined);
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
