import { MemoryDataKeys } from '../../../shared/privacy/memory-data-keys.ts';
import { describeDataKeys } from './data-keys-contract.ts';

const keys = new MemoryDataKeys();
describeDataKeys('memory', () => keys);
