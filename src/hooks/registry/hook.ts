import type { SettingSource } from '../../lib/sourced.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { HookKind, HookRole } from '../../protocol/hooks/hook-event-facts.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { HandlerSettings } from '../../protocol/settings/settings-hooks.schema.js';

type Fields = Readonly<Record<string, unknown>>;

/** A checked handler of a kind; `Hook` holds its limits. */
type Declared<Type extends HandlerSettings['type']> =
  Omit<Extract<HandlerSettings, { type: Type }>, 'timeout' | 'onFailure'> extends infer T
    ? { readonly [K in keyof T]: T[K] extends (infer I)[] | undefined ? readonly I[] : T[K] }
    : never;

export type CommandHandler = Declared<'command'> & {
  /** Of a plugin: its directories, set by its loader and never by the file. */
  readonly plugin?: PluginDirectories;
};
export type HttpHandler = Declared<'http'>;
export type McpToolHandler = Declared<'mcp_tool'>;
export type PromptHandler = Declared<'prompt'>;
export type AgentHandler = Declared<'agent'>;

/** What `CLAUDE_PLUGIN_ROOT` and `CLAUDE_PLUGIN_DATA` are for a plugin's programs. */
export interface PluginDirectories {
  readonly root: string;
  readonly data: string;
}

/** A function of the host, asked over its channel. */
export type CallbackHandler = Pick<AgentHandler, 'if' | 'once' | 'name' | 'statusMessage'> & {
  readonly type: 'callback';
  readonly id: string;
};

export type HookHandler =
  | CommandHandler
  | HttpHandler
  | McpToolHandler
  | PromptHandler
  | AgentHandler
  | CallbackHandler;

/** One hook in force: a handler, the event it is for, and whose calls it is about. Frozen. */
export interface Hook<H extends HookHandler = HookHandler> {
  /** Unique within a snapshot; the same hook has the same id in the next one. */
  readonly id: string;
  readonly event: HookEventName;
  readonly role: HookRole;
  /** As written; absent: everything. */
  readonly matcher?: string;
  /** Pattern over agent paths or types (`main`, `main/*`, `reviewer`); absent: every agent. */
  readonly agents?: string;
  readonly handler: H;
  readonly source: SettingSource;
  readonly file?: string;
  readonly line?: number;
  readonly timeoutMs: number;
  /** `block`: no verdict is a no. `continue`: it counts as no opinion, and is told. */
  readonly onFailure: 'block' | 'continue';
  /** `onFailure: "block"` or `portcullis.hookFailure: "strict"`: even exit code 1 is a failure. */
  readonly strict?: boolean;
  /** Its yes counts for nothing, because an administrator reserves grants. */
  readonly restrictOnly?: boolean;
  /** For people and receipts: what it runs, with file and line. */
  readonly label: string;
}

/** Why a hook gave no verdict. Each is told apart in receipts. */
export const HOOK_FAILURES = [
  'timeout',
  'signal',
  'cannot-start',
  'exit-code',
  'broken-output',
  'wrong-event',
  'invalid-output',
  'http',
  'no-verdict',
  'threw',
  'unavailable',
] as const;
export type HookFailureCause = (typeof HOOK_FAILURES)[number];

export interface HookFailure {
  readonly cause: HookFailureCause;
  /** One line: what went wrong, with the limit where there was one. */
  readonly message: string;
  /** What a person can do about it, as a sentence. */
  readonly remedy?: string;
  /** In place of message and remedy, when both have been told in this session. */
  readonly repeated?: string;
}

/** What came out of running a hook, not yet read. */
export type HookRaw =
  | {
      readonly kind: 'process';
      /** Null when a signal ended it. */
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly stdout: string;
      readonly stderr: string;
      /** Standard output was longer than what is kept, so what is here is not all. */
      readonly cut?: boolean;
    }
  /** An answer as a value: of a callback, a persistent process, an HTTP body, an MCP tool. */
  | { readonly kind: 'value'; readonly value: unknown }
  /** Text of an MCP tool: read like the standard output of a process that ended with 0. */
  | { readonly kind: 'text'; readonly text: string }
  /** What a model decided. */
  | {
      readonly kind: 'verdict';
      readonly ok: boolean;
      readonly reason?: string;
      readonly impossible?: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly failure: HookFailure;
      /** What it had put out until then. No answer; but it may show what the hook was for. */
      readonly printed?: string;
    };

/** What a hook is asked. */
export interface HookRequest {
  /** The whole input: common fields, those of the event, the agent. */
  readonly input: Fields;
  /** The same as text, made once for all hooks of the event. */
  readonly json: string;
  readonly cwd: string;
  /** Aborts at the deadline, and when the answer is no longer needed. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly toolUseId?: string;
  /** The agent that it is about. */
  readonly agent: AgentRef;
  /** Where command hooks may leave variables, for events that take them. */
  readonly envFile?: string;
}

/** Runs a hook of one kind. Never throws; `signal` and deadline are its own business to honour. */
export type HookRunner<H extends HookHandler = HookHandler> = (
  hook: Hook<H>,
  request: HookRequest,
) => Promise<HookRaw>;

/** One runner per kind. */
export type HookRunners = {
  readonly [H in HookHandler as H['type']]: HookRunner<H>;
};

/** What a hook said, whatever its kind, read and checked. Reason, stop, message and context are never blank. */
export interface HookAnswer {
  /** `deny` is also what "block" and exit code 2 say. */
  readonly decision: 'none' | 'allow' | 'ask' | 'defer' | 'deny';
  readonly reason?: string;
  /** `continue: false`: the turn is to end, and why. */
  readonly stop?: string;
  /** For the person, never for the model. */
  readonly systemMessage?: string;
  /** For the model. */
  readonly context?: string;
  /** The checked fields of the event's own output: `updatedInput`, `watchPaths`, `decision` … */
  readonly fields: Fields;
  /** Standard output that was no JSON. */
  readonly text?: string;
  /** It goes on by itself; what it says now is not its answer. Milliseconds it may take. */
  readonly asyncMs?: number;
  /** A no of a model that ends the turn as well (`continueOnBlock` is not set). */
  readonly endsTurn?: boolean;
  /** The model says that what is asked for cannot be reached (Stop). */
  readonly impossible?: boolean;
}

export const NO_ANSWER: HookAnswer = Object.freeze({ decision: 'none', fields: Object.freeze({}) });

/** One hook and what became of it. */
export interface HookReport {
  readonly hook: Hook;
  readonly ms: number;
  /** `NO_ANSWER` when it failed. */
  readonly answer: HookAnswer;
  /** Set when it gave no verdict. */
  readonly failure?: HookFailure;
  /** Its failure refuses: a gate without `onFailure: "continue"`. */
  readonly refuses?: boolean;
  /** It ended with an error that does not block by itself: the last lines of what it printed. */
  readonly complaint?: string;
  /** It meant to put another output in the place of a tool's, and no replacement came of it. */
  readonly redacts?: boolean;
  /** Its answer was no longer needed. */
  readonly cancelled?: boolean;
  readonly exitCode?: number | null;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What was read of a hook's answer: the part of its report that the answer decides. */
export type ReadAnswer = Pick<HookReport, 'answer' | 'failure' | 'complaint' | 'redacts'>;

export function noAnswer(failure: HookFailure): ReadAnswer {
  return { answer: NO_ANSWER, failure };
}

/** Something happened that hooks may have been registered for. */
export interface Occasion {
  readonly agent: AgentRef;
  readonly cwd: string;
  /** Only for events that carry it. */
  readonly mode?: PermissionMode;
  /** What matchers are compared with: a tool's names, a source, a trigger. Empty: matches everything. */
  readonly matched: readonly string[];
  /** The event's own input fields. */
  readonly fields: Fields;
  readonly signal: AbortSignal;
  readonly toolUseId?: string;
  /** Ids of hooks that are not asked: they have said what they have to say. */
  readonly except?: readonly string[];
  /** Whether an `if` rule fits the call; absent for events that are about no call. */
  fits?(rule: string): Promise<boolean>;
}

/** What all hooks of an event said, in the order in which they are declared. */
export interface HookRound {
  readonly reports: readonly HookReport[];
}

export const NO_ROUND: HookRound = Object.freeze({ reports: Object.freeze([]) as readonly [] });

/** Which hooks there are, and the way to ask them. */
export interface HookDispatch {
  /** Whether some hook may have to be asked. Cheap: nothing is loaded and nothing is read. */
  has(event: HookEventName, occasion: Pick<Occasion, 'agent' | 'matched'>): boolean;
  /** Asks all that match, at once. Never throws. */
  fire(event: HookEventName, occasion: Occasion): Promise<HookRound>;
}

export type { HookEventName, HookKind, HookRole };
