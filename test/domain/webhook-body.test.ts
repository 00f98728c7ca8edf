import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JobEvent } from '../../shared/events/registry.ts';
import { openDiskStore } from '../../shared/objects/disk/disk-store.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createMemoryStore } from '../../shared/store/memory.ts';
import { composeBody } from '../../shared/webhooks/body.ts';
import { FORGOTTEN_TYPED, takeSnapshot, type SnapshotSources } from '../../shared/webhooks/job-snapshot.ts';
import { sampleJob } from '../../shared/webhooks/sample-job.ts';
import { API_KEY_ID, conversionStarted, CREATED_AT, created, finished, FINISHED_EXPIRES_AT, ORGANIZATION_ID, sourceReceived } from '../support/job-events.ts';
import { originOf } from '../support/events.ts';

const JOB_ID = '0190a000-0000-7000-8000-000000000009';
const EVENT_ID = '0190a000-0000-8000-8000-00000000000e';
const TYPED = { tag: 'order 1', task_names: { import: 'my-file', convert: 'to-jpg', export: 'link' }, ignored_options: [] };

describe('The body of a delivery (§6 body)', () => {
  let folder: string;
  let objects: ObjectStore;
  let sources: SnapshotSources;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-webhook-body-'));
    objects = await openDiskStore({ folder, publicUrl: 'http://127.0.0.1', masterKey: openMasterKey(Buffer.alloc(32).toString('base64')) });
    const store = createMemoryStore();
    const events: readonly JobEvent[] = [created(), sourceReceived, conversionStarted(), finished(), { type: 'job.deleted', data: { held_credits_released: false } }];
    let after: Parameters<typeof store.append>[1] = { version: 0 };
    for (const event of events) after = await store.append({ kind: 'job', id: JOB_ID }, after, event, originOf({ kind: 'job', id: JOB_ID }));
    sources = { store, objects };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('shows the job as it was at the event, not as it is now (D69)', async () => {
    const { job } = await takeSnapshot(sources, { jobId: JOB_ID, version: 1, typed: TYPED });
    expect(job).to.deep.include({ id: JOB_ID, status: 'waiting', tag: 'order 1', api_key_id: API_KEY_ID });
    expect(job).not.to.have.property('credits_used');
    expect(job.tasks?.map((task) => [task.name, task.status])).to.deep.equal([['my-file', 'waiting'], ['to-jpg', 'waiting'], ['link', 'waiting']]);
  });

  it('has the result link of job.finished, the same each time, also after the job was deleted (§6, D73)', async () => {
    const bodies = await Promise.all([1, 2].map(async () => composeBody({ eventId: `evt_${EVENT_ID}`, event: 'job.finished', createdAt: CREATED_AT, job: (await takeSnapshot(sources, { jobId: JOB_ID, version: 4, typed: TYPED })).job, isTest: false })));
    expect(Buffer.from(bodies[0]!).equals(bodies[1]!)).to.equal(true);
    const body = JSON.parse(Buffer.from(bodies[0]!).toString());
    expect(Object.keys(body)).to.deep.equal(['id', 'event', 'created_at', 'data']);
    expect(body).to.deep.include({ id: `evt_${EVENT_ID}`, event: 'job.finished', created_at: CREATED_AT });
    const { result } = body.data.job.tasks[2];
    expect(result.url).to.include('/files/');
    expect(result.urlExpiresAt).to.equal(FINISHED_EXPIRES_AT);
  });

  it('does without what was typed when that is forgotten already', async () => {
    const { job } = await takeSnapshot(sources, { jobId: JOB_ID, version: 4, typed: FORGOTTEN_TYPED });
    expect(job).not.to.have.property('tag');
    expect(job.tasks?.map((task) => task.name)).to.deep.equal(['import', 'convert', 'export']);
  });

  it('is a whole finished job with `test: true` for a test delivery, the same each time (§4.6, D58, D59)', async () => {
    const sample = { eventId: EVENT_ID, organizationId: ORGANIZATION_ID, apiKeyId: API_KEY_ID, keyMode: 'test', atMs: Date.parse(CREATED_AT) } as const;
    const [job, again] = [await sampleJob(objects, sample), await sampleJob(objects, sample)];
    expect(again).to.deep.equal(job);
    const { job: real } = await takeSnapshot(sources, { jobId: JOB_ID, version: 4, typed: TYPED });
    expect(Object.keys(job)).to.deep.equal(Object.keys(real));
    expect(job).to.deep.include({ status: 'finished', test_mode: true, testMode: true, credits_used: 0 });
    expect(JSON.parse(Buffer.from(composeBody({ eventId: 'evt_1', event: 'job.finished', createdAt: CREATED_AT, job, isTest: true })).toString())).to.include({ test: true });
  });
});
