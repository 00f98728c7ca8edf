import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import type { EngineName, ToolName } from '../../../shared/domain/catalogue/tools.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { JobDir } from '../sandbox/command.ts';

/** What an engine is asked to do. The source lies in the job's folder under `source`, a name of ours. */
export interface ConversionRequest {
  readonly job: JobDir;
  /** Whose file it is: nothing that has seen it may ever see a file of somebody else. */
  readonly organizationId: string;
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
  /** Told how far a long conversion is, whole percent from 0 to 99, as often as the engine knows; whoever listens bounds what it does with it. */
  readonly onProgress: (percent: number) => void;
}

/** A finished conversion. The file is a plain file, not empty, and of the promised format: that was checked. */
export interface ConversionResult {
  /** Absolute path, in the job's folder. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Wall time of the conversion itself, without the start of its process (D27), milliseconds. */
  readonly billableMs: number;
}

/** What was found out about one tool at the start. */
export type ToolState =
  | { readonly available: true; readonly version: string }
  /** `reason` is for the operator: what is missing, and which package brings it. */
  | { readonly available: false; readonly reason: string };

/** The tools that an engine brings; conversions may also need those of other engines. */
export type ToolStates = Partial<Readonly<Record<ToolName, ToolState>>>;

/** A family of conversions. Each runs in processes of its own, inside the sandbox; the worker only starts and ends them. */
export interface Engine {
  readonly name: EngineName;
  /** Lets each of its tools convert something small, to see whether it works here; never rejects. */
  probe(sandbox: Sandbox): Promise<ToolStates>;
  /**
   * Converts one file.
   * @throws EngineFailure when it cannot be done, with a cause that a person can act on; EngineKilled when somebody else
   * ended its process.
   */
  convert(request: ConversionRequest, context: ConversionContext): Promise<ConversionResult>;
  /** Ends what it keeps running between conversions. */
  stop(): Promise<void>;
}
