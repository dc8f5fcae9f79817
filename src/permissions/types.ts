import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode, Receipt, TraceStep } from '../protocol/permissions.js';
import type { AnyTool, ToolSubject, Workspace } from '../tools/tool.js';
import type { Permit } from './permit.js';

/** One tool call on its way to the gate: name resolved, input valid. */
export interface GateCall {
  readonly toolUseId: string;
  readonly tool: AnyTool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly subject: ToolSubject;
  readonly agent: AgentRef;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export type GateVerdict =
  | {
      readonly kind: 'allowed';
      readonly permit: Permit;
      readonly input: Readonly<Record<string, unknown>>;
      readonly receipt: Receipt;
    }
  | {
      readonly kind: 'refused';
      readonly receipt: Receipt;
      /** What the model is told. */
      readonly message: string;
      /** Ends the turn as an interruption does. */
      readonly interrupt: boolean;
      /** The rule that would have let it through, ready to paste. */
      readonly suggestion?: string;
    };

/** The one function every tool call passes. */
export type Gate = (call: GateCall) => Promise<GateVerdict>;

/** A question for a person or callback: everything else left the call open. */
export interface AskRequest {
  readonly call: GateCall;
  readonly mode: PermissionMode;
  readonly trace: readonly TraceStep[];
  readonly reason: string;
  readonly suggestion?: string;
  readonly blockedPath?: string;
}

export type AskAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** Answers asks. Absent when nobody is there, which means no. */
export type Asker = (request: AskRequest) => Promise<AskAnswer>;
