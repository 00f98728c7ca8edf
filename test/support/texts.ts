import { createOfficeEngine } from '../../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../services/converter/engines/pdf/engine.ts';
import type { Engine } from '../../services/converter/engines/engine.ts';
import type { FormatName } from '../../shared/domain/catalogue/formats.ts';
import { convertIn } from '../contract/engine/suite.ts';
import { createSandbox, type Sandbox } from '../../services/converter/sandbox/sandbox.ts';

/** What converts texts in tests: the office engine, with one instance at a time. */
export interface Texts {
  readonly engine: Engine;
  readonly sandbox: Sandbox;
  /** Converts a fixture (by name) or bytes; gives the bytes of the result. */
  convert(source: string | Buffer, input: FormatName, output: FormatName, options?: Readonly<Record<string, unknown>>): Promise<Buffer>;
  stop(): Promise<void>;
}

/** Opens the office engine; its instances are kept from one document to the next, which all belong to one organization. */
export async function openTexts(): Promise<Texts> {
  const sandbox = await createSandbox({ mode: 'require' });
  const pool = createOfficePool({ slots: 1, isolation: 'shared' });
  const engine = createOfficeEngine(pool, createPdfEngine(pool));
  return {
    engine,
    sandbox,
    convert: async (source, input, output, options = {}) => (await convertIn(sandbox, engine, { source, input, output, options })).bytes,
    stop: () => engine.stop(),
  };
}
