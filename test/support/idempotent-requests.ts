import { expect } from 'chai';
import type { JobView } from '../../shared/domain/job-view.ts';
import { tasksOf, type Answer, type ErrorBody, type TestClient } from './client.ts';

/** A body that tests send again and again, and another one. */
export const BODY: Readonly<Record<string, unknown>> = { tasks: tasksOf('jpg', 'png', { unknown: 1 }), tag: 't' };
export const OTHER_BODY: Readonly<Record<string, unknown>> = { ...BODY, tag: 'u' };

/** POST /jobs with an Idempotency-Key. */
export function post<Body = JobView>(client: TestClient, key: string, json: unknown = BODY): Promise<Answer<Body>> {
  return client.send<Body>('POST', '/v1/jobs', { json, headers: { 'Idempotency-Key': key } });
}

/** How many jobs the client's list has. */
export async function totalOf(client: TestClient): Promise<number> {
  return (await client.send<{ total: number }>('GET', '/v1/jobs')).body.total;
}

/** 409 of a request whose first one still runs, or 422 of one with another body, exactly as §7 has them. */
export function requireConflict(answer: Answer<ErrorBody>, status: 409 | 422): void {
  expect([answer.status, answer.body.error.code], answer.bytes.toString()).to.deep.equal([status, 'idempotency_conflict']);
  if (status === 409) expect(answer.body.error.details).to.deep.equal({ retry_after: 1 });
  else expect(answer.body.error).not.to.have.property('details');
  expect(answer.headers.get('retry-after')).to.equal(status === 409 ? '1' : null);
}
