import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { TestClient, type Answer } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { IdempotencyNotes } from '../support/idempotency-notes.ts';
import { BODY, post } from '../support/idempotent-requests.ts';
import { inParallel } from '../support/in-parallel.ts';
import { readLog } from '../support/log-reading.ts';

const KEYS = 30;
/** So many answers are let through before the kill; each round cuts off the others at another moment. */
const ANSWERS_BEFORE_KILL = [0, 8, 20];
/** The service comes back, and what was left behind is taken over when its lease of 15 s is over. */
const ANSWERED_LIMIT_MS = 120_000;

describe('A client that retries with its Idempotency-Key (D82)', function () {
  this.timeout(360_000);
  let world: FaultService;
  let notes: IdempotencyNotes;

  before(async () => {
    world = await faultService();
    notes = await IdempotencyNotes.open(world.service, world.operator.nc);
  });

  /** Sends all keys at once and kills a process in the midst of it; answers what came through. */
  async function sendAndKill(client: TestClient, round: number, victim: 'api' | 'ledger' | 'nats-server'): Promise<readonly (Answer<JobView> | undefined)[]> {
    let [answered, isKilled] = [0, false];
    return inParallel(KEYS, KEYS, async (index) => {
      const answer = post(client, `round ${round} key ${index}`).catch(() => undefined);
      // With no answer to wait for, the last request is on its way when the kill comes.
      if (ANSWERS_BEFORE_KILL[round] === 0 && index === KEYS - 1) kill();
      const known = await answer;
      answered += 1;
      if (answered >= (ANSWERS_BEFORE_KILL[round] ?? 0)) kill();
      return known;
    });
    function kill(): void {
      if (!isKilled) world.service.kill(victim);
      isKilled = true;
    }
  }

  for (const victim of ['api', 'ledger', 'nats-server'] as const) {
    it(`gets exactly one job for each key, whenever the ${victim} is killed, and no hold is lost`, async () => {
      const books = await Books.open(world.service, world.operator, KEYS * ANSWERS_BEFORE_KILL.length * 2);
      const key = await books.organization.newKey('live');
      const client = new TestClient(world.service.baseUrl, key.secret);
      const jobOf = new Map<string, string>();
      for (const round of ANSWERS_BEFORE_KILL.keys()) {
        const firsts = await sendAndKill(client, round, victim);
        await world.service.untilReady();
        await inParallel(KEYS, 10, async (index) => {
          const name = `round ${round} key ${index}`;
          const answer = await retry(client, name);
          const first = firsts[index];
          if (first?.status === 201) expect(answer.bytes.equals(first.bytes), name).to.equal(true);
          jobOf.set(notes.request(key.id, name, BODY).mark.key_hash, answer.body.id);
          books.promised.add(answer.body.id);
        });
      }
      const created = (await readLog(world.operator.nc, 'JOBS')).filter(({ type, tenant }) => type === 'job.created' && tenant === books.organization.id);
      expect(created).to.have.length(jobOf.size);
      for (const { subject, data } of created) {
        const { key_hash: keyHash } = data['idempotency'] as { readonly key_hash: string };
        expect(jobOf.get(keyHash)).to.equal(subject);
      }
      await books.cancelWaiting();
      await books.requireRight();
      await requireCleanAudit(world.service);
    });
  }
});

/** Asks again until there is an answer, as a client does that honours Retry-After. */
async function retry(client: TestClient, key: string): Promise<Answer<JobView>> {
  return waitFor(`an answer for ${key}`, ANSWERED_LIMIT_MS, async () => {
    const answer = await post(client, key).catch(() => undefined);
    if (answer?.status === 201) return answer;
    if (answer) expect(answer.status, answer.bytes.toString()).to.be.oneOf([409, 429, 503]);
    return undefined;
  });
}
