import { join } from 'node:path';
import { z } from 'zod';
import { extensionOf, type FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine } from '../engine.ts';
import { timeLeft } from '../time-left.ts';
import { exportOf } from './export.ts';
import { isOfficeFormat, OFFICE_FORMATS } from './filters.ts';
import type { OfficePool } from './pool.ts';
import { probeOffice } from './probe.ts';
import { convertTexts } from './texts/converter.ts';
import { planOf } from './texts/plan.ts';
import { probeTexts } from './texts/probe.ts';

/** What lies between the suite and the drawing of its pages. */
const PAGES = 'pages.pdf';

/** The options of this module; each was checked by the schema of its target. */
const known = z.object({ password: z.string().optional(), page: z.int().default(1), pages: z.string().optional() });

/** Whatever shows pages as pictures, and is made by way of a PDF. */
const PICTURES: ReadonlySet<FormatName> = new Set(['jpg', 'png', 'svg', 'webp', 'zip']);

/** Converts documents, spreadsheets and presentations with the pool; `pdf` draws their pages where pictures are wanted. */
export function createOfficeEngine(pool: OfficePool, pdf: Pick<Engine, 'convert'>): Engine {
  return {
    name: 'office',
    probe: async (sandbox) => ({ texts: await probeTexts(sandbox), libreoffice: await probeOffice(pool, sandbox) }),
    convert: (request, context) => {
      const plan = planOf(request.input, request.output);
      if (plan !== undefined) return convertTexts(pool, request, context, plan);
      return PICTURES.has(request.output) ? convertToPictures(pool, pdf, request, context) : convertDocument(pool, request, context);
    },
    stop: () => pool.stop(),
  };
}

async function convertDocument(pool: OfficePool, request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output, organizationId, options } = request;
  if (!isOfficeFormat(input)) throw new Defect(`the office suite does not read ${input}`);
  const { password } = known.parse(options);
  const path = join(job.path, source);
  await checkSource(path, input, { hasPassword: password !== undefined });
  const result = output === 'pdf' ? PAGES : `result.${extensionOf(output)}`;
  const { billableMs } = await pool.convert(
    { organizationId, job, source, result, importFilter: OFFICE_FORMATS[input].reads, ...(password === undefined ? {} : { password }), ...exportOf(input, output, options) },
    context,
  );
  const made = join(job.path, result);
  return { path: made, sizeBytes: await checkResult(made, output), billableMs };
}

/** Two steps in one limit of time: the suite writes a PDF, and its pages are drawn. */
async function convertToPictures(pool: OfficePool, pdf: Pick<Engine, 'convert'>, request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  const { page, pages, password } = known.parse(request.options);
  const { page: _page, pages: _pages, password: _password, ...drawing } = request.options;
  const wanted = request.output === 'zip' ? pages : String(page);
  const writing = { tagged: false, ...(password === undefined ? {} : { password }), ...(wanted === undefined ? {} : { pages: wanted }) };
  const written = await convertDocument(pool, { ...request, output: 'pdf', options: writing }, context);
  const drawn = await pdf.convert({ ...request, source: PAGES, input: 'pdf', options: drawing }, { ...context, timeLimitMs: timeLeft(context, written.billableMs) });
  return { ...drawn, billableMs: written.billableMs + drawn.billableMs };
}
