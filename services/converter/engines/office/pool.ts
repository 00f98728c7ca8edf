import { TransientError } from '../../../../shared/errors/errors.ts';
import type { JobDir } from '../../sandbox/command.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ConversionContext } from '../engine.ts';
import { convertWith } from './convert-with.ts';
import { COMPONENT_FILTERS } from './filters.ts';
import { findInstallation } from './installation.ts';
import { startInstance, type Instance } from './instance.ts';
import { InstanceKeeper } from './keeper.ts';
import type { Isolation } from './kept.ts';
import type { FilterData, PageNumbers, PageStyle } from './protocol.ts';

/** One document for LibreOffice. All names of files are ours and lie in the job's folder. */
export interface OfficeTask {
  /** Whose file it is: no instance sees files of two organizations. */
  readonly organizationId: string;
  readonly job: JobDir;
  readonly source: string;
  readonly result: string;
  /** Always given: what the suite guesses by itself, a hostile file decides. */
  readonly importFilter: string;
  readonly importOptions?: string;
  /** To open the source with. */
  readonly password?: string;
  readonly exportFilter: string;
  /** Write only this sheet of a spreadsheet, counted from 1; `exportOptions` name it, too. */
  readonly sheet?: number;
  readonly exportOptions?: string;
  readonly exportData?: FilterData;
  /** Protects the result, where the format can. */
  readonly resultPassword?: string;
  /** What every page of a text or spreadsheet is to be like. */
  readonly pageStyle?: PageStyle;
  /** Whether a document of more than ten thousand pages fails with `too_many_pages`; right where pages are drawn. */
  readonly countPages?: boolean;
  /** Write only these pages of a PDF; a range that begins behind the last page fails with `page_not_found`. */
  readonly pageRanges?: readonly PageNumbers[];
}

/** LibreOffice, running and ready. */
export interface OfficePool {
  /**
   * Converts one document; waits for an instance first, which counts neither as billable time nor against the limit.
   * @returns wall time of the conversion itself (D27), milliseconds
   * @throws EngineFailure with a cause that lies with the file; EngineKilled when somebody ended the suite; TransientError
   * when none can be started; the reason of the signal.
   */
  convert(task: OfficeTask, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<{ readonly billableMs: number }>;
  /** The suite that converted last; undefined before. */
  suite(): Pick<Instance, 'version' | 'missingFilters'> | undefined;
  /** Ends all instances. */
  stop(): Promise<void>;
}

/** How many documents are converted at once, and what instances share. */
export interface OfficePoolSettings {
  /** `CONVERTER_OFFICE_SLOTS`. */
  readonly slots: number;
  /** `CONVERTER_ISOLATION`. */
  readonly isolation: Isolation;
}

/** Makes the pool; instances are started when the first document comes, which is the one of the probe. */
export function createOfficePool({ slots, isolation }: OfficePoolSettings): OfficePool {
  let keeper: InstanceKeeper | undefined;
  let suite: Instance | undefined;
  const open = (sandbox: Sandbox): InstanceKeeper => new InstanceKeeper({ slots, isolation, start: (signal, warmUp) => start(sandbox, warmUp, signal) });
  return {
    convert: async (task, context) => {
      keeper ??= open(context.sandbox);
      const lease = await keeper.acquire(task.organizationId, context.signal);
      let memoryBytes: number | undefined;
      try {
        const converted = await convertWith(lease.instance, task, context, isolation);
        memoryBytes = converted.memoryBytes;
        suite = lease.instance;
        return { billableMs: converted.billableMs };
      } finally {
        lease.release(memoryBytes);
      }
    },
    suite: () => suite,
    stop: async () => {
      await keeper?.stop();
    },
  };
}

async function start(sandbox: Sandbox, warmUp: boolean, signal: AbortSignal): Promise<Instance | undefined> {
  const installation = findInstallation();
  if (installation === undefined) throw new TransientError('storage', 'LibreOffice is not installed');
  return startInstance(sandbox, installation, { filters: COMPONENT_FILTERS, warmUp }, signal);
}
