import { z } from 'zod';
import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { changePlan, createOrganization } from '../../../shared/accounts/manage.ts';
import { plan } from '../../../shared/events/fields.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { creditsAmount, parseId, parseOption, required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { withConnection } from '../connection.ts';
import { grant } from './credits.ts';
import { requireApplied } from './applied.ts';

const planOption = z.enum(plan.options, `must be ${plan.options.join(' or ')}`);
/** None is a fine beginning; a grant of none would be nothing. */
const firstCredits = z.union([z.literal('0').transform(Number), creditsAmount], 'must be a whole number of credits');
const nameOption = z.string().max(255, 'must be at most 255 characters');

/** `admin org create`: a new organization, with credits when they are named. */
export const orgCreate: Command = {
  name: 'org create',
  usage: '--name NAME --plan free|active [--credits N]',
  summary: 'Creates an organization and prints its id.',
  options: { name: { type: 'string' }, plan: { type: 'string' }, credits: { type: 'string' } },
  arguments: [],
  async run(values) {
    const name = parseOption('name', required(values, 'name'), nameOption);
    const chosenPlan = parseOption('plan', required(values, 'plan'), planOption);
    const credits = typeof values['credits'] === 'string' ? parseOption('credits', values['credits'], firstCredits) : 0;
    return withConnection(async (connection) => {
      const organization_id = newId(connection.clock.nowMs());
      await createOrganization(connection, organization_id, name, chosenPlan);
      if (credits > 0) await grant(connection, organization_id, credits);
      return { organization_id };
    });
  },
};

/** `admin org set-plan`: takes effect on the next request of every key of the organization. */
export const orgSetPlan: Command = {
  name: 'org set-plan',
  usage: '--org ID --plan free|active',
  summary: 'Moves an organization to another plan.',
  options: { org: { type: 'string' }, plan: { type: 'string' } },
  arguments: [],
  async run(values) {
    const organization_id = parseId('--org', required(values, 'org'));
    const chosenPlan = parseOption('plan', required(values, 'plan'), planOption);
    return withConnection(async (connection) => {
      const position = await changePlan(connection, organization_id, chosenPlan);
      if (position !== undefined) requireApplied(await waitUntilApplied(connection.nc, position));
      return { organization_id, plan: chosenPlan };
    });
  },
};
