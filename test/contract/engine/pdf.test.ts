import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { imageSize } from 'image-size';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { members } from '../../engines/readers/words.ts';
import { describeEngine } from './suite.ts';

/** A4 at 150 dots per inch. */
const A4_PIXELS = { width: 1241, height: 1755 };

/** Where office files keep their texts. */
const PARTS = /^content\.xml$|^word\/document\.xml$|^xl\/sharedStrings\.xml$|^ppt\/slides\/slide1\.xml$/;

/** What a-text.pdf says on its first page. */
const WORDS = /from LibreOffice Writer/;

describe('the pdf engine', function () {
  this.timeout(60_000);
  const office = createOfficePool({ slots: 1, isolation: 'shared' });
  after(() => office.stop());
  describeEngine({
    engine: createPdfEngine(office),
    samples: { pdf: 'a-text.pdf' },
    impostor: 'debian.png',
    verify: ({ bytes }, { output }) => {
      switch (output) {
        case 'docx':
        case 'odp':
        case 'ods':
        case 'odt':
        case 'pptx':
        case 'xlsx':
          return void expect(members(bytes, PARTS).join('\n')).to.match(WORDS);
        case 'html':
        case 'md':
        case 'rtf':
        case 'txt':
          return void expect(bytes.toString('utf8')).to.match(WORDS);
        case 'svg':
          return void expect(bytes.toString('utf8')).to.match(/<(path|use)\b/);
        case 'pdf':
          return void expect(execFileSync('pdftotext', ['-', '-'], { input: bytes }).toString()).to.match(WORDS);
        case 'zip':
          return void expect(Object.entries(unzipSync(bytes)).map(([name, picture]) => [name, imageSize(picture).width])).to.deep.equal([['page-001.png', 1241], ['page-002.png', 1241]]);
        default: {
          const { width, height } = imageSize(bytes);
          expect(width).to.be.closeTo(A4_PIXELS.width, 1);
          expect(height).to.be.closeTo(A4_PIXELS.height, 1);
        }
      }
    },
  });
});
