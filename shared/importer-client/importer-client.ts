import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';
import { IMPORTER_READY_SUBJECT, importerReadyReply, OBSERVE_SUBJECT, observeReply, type Observation, type ObserveRequest } from './messages.ts';

/** How long a health check waits for an importer, in ms. */
const READY_TIMEOUT_MS = 1_000;

/**
 * Asks an importer to look now for the file of a job (D32) and answers what it found; asked any number of times, the
 * file is bound once. Throws `TransientError('importer')` when none answered within `timeoutMs`: it may still be at
 * work on it, and looks by itself in any case.
 */
export async function requestObserve(nc: NatsConnection, jobId: string, timeoutMs: number): Promise<Observation> {
  const request: ObserveRequest = { job_id: jobId };
  const parsed = observeReply.safeParse(await ask(nc, OBSERVE_SUBJECT, request, timeoutMs));
  if (!parsed.success) throw new Defect('the importer answered what this version does not understand', { cause: parsed.error });
  if (parsed.data.ok) return parsed.data.status;
  if (parsed.data.code === 'unavailable') throw new TransientError('importer', 'the importer cannot look just now');
  throw new Defect('the importer could not read the request');
}

/** True when an importer is at work; for `/readyz`. */
export async function isImporterReady(nc: NatsConnection, timeoutMs: number = READY_TIMEOUT_MS): Promise<boolean> {
  try {
    return importerReadyReply.safeParse(await ask(nc, IMPORTER_READY_SUBJECT, {}, timeoutMs)).data?.ok === true;
  } catch {
    return false;
  }
}

async function ask(nc: NatsConnection, subject: string, request: object, timeoutMs: number): Promise<unknown> {
  try {
    const message = await nc.request(subject, JSON.stringify(request), { timeout: timeoutMs });
    return JSON.parse(message.string()) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new Defect('the importer answered something that is not JSON', { cause });
    throw new TransientError('importer', 'no importer answers', { cause });
  }
}
