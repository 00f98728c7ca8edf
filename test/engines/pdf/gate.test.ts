import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

describeGate('pdf', createPdfEngine);
