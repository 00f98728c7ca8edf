import { createOfficeEngine } from '../../../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

describeGate('office', () => createOfficeEngine(createOfficePool({ slots: 2, isolation: 'strict' }), createPdfEngine()));
