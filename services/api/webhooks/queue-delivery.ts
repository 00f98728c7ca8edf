import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { deliveryDecider } from '../../../shared/domain/delivery.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { EventData } from '../../../shared/events/registry.ts';
import type { Dependencies } from '../dependencies.ts';
import { originOf } from '../jobs/origin.ts';

/** Appends a delivery that a client asked for; the notifier sends it. Throws `TransientError`. */
export async function queueDelivery(deps: Dependencies, caller: KeyContext, requestId: string, deliveryId: string, data: EventData<'delivery.queued'>): Promise<void> {
  const event = deliveryDecider.decide({ type: 'queue', data }, deliveryDecider.initialState);
  if (event === null) throw new Defect('queueing a delivery did not make one');
  // Nothing to load: the id is new.
  const appended = await deps.store.append({ kind: 'delivery', id: deliveryId }, { version: 0 }, event, originOf(caller, requestId, randomUUID(), deps.clock.nowMs()));
  deps.logWatch.note('DELIVERIES', appended.position);
}
