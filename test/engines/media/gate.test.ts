import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../../../services/converter/engines/media/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

describeGate('media', () => createMediaEngine(createImageEngine()));
