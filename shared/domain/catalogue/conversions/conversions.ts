import type { FormatName } from '../formats.ts';
import type { EngineName, ToolName } from '../tools.ts';

/** Which engine turns what into what: each input of a row into each of its outputs. */
export interface Conversions {
  readonly engine: EngineName;
  /** Everything that these conversions need; the first is the one whose version stands in the log. */
  readonly tools: readonly [ToolName, ...ToolName[]];
  readonly inputs: readonly FormatName[];
  readonly outputs: readonly FormatName[];
  /** Whether a format is also converted to itself, because people resize and recompress (D22). Default false. */
  readonly toItself?: boolean;
  /** True where no faithful result can be promised; `/operations` says so. */
  readonly bestEffort?: boolean;
}
