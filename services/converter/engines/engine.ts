import type { FormatName, Pair } from '../../../shared/domain/formats.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { JobDir } from '../sandbox/command.ts';

/** What an engine is asked to do. The source lies in the job's folder under `source`, a name of ours. */
export interface ConversionRequest {
  readonly job: JobDir;
  /** Name of the source inside the job's folder. */
  readonly source: string;
  readonly input: FormatName;
  readonly output: FormatName;
  /** Options that `parseOptions` let through. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Where and how long a conversion may run. */
export interface ConversionContext {
  readonly sandbox: Sandbox;
  /** Aborting it kills the conversion; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Wall-clock time for all of it, milliseconds. */
  readonly timeLimitMs: number;
}

/** A finished conversion. The file is a plain file, not empty, and of the promised format: that was checked. */
export interface ConversionResult {
  /** Absolute path, in the job's folder. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Wall time of the conversion itself, without the start of its process (D27), milliseconds. */
  readonly billableMs: number;
}

/** What an engine says about itself. */
export type EngineState =
  | { readonly available: true; readonly version: string }
  | { readonly available: false; readonly reason: string };

/** A family of conversions. Each runs in processes of its own, inside the sandbox; the worker only starts and ends them. */
export interface Engine {
  readonly name: string;
  readonly pairs: readonly Pair[];
  /** Starts the engine once to see whether it works here; never rejects. */
  probe(sandbox: Sandbox): Promise<EngineState>;
  /**
   * Converts one file.
   * @throws EngineFailure when it cannot be done, with a cause that a person can act on; EngineKilled when somebody else
   * ended its process.
   */
  convert(request: ConversionRequest, context: ConversionContext): Promise<ConversionResult>;
}
