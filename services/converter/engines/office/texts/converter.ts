import { join } from 'node:path';
import { extensionOf } from '../../../../../shared/domain/catalogue/formats.ts';
import { checkResult, checkSource } from '../../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult } from '../../engine.ts';
import type { OfficePool } from '../pool.ts';
import { timeLeft } from '../../time-left.ts';
import { type Plan } from './plan.ts';
import { runTexts } from './run.ts';
import { officeTask, optionsAfter, optionsAlone, optionsBefore } from './steps.ts';
import type { TextTask } from './task.ts';

/** What passes between the steps of one conversion. */
interface Passage {
  /** Name of the file that the next step reads. */
  readonly source: string;
  readonly spentMs: number;
}

/**
 * Converts texts, pages, tables and books, and what becomes one of them: by our own program, by the office program, or by
 * both in turn. What the office program is given is always text that our own program wrote, in which nothing refers to anything.
 * @throws EngineFailure, EngineKilled, and what else `Engine.convert` and `OfficePool.convert` throw.
 */
export async function convertTexts(pool: OfficePool, request: ConversionRequest, context: ConversionContext, plan: Plan): Promise<ConversionResult> {
  const { job, input, output, options } = request;
  await checkSource(join(job.path, request.source), input, { hasPassword: options['password'] !== undefined });
  const result = `result.${extensionOf(output)}`;
  const started: Passage = { source: request.source, spentMs: 0 };
  const read = plan.before === undefined ? started : await runChild(request, context, started, { ...plan.before, options: plan.office ? optionsBefore(options, output) : optionsAlone(options, output), result: plan.office ? `read.${plan.before.output}` : result });
  const converted = plan.office === undefined ? read : await runOffice(pool, request, context, read, plan.office, plan.after ? `office.${plan.office.output}` : result);
  const written = plan.after === undefined ? converted : await runChild(request, context, converted, { ...plan.after, options: optionsAfter(options), result });
  const path = join(job.path, result);
  return { path, sizeBytes: await checkResult(path, output), billableMs: written.spentMs };
}

async function runChild({ job }: ConversionRequest, context: ConversionContext, { source, spentMs }: Passage, task: Omit<TextTask, 'source'>): Promise<Passage> {
  return { source: task.result, spentMs: spentMs + (await runTexts(job, { ...task, source }, { ...context, timeLimitMs: timeLeft(context, spentMs) })) };
}

/** The limit is that of the whole conversion; waiting for an instance is no part of it. */
async function runOffice(pool: OfficePool, { job, organizationId, options }: ConversionRequest, context: ConversionContext, { source, spentMs }: Passage, formats: NonNullable<Plan['office']>, result: string): Promise<Passage> {
  const task = { organizationId, job, source, result, ...officeTask(formats, options) };
  const { billableMs } = await pool.convert(task, { ...context, timeLimitMs: timeLeft(context, spentMs) });
  return { source: result, spentMs: spentMs + billableMs };
}
