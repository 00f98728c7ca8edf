import { readFile, stat, writeFile } from 'node:fs/promises';
import type { ToolState } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { runTool, runToolWell } from './tool.ts';

/** A page that says "probe"; offsets are left out, because both programs find the objects by themselves. */
const DOCUMENT = `%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 144 72] /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>> endobj
4 0 obj <</Length 39>> stream
BT /F 24 Tf 20 20 Td (probe) Tj ET     
endstream endobj
5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj
trailer <</Root 1 0 R /Size 6>>
%%EOF
`;

const SOURCE = 'probe.pdf';

/** Lets poppler read and draw a page. */
export async function probePoppler(): Promise<ToolState> {
  return probe('poppler-utils', async () => {
    await writeFile(SOURCE, DOCUMENT);
    const xml = await runToolWell('pdftohtml', ['-q', '-xml', '-stdout', SOURCE]);
    if (!xml.includes('>probe</text>')) throw new EngineFailure('no_text');
    await runToolWell('pdftoppm', ['-q', '-singlefile', '-r', '72', '-tiff', SOURCE, 'probe']);
    await runToolWell('pdftocairo', ['-q', '-svg', SOURCE, 'probe.svg']);
    await stat('probe.svg');
    if ((await stat('probe.tif')).size === 0) throw new EngineFailure('damaged');
    return /<pdf2xml producer="poppler" version="([\d.]+)">/.exec(xml)?.[1];
  });
}

/** Lets qpdf write a document anew. */
export async function probeQpdf(): Promise<ToolState> {
  return probe('qpdf', async () => {
    await writeFile(SOURCE, DOCUMENT);
    await runTool('qpdf', [SOURCE, 'probe-rewritten.pdf']);
    const written = await readFile('probe-rewritten.pdf', 'latin1');
    if (!written.startsWith('%PDF-')) throw new EngineFailure('damaged');
    return /^qpdf version ([\d.]+)$/m.exec(await runToolWell('qpdf', ['--version']))?.[1];
  });
}

/** `debianPackage` is named to the operator when the program is missing or does not do its work. */
async function probe(debianPackage: string, work: () => Promise<string | undefined>): Promise<ToolState> {
  try {
    const version = await work();
    if (version !== undefined) return { available: true, version };
  } catch {
    // What it was is of no use to whoever reads it: the cure is the same.
  }
  return { available: false, reason: `it is missing or does not convert; the Debian package ${debianPackage} brings it` };
}
