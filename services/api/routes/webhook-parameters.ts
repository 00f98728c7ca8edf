import { z } from 'zod';

/** The webhook endpoint in the path. */
export const webhookParameters = z.object({ webhook_id: z.uuid().describe('Endpoint identifier. One that is not a UUID is answered with 404.') });

/** An endpoint and one of its deliveries. */
export const deliveryParameters = webhookParameters.extend({ delivery_id: z.uuid().describe('Delivery identifier, with or without a delivery of that name: 404 as above.') });
