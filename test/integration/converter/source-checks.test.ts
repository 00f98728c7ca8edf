import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { checkSource } from '../../../services/converter/engines/checks.ts';
import { EngineFailure, type FailureCause } from '../../../services/converter/engines/failure.ts';
import { contentTypes, makeCompound, makeZip, type MemberSpec } from '../../support/archives.ts';
import { fixturePath } from '../../support/fixtures.ts';

/** Nothing is unpacked but beginnings, so a hostile archive is refused in a fifth of a second; tests share their processors. */
const REFUSED_MS_MAX = 1_000;

const MAIN: MemberSpec = { name: 'word/document.xml', data: '<?xml version="1.0"?><w:document/>' };
const HONEST: readonly MemberSpec[] = [contentTypes('docx'), MAIN];
const MIB = 1024 * 1024;
const LONG_TAG = Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), Buffer.from([0, 2, (40_000 >> 7) & 127, 40_000 & 127]), Buffer.alloc(40_000, 1)]);
/** A frame of MPEG audio. */
const FRAME = Buffer.concat([Buffer.from('\xff\xfb\x90\x00', 'latin1'), Buffer.alloc(413)]);
const sheet = (number: number, ref: string, rows = ''): MemberSpec => ({ name: `xl/worksheets/sheet${number}.xml`, data: `<worksheet xmlns="x"><sheetPr/><dimension ref="${ref}"/><sheetData>${rows}</sheetData></worksheet>` });
const zeros = (mib: number): MemberSpec => ({ name: 'zeros', data: Buffer.alloc(mib * MIB) });

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** `fine`, or why the file is refused. */
async function judge(source: string | Buffer, input: FormatName, hasPassword = false): Promise<FailureCause | 'fine'> {
  const path = join(folder, 'source');
  await writeFile(path, typeof source === 'string' ? await readFile(fixturePath(source)) : source);
  const startMs = performance.now();
  try {
    await checkSource(path, input, { hasPassword });
    return 'fine';
  } catch (error) {
    expect(performance.now() - startMs).to.be.lessThan(REFUSED_MS_MAX);
    if (error instanceof EngineFailure) return error.code;
    throw error;
  }
}

const judgeZip = (members: readonly MemberSpec[], input: FormatName = 'docx'): Promise<FailureCause | 'fine'> => judge(makeZip(members), input);
const odf = (kind: string): MemberSpec => ({ name: 'mimetype', data: `application/vnd.oasis.opendocument.${kind}`, stored: true });

const COMPOUND: ReadonlySet<FormatName> = new Set(['doc', 'xls', 'ppt']);

describe('what an archive really is', () => {
  const FILES: Readonly<Record<string, readonly FormatName[]>> = {
    'a-text.docx': ['docx'],
    'datasets.xlsx': ['xlsx'],
    'officer.pptx': ['pptx'],
    'odt.odt': ['odt'],
    'ods.ods': ['ods'],
    'odp.odp': ['odp'],
    'keynote5-file.key': ['key'],
    // Since 2013 only the filter can tell these two apart.
    'pages5-file.pages': ['pages', 'numbers'],
    'numbers3-file.numbers': ['pages', 'numbers'],
    'doc.doc': ['doc'],
    'xls.xls': ['xls'],
    'ppt.ppt': ['ppt'],
  };
  const OFFICE: readonly FormatName[] = ['doc', 'docx', 'epub', 'key', 'numbers', 'odp', 'ods', 'odt', 'pages', 'ppt', 'pptx', 'xls', 'xlsx'];

  for (const [file, formats] of Object.entries(FILES)) {
    it(`takes ${file} for ${formats.join(' or ')} and for no other document`, async () => {
      for (const format of OFFICE) expect(await judge(file, format), format).to.equal(formats.includes(format) ? 'fine' : 'not_what_it_claims');
    });

  }

  it('says that an archive is damaged when it was cut off', async () => {
    for (const [file, [format = 'zip']] of Object.entries(FILES)) {
      const whole = await readFile(fixturePath(file));
      if (!COMPOUND.has(format)) expect(await judge(whole.subarray(0, whole.length / 2), format), file).to.equal('damaged');
    }
  });

  it('takes documents with macros and templates for what they are, and a binary sheet for none', async () => {
    const types = { docx: ['application/vnd.ms-word.document.macroEnabled.main+xml', 'application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml'], xlsx: ['application/vnd.ms-excel.sheet.macroEnabled.main+xml'], pptx: ['application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml'] } as const;
    for (const [kind, mains] of Object.entries(types) as ['docx' | 'xlsx' | 'pptx', readonly string[]][]) {
      for (const type of mains) expect(await judgeZip([contentTypes(kind, type)], kind), type).to.equal('fine');
    }
    expect(await judgeZip([contentTypes('xlsx', 'application/vnd.ms-excel.sheet.binary.macroEnabled.main')], 'xlsx')).to.equal('not_what_it_claims');
  });

  it('takes an archive with anything in it for no document', async () => {
    for (const format of OFFICE) if (!COMPOUND.has(format)) expect(await judgeZip([{ name: 'a.txt', data: 'text' }], format), format).to.equal('not_what_it_claims');
    expect(await judgeZip([{ name: 'mimetype', data: 'application/epub+zip', stored: true }], 'epub')).to.equal('fine');
  });

  it('takes an older OpenDocument that says what it is only in its list, and bytes left behind the end', async () => {
    const manifest = '<manifest:manifest><manifest:file-entry manifest:media-type="application/vnd.oasis.opendocument.text" manifest:full-path="/"/></manifest:manifest>';
    expect(await judgeZip([{ name: 'META-INF/manifest.xml', data: manifest }], 'odt')).to.equal('fine');
    expect(await judgeZip([{ name: 'META-INF/manifest.xml', data: manifest }], 'ods')).to.equal('not_what_it_claims');
    expect(await judge(Buffer.concat([makeZip(HONEST), Buffer.from('\n')]), 'docx')).to.equal('fine');
  });
});

describe('what a compound file really is', () => {
  it('goes by the streams at its root, not by those of embedded documents', async () => {
    expect(await judge(makeCompound(['\x05SummaryInformation', 'WordDocument']), 'doc')).to.equal('fine');
    expect(await judge(makeCompound(['Book']), 'xls')).to.equal('fine');
    expect(await judge(makeCompound(['WORKBOOK']), 'xls')).to.equal('fine');
    for (const input of ['doc', 'xls', 'ppt', 'docx', 'xlsx', 'pptx'] as const) {
      expect(await judge(makeCompound(['\x05SummaryInformation', '!_StringData']), input), `an installer as ${input}`).to.equal('not_what_it_claims');
    }
  });

  it('asks for the password of an encrypted document, unless one was given (D38)', async () => {
    const encrypted = makeCompound(['EncryptionInfo', 'EncryptedPackage']);
    for (const input of ['docx', 'xlsx', 'pptx'] as const) {
      expect(await judge(encrypted, input)).to.equal('password_required');
      expect(await judge(encrypted, input, true)).to.equal('fine');
    }
    expect(await judge(encrypted, 'doc')).to.equal('not_what_it_claims');
    const members = [odf('text'), { name: 'META-INF/manifest.xml', data: '<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>' }];
    expect(await judge(makeZip(members), 'odt')).to.equal('password_required');
    expect(await judge(makeZip(members), 'odt', true)).to.equal('fine');
  });

  it('says of slides and documents of Apple that are encrypted that no password can be given for them (D38)', async () => {
    for (const hasPassword of [false, true]) {
      expect(await judge('PasswordProtected.ppt', 'ppt', hasPassword)).to.equal('cannot_be_unlocked');
      expect(await judgeZip([{ name: 'index.xml', data: '<sl:document/>' }, { name: '.iwpv2', data: 'x' }, { name: 'Index/Document.iwa', data: 'x' }], 'pages')).to.equal('cannot_be_unlocked');
    }
    for (const honest of ['ppt.ppt', 'slides.ppt']) expect(await judge(honest, 'ppt'), honest).to.equal('fine');
  });

  it('ends on directories that lead in circles or out of the file', async () => {
    const circle = makeCompound(['WordDocument', 'b', 'c']);
    circle.writeUInt32LE(1, 512 + 4);
    expect(await judge(circle, 'doc')).to.equal('fine');
    const tree = makeCompound(['a', 'b', 'c']);
    tree.writeUInt32LE(1, 1024 + 3 * 128 + 72);
    expect(await judge(tree, 'doc')).to.equal('not_what_it_claims');
    const out = makeCompound(['WordDocument']);
    out.writeUInt32LE(0x00ffffff, 48);
    expect(await judge(out, 'doc')).to.equal('damaged');
    expect(await judge(makeCompound(['WordDocument']).subarray(0, 700), 'doc')).to.equal('damaged');
    const lists = makeCompound(['WordDocument']);
    lists.writeUInt32LE(0, 68);
    lists.fill(0, 512, 1024);
    expect(await judge(lists, 'doc')).to.equal('damaged');
  });
});

/** A workbook whose cells, one a row, all show the one shared text of that length. */
function sharedText(rows: number, length: number, cell = 't="s"'): Promise<FailureCause | 'fine'> {
  const cells = Array.from({ length: rows }, (_, row) => `<row r="${row + 1}"><c r="A${row + 1}" ${cell}><v>0</v></c></row>`).join('');
  const texts: MemberSpec = { name: 'xl/anything.xml', data: `<?xml version="1.0"?><x:sst xmlns:x="y"><x:si><x:t>${'x'.repeat(length)}</x:t></x:si></x:sst>` };
  return judgeZip([contentTypes('xlsx'), texts, sheet(1, 'A1', cells)], 'xlsx');
}

/** A workbook that repeats one cell over rows and columns. */
function repeatedText(rows: number, columns: number, text: string): Promise<FailureCause | 'fine'> {
  const filled = text === '' ? '/>' : ` office:value-type="string"><text:p>${text}</text:p></table:table-cell>`;
  const row = `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated='${columns}'${filled}</table:table-row>`;
  return judgeZip([odf('spreadsheet'), { name: 'content.xml', data: `<office:document-content><table:table>${row}<table:table-row><table:table-cell office:value-type="float"/></table:table-row></table:table></office:document-content>` }], 'ods');
}

describe('archives that harm whoever unpacks them', () => {
  it('are let through when they are honest, white pictures and equal rows among them', async () => {
    expect(await judgeZip(HONEST)).to.equal('fine');
    expect(await judgeZip([...HONEST, { name: 'word/media/white.bmp', data: Buffer.alloc(30 * MIB, 255) }])).to.equal('fine');
  });

  it('unpack to too much: in one member, in all, or by far too many members', async () => {
    expect(await judgeZip([...HONEST, zeros(100)])).to.equal('unpacks_too_large');
    expect(await judgeZip([...HONEST, ...Array.from({ length: 3 }, (_, index) => ({ ...zeros(30), name: `${index}` }))])).to.equal('unpacks_too_large');
    const random = Buffer.alloc(6 * MIB, 'not so easy to pack');
    expect(await judgeZip([...HONEST, { name: 'lie', data: random, stored: true, unpackedBytes: 400 * MIB }])).to.equal('damaged');
    expect(await judgeZip([...HONEST, { name: 'big', data: random, unpackedBytes: 1100 * MIB }])).to.equal('unpacks_too_large');
    expect(await judgeZip([...HONEST, ...Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}` }))])).to.equal('unpacks_too_large');
  });

  it('share bytes, or say the same name twice', async () => {
    expect(await judgeZip([...HONEST, { name: 'one', data: 'data' }, { name: 'two', offset: 0 }])).to.equal('damaged');
    expect(await judgeZip([...HONEST, { name: 'one', data: 'data' }, { name: 'one', data: 'other' }])).to.equal('damaged');
    expect(await judgeZip([...HONEST, { name: 'far', offset: 0x7fffffff }])).to.equal('damaged');
  });

  it('lead out of their folder, are links, or encrypted', async () => {
    for (const name of ['../out', '/etc/passwd', 'a/../../out', 'C:/out', 'a\\..\\out']) expect(await judgeZip([...HONEST, { name, data: 'x' }]), name).to.equal('damaged');
    expect(await judgeZip([...HONEST, { name: 'link', data: '/etc/passwd', attributes: (0o120777 << 16) >>> 0 }])).to.equal('damaged');
    expect(await judgeZip([...HONEST, { name: 'secret', data: 'x', flags: 1 }])).to.equal('damaged');
  });

  it('declare entities in their markup, in any encoding, while a public document type of an epub is fine', async () => {
    const bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>';
    expect(await judgeZip([contentTypes('docx'), { name: 'word/document.xml', data: bomb }])).to.equal('unsupported_feature');
    expect(await judgeZip([contentTypes('docx'), { name: 'word/document.xml', data: Buffer.from(`\uFEFF${bomb}`, 'utf16le') }])).to.equal('unsupported_feature');
    expect(await judgeZip([odf('text'), { name: 'content.xml', data: bomb }], 'odt')).to.equal('unsupported_feature');
    const epub: MemberSpec = { name: 'mimetype', data: 'application/epub+zip', stored: true };
    expect(await judgeZip([epub, { name: 'a.xhtml', data: bomb }], 'epub')).to.equal('unsupported_feature');
    expect(await judgeZip([epub, { name: 'a.xhtml', data: '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><html/>' }], 'epub')).to.equal('fine');
  });

  it('use more cells than anybody can read, on one sheet or on all together', async () => {
    const last = '<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row>';
    expect(await judgeZip([contentTypes('xlsx'), sheet(1, 'A1:XFD1048576', ' '.repeat(300_000) + last)], 'xlsx')).to.equal('too_many_cells');
    expect(await judgeZip([contentTypes('xlsx'), sheet(1, 'A1:C1000000'), sheet(2, 'A1:C1000000')], 'xlsx')).to.equal('too_many_cells');
    expect(await judgeZip([contentTypes('xlsx'), sheet(1, 'A1:D1000000'), sheet(2, 'A1')], 'xlsx')).to.equal('fine');
  });

  it('show one long text in so many cells that nobody could write them all, whatever they say of their size', async () => {
    expect(await sharedText(10_000, 30_000)).to.equal('too_much_text');
    expect(await sharedText(10_000, 30_000, "t='s' s=\"3\"")).to.equal('too_much_text');
    expect(await sharedText(10_000, 1_000)).to.equal('fine');
    expect(await sharedText(10_000, 30_000, 't="n"'), 'numbers').to.equal('fine');
  });

  it('repeat one row or cell of an ods, while rows that are empty to the end of a sheet are fine', async () => {
    expect(await repeatedText(1_048_576, 1_024, 'x')).to.equal('too_many_cells');
    expect(await repeatedText(100_000, 10, 'x'.repeat(2_000))).to.equal('too_much_text');
    expect(await repeatedText(1_048_576, 16_384, '')).to.equal('fine');
    expect(await repeatedText(1_000, 10, 'x'.repeat(2_000))).to.equal('fine');
  });

  it('do not, where whole columns have a style and no values', async () => {
    const styled = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" s="3"/></row>';
    expect(await judgeZip([contentTypes('xlsx'), sheet(1, 'A1:XFD1048576', styled)], 'xlsx')).to.equal('fine');
  });
});

describe('sound behind a tag that is longer than the first bytes', () => {

  it('is looked for in the whole file', async () => {
    expect(await judge(Buffer.concat([LONG_TAG, FRAME, FRAME]), 'mp3')).to.equal('fine');
    expect(await judge(Buffer.concat([LONG_TAG, FRAME, FRAME]), 'aac')).to.equal('not_what_it_claims');
    expect(await judge(Buffer.concat([LONG_TAG, Buffer.from('fLaC')]), 'flac')).to.equal('fine');
    expect(await judge(Buffer.concat([LONG_TAG, Buffer.from('#EXTM3U\nfile:///etc/passwd\n')]), 'mp3')).to.equal('not_what_it_claims');
    expect(await judge(LONG_TAG, 'mp3')).to.equal('damaged');
  });
});
