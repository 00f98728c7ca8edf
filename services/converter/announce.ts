import { randomUUID } from 'node:crypto';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isoTime, type Clock } from '../../shared/clock/clock.ts';
import { ANNOUNCE_MS, ENGINES_BUCKET, type Announcement } from '../../shared/converters/announcement.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ReadyTools } from './engines/ready.ts';

/**
 * Says at once and from then on, while this process lives, what it can convert, so that the api offers it. It is not
 * taken back at a stop: a converter that is restarted takes no conversion off the list.
 */
export async function announceTools(nc: NatsConnection, tools: ReadyTools, clock: Clock, logger: Logger): Promise<{ readonly stop: () => void }> {
  const bucket = await new Kvm(nc).open(ENGINES_BUCKET);
  const converter = randomUUID();
  let isSaying = false;
  const say = async (): Promise<void> => {
    if (isSaying) return;
    isSaying = true;
    const said: Announcement = { tools: Object.fromEntries(tools), announced_at: isoTime(clock.nowMs()) };
    await bucket.put(converter, JSON.stringify(said)).catch((error: unknown) => logger.warn({ err: error }, 'cannot announce what this converter can do; trying again'));
    isSaying = false;
  };
  await say();
  const timer = setInterval(() => void say(), ANNOUNCE_MS);
  return { stop: () => clearInterval(timer) };
}
