import { forgetWebhook } from '../../shared/accounts/webhooks.ts';
import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import type { NotifierContext } from './context.ts';

/**
 * Destroys the key of an endpoint that was deleted, and with it its URL, its secrets and what its deliveries tell of jobs
 * (D57). Whoever deleted it does so too; it may have died in between. Throws `TransientError`.
 */
export async function forgetEndpoint(context: NotifierContext, message: WorkerMessage): Promise<Outcome> {
  const { event } = decodeMessage(message.subject, message.position, message.bytes);
  if (event.type === 'account.webhook_deleted') await forgetWebhook(context, event.data.webhook_id);
  return DONE;
}
