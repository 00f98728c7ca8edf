import { readBalance } from '../../../projections/credits/queries.ts';
import type { Dependencies } from '../dependencies.ts';
import { callerOf } from '../http/context.ts';
import { callerShape } from '../openapi/schemas.ts';
import { whenProjected } from '../read-models/when-projected.ts';
import type { Route } from './route.ts';

/** Who the caller is and what can be spent (§4.2). */
export function callerRoutes(deps: Dependencies): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/me',
      access: 'any_key',
      operation: {
        operationId: 'getCaller',
        tag: 'Account',
        summary: 'Who the key belongs to, and the balance',
        description: 'Works for any valid key. `credits.balance` is what can be spent now, the same number for live and test keys.',
        success: { 200: { description: 'The caller.', body: callerShape } },
      },
      async handle(ctx) {
        const { organization_id, key_mode, scopes } = callerOf(ctx);
        await deps.whenSettled(await deps.logEnd('JOBS'));
        await whenProjected(deps, 'CREDITS');
        const balance = await readBalance(deps.pool, organization_id);
        ctx.body = { organization_id, mode: key_mode, scopes, credits: { balance } };
      },
    },
  ];
}
