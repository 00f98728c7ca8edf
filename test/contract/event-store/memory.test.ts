import { createMemoryStore } from '../../../shared/store/memory.ts';
import { describeEventStore } from './suite.ts';

describe('event store in memory', () => {
  const store = createMemoryStore();
  describeEventStore(() => store);
});
