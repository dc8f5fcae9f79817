import type { AgentRef } from '../../protocol/agent-ref.js';
import type {
  AnswerScope,
  PermissionMode,
  PermissionUpdate,
  Receipt,
  TraceStep,
} from '../../protocol/permissions.js';
import type { AnyTool, ToolSubject, TouchedPath, Workspace } from '../../tools/tool.js';
import type { ShellReading } from '../shell/model.js';
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
  /** No person is asked about it: what is still open is refused. */
  readonly unattended?: boolean;
  /** The input that a person typed as this call: it runs without a question unless a guard holds it. */
  readonly typed?: Readonly<Record<string, unknown>> | undefined;
}

/** A call with its final input, and what was found out about it on the way. */
export interface JudgedCall {
  readonly call: GateCall;
  /** The files that the input names; undefined until they are resolved. */
  pathsFound(): readonly TouchedPath[] | undefined;
  /** Undefined for tools that run no shell code. */
  shell(): Promise<ShellReading | undefined>;
}

/** What hooks have to say besides their decision. */
export interface HookContext {
  /** For the model, one text a hook, each saying whose it is. */
  readonly contexts?: readonly string[];
  /** For the agent that the call starts. */
  readonly agentContext?: string;
}

export type GateVerdict =
  | (HookContext & {
      readonly kind: 'allowed';
      readonly permit: Permit;
      readonly input: Readonly<Record<string, unknown>>;
      readonly receipt: Receipt;
      readonly judged: JudgedCall;
    })
  | {
      readonly kind: 'refused';
      readonly receipt: Receipt;
      /** What the model is told. */
      readonly message: string;
      /** Stands for the reason of the receipt wherever a model reads it: that one quotes what it must not be shown. */
      readonly reasonForModel?: string;
      /** Ends the turn as an interruption does. */
      readonly interrupt: boolean;
      /** A hook ended the turn, and why. */
      readonly stop?: string;
      /** The rule that would have let it through, ready to paste. */
      readonly suggestion?: string;
      /** As for allowed calls. */
      readonly contexts?: readonly string[];
      /** A hook put the call off: it is neither allowed nor denied for good. */
      readonly deferred?: true;
      /** The call needed a yes, and no person or hook was there to give it. */
      readonly unanswered?: true;
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
  /** The guard that asks; absent when nothing allows the call and nothing holds it. */
  readonly heldBy?: string;
  /** The call runs as its text, if at all: a hook's yes does not open it. */
  readonly forPerson?: boolean;
  /** The ask rule that it goes by. */
  readonly rule?: { readonly text: string; readonly source: string };
  /** The rules that wider answers stand for; absent where no rule would open the call. */
  readonly suggestions?: Suggestions;
  /** Set where the question also waits in the inbox: its id there, and when it expires. */
  readonly question?: { readonly id: string; readonly expiresAt: number };
}

/** Rules that would let a call through next time, narrowest first; each absent where none is sensible. */
export interface Suggestions {
  readonly exact?: string;
  readonly prefix?: string;
  readonly tool?: string;
}

/** Who decided, where it was not the person or callback that the asker stands for. */
interface AnsweredBy {
  readonly by?: string;
  /** A hook decided: shell code runs in its canonical form, as if a rule had allowed it. */
  readonly byHook?: true;
  /** What others who were asked said, for the receipt. */
  readonly trace?: readonly TraceStep[];
}

export type AskAnswer = AnsweredBy &
  (
    | {
        readonly behavior: 'allow';
        readonly updatedInput?: Readonly<Record<string, unknown>>;
        /** Absent: this call alone. */
        readonly scope?: AnswerScope;
        /** Applied before the call runs. */
        readonly updatedPermissions?: readonly PermissionUpdate[];
      }
    | {
        readonly behavior: 'deny';
        readonly message: string;
        readonly interrupt?: boolean;
        /** The turn ends without an interruption, and why. */
        readonly stop?: string;
        /** No person answered; the message says who was asked. */
        readonly unanswered?: true;
      }
  );

/** Answers questions. Absent when there is no person or hook to ask, which means no. */
export type Asker = (request: AskRequest) => Promise<AskAnswer>;
