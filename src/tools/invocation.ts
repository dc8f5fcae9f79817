import type { Gate, GateVerdict, JudgedCall } from '../permissions/gate/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';
import type { InvalidInput } from './invalid-input.js';
import type { ToolPool } from './pool.js';
import type { AnyTool, ToolContext, ToolOutput, Workspace } from './tool.js';

/** All that the one way in needs of others. */
export interface InvokeDeps {
  readonly pool: ToolPool;
  readonly gate: Gate;
  readonly agent: AgentRef;
  readonly workspace: Workspace;
  /** No person is asked about its calls. */
  readonly unattended?: boolean;
  /** The input that a person typed as this call; absent: a model or a host makes its calls. */
  readonly typed?: Readonly<Record<string, unknown>> | undefined;
  contextFor(call: ToolUseBlock, signal: AbortSignal, judged: JudgedCall): ToolContext;
  /** What the model should know about a tool that it does not have and others do. */
  elsewhere?(name: string): string | undefined;
  /** Told of every verdict, for receipts and the result's list of denials. */
  onVerdict(call: ToolUseBlock, tool: AnyTool, verdict: GateVerdict): void;
  /** Told of a call whose input was broken or invalid; returns a note to add, e.g. about a kept draft. */
  onInvalidInput(invalid: InvalidInput, signal: AbortSignal): Promise<string | undefined>;
  /** Told of a call that was refused; returns what else the model should know. */
  onRefused?(
    call: CheckedCall,
    verdict: GateVerdict,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Awaited before an allowed call runs; a rejection keeps it from running. Resolves to the key by which a second run
   * of the same call is known.
   */
  beforeRun?(starting: StartingCall): Promise<string | undefined>;
  /** Called right before a call runs, to see what it does to files. Never rejects. */
  watch?(starting: StartingCall, context: ToolContext): Promise<CallWatch | undefined>;
  /** Sees every output first, and may replace it. */
  review?(finished: FinishedCall, context: ToolContext): Promise<Reviewed>;
  /** Called after a call has run. */
  onRan(call: ToolUseBlock, tool: AnyTool, output: ToolOutput): void;
  /** Cuts or spills what is too long to show. */
  bound(output: ToolOutput, context: ToolContext): Promise<ToolOutput>;
  /** Milliseconds from an arbitrary start. */
  monotonic(): number;
  uuid(): string;
}

/** A call whose name and input were found to be right. */
export interface CheckedCall {
  readonly call: ToolUseBlock;
  readonly tool: AnyTool;
  readonly input: ToolUseBlock['input'];
}

/** A call that is about to run: `input` is what it runs with. */
export interface StartingCall extends CheckedCall {
  readonly verdict: Extract<GateVerdict, { kind: 'allowed' }>;
}

/** Records what a call changes. */
export interface CallWatch {
  /** It has run. What the model has to know about it comes back. Never rejects. */
  ended(output: ToolOutput): Promise<readonly string[]>;
}

/** A call that ran: `input` is what it ran with. */
export interface FinishedCall extends CheckedCall {
  readonly judged: JudgedCall;
  readonly output: ToolOutput;
  readonly ms: number;
}

export interface Reviewed {
  readonly output: ToolOutput;
  /** For the model, after the result. */
  readonly contexts: readonly string[];
  /** The turn ends with this call, and why. */
  readonly stop?: string;
}

/** Runs one tool call of one agent, whatever it is, and always has a result. */
export type Invoke = (
  call: ToolUseBlock,
  malformed: MalformedInput | undefined,
  signal: AbortSignal,
) => Promise<ToolCallResult>;
