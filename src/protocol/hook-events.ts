import { nearest } from '../lib/nearest.js';
import { own } from '../lib/own.js';
/**
 * What an event's hooks can do. `gate`: their failure refuses. `block`: they may hold things up, but
 * their failure lets them pass. `observe`: they only watch.
 */
export type HookRole = 'gate' | 'block' | 'observe';

export const HOOK_KINDS = ['command', 'http', 'mcp_tool', 'prompt', 'agent'] as const;
/** What runs a hook of a settings file; hosts register callbacks besides. */
export type HookKind = (typeof HOOK_KINDS)[number];

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
  /** What has to be there before it can fire. Absent: it fires in this version. */
  readonly waitsFor?: string;
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

const ALL = HOOK_KINDS;
/** No model is asked. */
const PLAIN: readonly HookKind[] = ['command', 'http', 'mcp_tool'];
/** Before the network may be used. */
const LOCAL: readonly HookKind[] = ['command', 'mcp_tool'];

type More = Partial<Omit<HookEventFacts, 'role' | 'matches' | 'matcherField' | 'kinds'>>;

const row = (role: HookRole, kinds: readonly HookKind[], more: More = {}): HookEventFacts => ({
  role,
  matches: 'nothing',
  kinds,
  ...more,
});
const onTool = (role: HookRole, kinds: readonly HookKind[], more: More = {}): HookEventFacts => ({
  role,
  matches: 'tool',
  matcherField: 'tool_name',
  kinds,
  ...more,
});
const onValue = (
  role: HookRole,
  matcherField: string,
  kinds: readonly HookKind[],
  more: More = {},
): HookEventFacts => ({ role, matches: 'value', matcherField, kinds, ...more });

export const HOOK_EVENTS = {
  SessionStart: onValue('observe', 'source', LOCAL, { textIsContext: true, setsEnvironment: true }),
  Setup: onValue('observe', 'trigger', LOCAL, { textIsContext: true, setsEnvironment: true }),
  InstructionsLoaded: onValue('observe', 'load_reason', PLAIN),
  UserPromptSubmit: row('gate', ALL, { textIsContext: true, timeoutMs: 30_000 }),
  UserPromptExpansion: onValue('gate', 'command_name', ALL, { textIsContext: true }),
  MessageDisplay: row('observe', PLAIN, { timeoutMs: 10_000 }),
  PreToolUse: onTool('gate', ALL),
  PermissionRequest: onTool('gate', ALL),
  PermissionDenied: onTool('observe', ALL),
  PostToolUse: onTool('block', ALL),
  PostToolUseFailure: onTool('block', ALL),
  PostToolBatch: row('block', ALL),
  ToolInputInvalid: onTool('observe', ALL),
  Notification: onValue('observe', 'notification_type', PLAIN),
  SubagentStart: onValue('observe', 'agent_type', PLAIN),
  SubagentStop: onValue('block', 'agent_type', ALL),
  Stop: row('block', ALL),
  StopFailure: onValue('observe', 'error', PLAIN),
  TaskCreated: row('block', ALL),
  TaskCompleted: row('block', ALL),
  TeammateIdle: row('block', ALL),
  ConfigChange: onValue('gate', 'source', PLAIN),
  CwdChanged: row('observe', PLAIN, { setsEnvironment: true }),
  DirectoryAdded: onValue('observe', 'source', PLAIN),
  FileChanged: onValue('observe', 'file_path', PLAIN, { setsEnvironment: true }),
  WorktreeCreate: row('gate', PLAIN),
  WorktreeRemove: row('observe', PLAIN),
  PreCompact: onValue('block', 'trigger', PLAIN),
  PostCompact: onValue('observe', 'trigger', PLAIN),
  PreModelSwitch: row('gate', ALL),
  PostModelSwitch: row('observe', PLAIN, { textIsContext: true }),
  Elicitation: onValue('gate', 'mcp_server_name', PLAIN),
  ElicitationResult: onValue('gate', 'mcp_server_name', PLAIN),
  SessionEnd: onValue('observe', 'reason', PLAIN, { timeoutMs: 1_500 }),
} as const satisfies Readonly<Record<string, HookEventFacts>>;

export type HookEventName = keyof typeof HOOK_EVENTS;

export function hookEventFacts(event: HookEventName): HookEventFacts {
  return HOOK_EVENTS[event];
}

/** Events of other programs whose files people copy. They never fire here, which is said. */
export const FOREIGN_HOOK_EVENTS: readonly string[] = [
  'BeforeTool',
  'AfterTool',
  'BeforeAgent',
  'AfterAgent',
  'BeforeModel',
  'AfterModel',
  'BeforeToolSelection',
  'PreCompress',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
  'afterFileEdit',
  'beforeSubmitPrompt',
  'userPromptSubmitted',
  'errorOccurred',
  'TaskStart',
  'TaskResume',
  'TaskCancel',
];

/** A name among hooks that is no event of ours: what stands there never runs. */
export type OddHookEvent =
  /** Plainly one of another program, which is told. */
  | { readonly kind: 'foreign' }
  /** A guard may have been meant. */
  | { readonly kind: 'unknown'; readonly near?: string };

/** Undefined: it is an event. fail-closed: what is near to one of ours was meant for it. */
export function oddHookEvent(name: string): OddHookEvent | undefined {
  if (own(HOOK_EVENTS, name) !== undefined) return undefined;
  const near = nearest(name, Object.keys(HOOK_EVENTS));
  if (near !== undefined) return { kind: 'unknown', near };
  return { kind: FOREIGN_HOOK_EVENTS.includes(name) ? 'foreign' : 'unknown' };
}
