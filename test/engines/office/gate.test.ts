import { createOfficeEngine } from '../../../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

const pool = createOfficePool({ slots: 2, isolation: 'strict' });

describeGate('office', () => createOfficeEngine(pool, createPdfEngine(pool)));
