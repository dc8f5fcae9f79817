import type { SettingNode, SettingTable } from '../settings/setting-node.js';

/**
 * What an event's hooks can do. `gate`: their failure refuses. `block`: they may hold things up, but
 * their failure lets them pass. `observe`: they only watch.
 */
export type HookRole = 'gate' | 'block' | 'observe';

export const HOOK_KINDS = ['command', 'http', 'mcp_tool', 'prompt', 'agent'] as const;
/** What runs a hook of a settings file; hosts register callbacks besides. */
export type HookKind = (typeof HOOK_KINDS)[number];

/** What the program knows of an event; generated from its definition. */
export interface HookEventFacts {
  readonly role: HookRole;
  /** What a matcher is compared with. */
  readonly matches: 'tool' | 'value' | 'nothing';
  /** The input field that holds it. */
  readonly matcherField?: string;
  /** Kinds of handlers that the event takes. */
  readonly kinds: readonly HookKind[];
  /** Plain text on standard output is shown to the model. */
  readonly textIsContext?: true;
  /** Its command hooks may leave variables for later shell commands in `CLAUDE_ENV_FILE`. */
  readonly setsEnvironment?: true;
  /** Milliseconds for command, http and MCP hooks that name no limit. Absent: `HOOK_TIMEOUTS`. */
  readonly timeoutMs?: number;
  /** A failing hook never blocks, not even by exit code 2: an agent that cannot end would run for ever. */
  readonly failureNeverBlocks?: true;
  /** A model's no ends the turn: `always`, or only of a prompt hook without `continueOnBlock`. */
  readonly noEndsTurn?: 'always' | 'prompt';
  /** A model may say that what it asks for cannot be reached. */
  readonly takesImpossible?: true;
  /** Its hooks may put another output in the place of a tool's. */
  readonly replacesOutput?: true;
}

/** Milliseconds by kind, for hooks and events that name no limit. */
export const HOOK_TIMEOUTS: Readonly<Record<HookKind, number>> = {
  command: 600_000,
  http: 600_000,
  mcp_tool: 600_000,
  prompt: 30_000,
  agent: 60_000,
};

/** A hook of SessionEnd that names a limit itself gets no more than this. */
export const LONGEST_SESSION_END_MS = 60_000;

/** What a hook may answer at one event; generated from its definition. */
export interface EventOutput {
  /** Top-level fields of this event alone. */
  readonly top?: SettingTable;
  /** Fields of `hookSpecificOutput`, beside the name of the event. */
  readonly own: Extract<SettingNode, { type: 'object' }>;
}
