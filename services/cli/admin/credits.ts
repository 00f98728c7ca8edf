import { operatorOrigin } from '../../../shared/accounts/manage.ts';
import { accountDecider } from '../../../shared/domain/account.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import { grantCredits } from '../../../shared/ledger-client/ledger-client.ts';
import { organizationKeyName } from '../../../shared/privacy/data-keys.ts';
import { seal } from '../../../shared/privacy/seal.ts';
import { loadState } from '../../../shared/store/handle.ts';
import { creditsAmount, parseId, parseOption, required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { withConnection, type Connection } from '../connection.ts';

/** `admin credits grant`: the balance it prints is the one after the grant. */
export const creditsGrant: Command = {
  name: 'credits grant',
  usage: '--org ID --amount N [--reason TEXT]',
  summary: 'Gives an organization credits and prints the new balance.',
  options: { org: { type: 'string' }, amount: { type: 'string' }, reason: { type: 'string' } },
  arguments: [],
  async run(values) {
    const organizationId = parseId('--org', required(values, 'org'));
    const amount = parseOption('amount', required(values, 'amount'), creditsAmount);
    const reason = values['reason'];
    return withConnection(async (connection) => ({ balance: await grant(connection, organizationId, amount, typeof reason === 'string' ? reason : undefined) }));
  },
};

/** Grants credits through the ledger; the reason is sealed under the organization's key (D88). Answers the balance. */
export async function grant(connection: Connection, organizationId: string, amount: number, reason?: string): Promise<number> {
  const { state } = await loadState(connection.store, accountDecider, { kind: 'account', id: organizationId });
  if (state.kind === 'none') throw new DomainError('not_found', `there is no organization ${organizationId}`);
  const { commandId, correlationId, actor } = operatorOrigin(organizationId, connection.clock);
  const sealedReason = reason === undefined ? {} : { reason: seal(await connection.dataKeys.create(organizationKeyName(organizationId)), reason, `${organizationId}|reason`) };
  const answer = await grantCredits(connection.nc, { organization_id: organizationId, amount, ...sealedReason, command_id: commandId, correlation_id: correlationId, actor });
  return answer.balance;
}
