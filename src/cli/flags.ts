import { NO_AUTO_MODE } from '../protocol/permissions.js';
/**
 * Every command-line flag, once: the parser, the help text and the reference page read this table.
 */
export type FlagKind = 'switch' | 'value' | 'optional-value' | 'list' | 'repeat';

export interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  readonly kind: FlagKind;
  /** What stands for the value in the help text. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Values that other programs know, and why they are refused here. */
  readonly refusedValues?: Readonly<Record<string, string>>;
  readonly help: string;
  /**
   * The flag holds the run back. A near miss of its name is an error, because ignoring it would let
   * through what it was meant to stop.
   */
  readonly restricts?: boolean;
  /**
   * Accepted so that official clients can start us, but without effect yet. `loud`: said on standard
   * error. `refused`: going on without it would not be what was asked for.
   */
  readonly notYet?: 'quiet' | 'loud' | 'refused';
}

const MODES = ['default', 'manual', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

export const FLAGS: readonly FlagSpec[] = [
  { name: 'print', short: 'p', kind: 'switch', help: 'Answer one prompt and leave (headless)' },
  {
    name: 'output-format',
    kind: 'value',
    value: 'format',
    choices: ['text', 'json', 'stream-json'],
    help: 'What standard output carries',
  },
  {
    name: 'input-format',
    kind: 'value',
    value: 'format',
    choices: ['text', 'stream-json'],
    help: 'stream-json: prompts and control requests as JSON lines',
  },
  {
    name: 'verbose',
    kind: 'switch',
    help: 'Every message, not only the result; needed for stream-json output',
  },
  {
    name: 'include-partial-messages',
    kind: 'switch',
    help: 'Also send the raw events of the model stream',
  },
  {
    name: 'include-hook-events',
    kind: 'switch',
    help: 'Also send the start and end of every hook',
  },
  {
    name: 'forward-subagent-text',
    kind: 'switch',
    help: 'Also send what agents say, not only what they do',
  },
  { name: 'init', kind: 'switch', help: 'Run Setup hooks (init) before the prompt' },
  { name: 'init-only', kind: 'switch', help: 'Run Setup and SessionStart hooks, then leave' },
  { name: 'maintenance', kind: 'switch', help: 'Run Setup hooks (maintenance) before the prompt' },
  {
    name: 'include-decisions',
    kind: 'switch',
    help: 'Also send a receipt for every decision of the gate',
  },
  { name: 'replay-user-messages', kind: 'switch', help: 'Echo each accepted prompt' },
  {
    name: 'model',
    kind: 'value',
    value: 'name',
    help: 'Model id or alias (sonnet, opus, haiku); provider/model selects a provider',
  },
  {
    name: 'fallback-model',
    kind: 'value',
    value: 'a,b',
    help: 'Models to try when the first is overloaded',
  },
  {
    name: 'effort',
    kind: 'value',
    value: 'level',
    choices: ['low', 'medium', 'high', 'xhigh', 'max'],
    help: 'How hard the model should think',
  },
  {
    name: 'max-thinking-tokens',
    kind: 'value',
    value: 'n',
    help: 'Thinking budget in tokens; 0 turns thinking off',
  },
  {
    name: 'thinking',
    kind: 'value',
    value: 'kind',
    choices: ['adaptive', 'enabled', 'disabled'],
    help: 'Thinking mode',
  },
  {
    name: 'thinking-display',
    kind: 'value',
    value: 'how',
    choices: ['summarized', 'omitted'],
    help: 'Whether the text of thinking comes back',
  },
  { name: 'betas', kind: 'list', value: 'names', help: 'API beta headers' },
  {
    name: 'max-turns',
    kind: 'value',
    value: 'n',
    help: 'Stop after so many model round-trips',
    restricts: true,
  },
  {
    name: 'max-budget-usd',
    kind: 'value',
    value: 'x',
    help: 'Stop when the run has cost this much',
    restricts: true,
  },
  { name: 'system-prompt', kind: 'value', value: 'text', help: 'Replace the system prompt' },
  {
    name: 'system-prompt-file',
    kind: 'value',
    value: 'file',
    help: 'Replace the system prompt by a file',
  },
  { name: 'append-system-prompt', kind: 'value', value: 'text', help: 'Add to the system prompt' },
  {
    name: 'append-system-prompt-file',
    kind: 'value',
    value: 'file',
    help: 'Add a file to the system prompt',
  },
  {
    name: 'add-dir',
    kind: 'repeat',
    value: 'dir',
    help: 'Another directory that counts as inside',
  },
  {
    name: 'allowedTools',
    aliases: ['allowed-tools'],
    kind: 'list',
    value: 'rules',
    help: 'Rules for calls that need no asking, e.g. "Bash(git log *)" Read',
  },
  {
    name: 'disallowedTools',
    aliases: ['disallowed-tools'],
    kind: 'list',
    value: 'rules',
    help: 'Tools to take away, or deny rules',
    restricts: true,
  },
  {
    name: 'tools',
    kind: 'list',
    value: 'names',
    help: 'The built-in tools to offer; "" none, default all',
    restricts: true,
  },
  {
    name: 'permission-mode',
    kind: 'value',
    value: 'mode',
    choices: MODES,
    refusedValues: { auto: NO_AUTO_MODE },
    help: 'How much runs without asking',
    restricts: true,
  },
  {
    name: 'permission-prompt-tool',
    kind: 'value',
    value: 'tool',
    help: 'Who answers asks; stdio: the program that drives us, else an MCP tool: mcp__server__tool',
  },
  {
    name: 'permission-prompts',
    kind: 'value',
    value: 'none',
    choices: ['none'],
    help: 'none: what would be asked is refused',
    restricts: true,
  },
  {
    name: 'dangerously-skip-permissions',
    kind: 'switch',
    help: 'Same as --permission-mode bypassPermissions',
  },
  {
    name: 'allow-dangerously-skip-permissions',
    kind: 'switch',
    help: 'Let bypassPermissions be chosen later',
  },
  {
    name: 'trust',
    kind: 'switch',
    help: "Let this project's own settings grant and execute, for this run",
  },
  {
    name: 'settings',
    kind: 'value',
    value: 'file|json',
    help: 'More settings, above the files',
    restricts: true,
  },
  {
    name: 'managed-settings',
    kind: 'value',
    value: 'json',
    help: 'Settings of the program that drives us, above the files: what restricts counts',
    restricts: true,
  },
  {
    name: 'setting-sources',
    kind: 'list',
    value: 'user,project,local',
    help: 'Which settings files are read; "" none',
    restricts: true,
  },
  {
    name: 'bare',
    kind: 'switch',
    help: 'Nothing of files but what an administrator gives: no settings, instructions, skills, agents, hooks, servers; file tools and Bash. Other flags still count',
  },
  {
    name: 'json-schema',
    kind: 'value',
    value: 'schema',
    help: 'The answer must be JSON of this schema',
  },
  {
    name: 'continue',
    short: 'c',
    kind: 'switch',
    help: 'Go on with the newest session of this directory',
  },
  {
    name: 'resume',
    short: 'r',
    kind: 'optional-value',
    value: 'id',
    help: 'Go on with this session',
  },
  {
    name: 'fork-session',
    kind: 'switch',
    help: 'With --continue or --resume: under a new session id',
  },
  {
    name: 'rewind-files',
    kind: 'value',
    value: 'uuid',
    help: 'With --resume: put files back to where they were before this message, and leave',
  },
  {
    name: 'resume-session-at',
    kind: 'value',
    value: 'uuid',
    help: 'With --resume: only up to this message',
  },
  {
    name: 'resume-drops-turn',
    kind: 'value',
    value: 'uuid',
    help: 'With --resume-session-at: refuse when more than the turn of this prompt would be given up',
    restricts: true,
  },
  {
    name: 'session-mirror',
    kind: 'switch',
    help: 'Also send every line of the transcript',
  },
  { name: 'session-id', kind: 'value', value: 'uuid', help: 'Id of the new session' },
  { name: 'name', short: 'n', kind: 'value', value: 'title', help: 'Title of the session' },
  { name: 'no-session-persistence', kind: 'switch', help: 'Write no transcript', restricts: true },
  { name: 'mcp-config', kind: 'list', value: 'file|json', help: 'MCP servers of this session' },
  {
    name: 'strict-mcp-config',
    kind: 'switch',
    help: 'Only the servers of --mcp-config and of an administrator',
    restricts: true,
  },
  { name: 'agents', kind: 'value', value: 'json', help: 'Agent definitions' },
  { name: 'agent', kind: 'value', value: 'name', help: 'Run as this agent' },
  {
    name: 'teammate-mode',
    kind: 'value',
    value: 'mode',
    choices: ['in-process', 'auto', 'tmux', 'iterm2'],
    help: 'Where teammates run',
  },
  {
    name: 'team-name',
    kind: 'value',
    value: 'name',
    help: 'As a teammate: its team (set by the lead, as are the next four)',
  },
  { name: 'agent-name', kind: 'value', value: 'name', help: 'As a teammate: its name' },
  { name: 'agent-id', kind: 'value', value: 'id', help: 'As a teammate: its id' },
  {
    name: 'parent-session-id',
    kind: 'value',
    value: 'uuid',
    help: 'As a teammate: the session that leads it',
  },
  {
    name: 'plan-mode-required',
    kind: 'switch',
    help: 'As a teammate: change nothing before the lead has approved the plan',
    restricts: true,
  },
  {
    name: 'await-initialize',
    kind: 'switch',
    help: 'Open the session only when the program that drives us has initialised it',
  },
  {
    name: 'exclude-dynamic-system-prompt-sections',
    kind: 'switch',
    help: 'Keep what changes out of the system prompt, where it never is',
    notYet: 'quiet',
  },
  {
    name: 'task-budget',
    kind: 'value',
    value: 'n',
    help: 'Tokens that the model is told to keep to',
    notYet: 'loud',
  },
  {
    name: 'project-config-root',
    kind: 'value',
    value: 'dir',
    help: 'Take the configuration of the project from another directory',
    notYet: 'refused',
  },
  {
    name: 'plugin-dir',
    kind: 'repeat',
    value: 'dir',
    help: 'A plugin for this session: its skills, commands, agents, hooks and MCP servers',
    restricts: true,
  },
  {
    name: 'plugin-dir-no-mcp',
    kind: 'repeat',
    value: 'dir',
    help: 'The same without its MCP servers',
    restricts: true,
  },
  {
    name: 'await-claim',
    kind: 'switch',
    help: 'Wait for a directory to work in',
    notYet: 'refused',
  },
  {
    name: 'script',
    kind: 'value',
    value: 'file',
    help: 'Play a scripted model instead of calling one',
  },
  {
    name: 'debug',
    short: 'd',
    kind: 'optional-value',
    value: 'filter',
    help: 'Log to standard error',
  },
  { name: 'debug-to-stderr', kind: 'switch', help: 'Same as --debug' },
  { name: 'debug-file', kind: 'value', value: 'file', help: 'Log to a file' },
  { name: 'help', short: 'h', kind: 'switch', help: 'This text' },
  {
    name: 'version',
    short: 'v',
    kind: 'switch',
    help: 'Version; -v begins with that of the contract, for client libraries',
  },
];
