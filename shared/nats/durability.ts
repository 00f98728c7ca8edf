import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';

/** Asking takes milliseconds; a check must not hold up a start. */
const ASK_LIMIT_MS = 2_000;
/** Answered by every server of the cluster, to users of the system account only. */
const SYSTEM_SUBJECT = '$SYS.REQ.SERVER.PING.VARZ';

const varz = z.object({ jetstream: z.object({ config: z.object({ sync_always: z.boolean().default(false) }) }) });
const systemAnswer = z.object({ data: varz });

/** Whether an acknowledged event is on the disk, or only in the memory of the server for up to two minutes (D84). */
export type Durability = 'synced' | 'not_synced' | 'unknown';

/**
 * Asks the servers whether they sync every write before they acknowledge it: each monitoring address that is given,
 * else all servers over the connection when its user may. `unknown` when any of them cannot be asked.
 */
export async function checkDurability(nc: NatsConnection, monitorUrls: readonly string[] = []): Promise<Durability> {
  const answers = monitorUrls.length > 0 ? await Promise.all(monitorUrls.map(askMonitor)) : await askServers(nc);
  if (answers.includes('not_synced')) return 'not_synced';
  return answers.length === 0 || answers.includes('unknown') ? 'unknown' : 'synced';
}

async function askMonitor(monitorUrl: string): Promise<Durability> {
  try {
    const response = await fetch(new URL('/varz', monitorUrl), { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    return judge(varz.safeParse(await response.json()).data);
  } catch {
    return 'unknown';
  }
}

/** The servers do not say how many they are, so whoever answers within the limit counts. */
async function askServers(nc: NatsConnection): Promise<Durability[]> {
  const answers: Durability[] = [];
  try {
    for await (const message of await nc.requestMany(SYSTEM_SUBJECT, '', { strategy: 'stall', maxWait: ASK_LIMIT_MS })) {
      const parsed: unknown = JSON.parse(message.string());
      answers.push(judge(systemAnswer.safeParse(parsed).data?.data));
    }
    return answers;
  } catch {
    return ['unknown'];
  }
}

function judge(answer: z.infer<typeof varz> | undefined): Durability {
  if (answer === undefined) return 'unknown';
  return answer.jetstream.config.sync_always ? 'synced' : 'not_synced';
}
