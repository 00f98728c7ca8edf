import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

describeGate('image', createImageEngine);
