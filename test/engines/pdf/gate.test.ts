import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { describeGate } from '../gate/describe-gate.ts';

describeGate('pdf', () => {
  const office = createOfficePool({ slots: 1, isolation: 'shared' });
  return { ...createPdfEngine(office), stop: () => office.stop() };
});
