import type { ToolResultBlock } from './content.js';

/** A tool input that did not arrive whole or is not JSON. */
export interface MalformedInput {
  readonly raw: string;
  readonly cause: 'output_limit' | 'cut_stream' | 'invalid_json' | 'not_an_object';
}

/** A finished tool call. */
export interface ToolCallResult {
  readonly block: ToolResultBlock;
  readonly uuid: string;
  /** `tool_use_result` on the wire. */
  readonly structured?: unknown;
  /** The call ends the run (structured output). */
  readonly finish?: { readonly structuredOutput: unknown };
  /** A person answered "no, and stop". */
  readonly interrupt?: boolean;
  /** A hook ended the turn, and why. */
  readonly stop?: string;
  /** What hooks said for the model; shown after the results of the step. */
  readonly contexts?: readonly string[];
  /** Texts added to the conversation after the results of the step: the body of a skill. */
  readonly followUp?: readonly string[];
  /** A hook put the call off: where a run may end for that, it has no result yet. */
  readonly deferred?: boolean;
}
