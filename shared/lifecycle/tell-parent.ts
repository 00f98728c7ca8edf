import { z } from 'zod';

/**
 * What a service tells the process that started it: `ready`, or `held` when it is whole but does nothing until an
 * operator has decided (D96).
 */
export const serviceNews = z.object({ type: z.enum(['ready', 'held']) });
export type ServiceNews = z.infer<typeof serviceNews>;

/** Tells it; nothing happens when nobody listens. */
export function tellParent(type: ServiceNews['type']): void {
  process.send?.({ type } satisfies ServiceNews);
}
