import { NO_AUTO_MODE } from '../protocol/permissions.js';

export type FlagKind = 'switch' | 'value' | 'optional-value' | 'list' | 'repeat';

/** A flag of the main command line: the parser, the help text and the reference page read this. */
export interface FlagSpec {
  readonly name: string;
  readonly short?: string | undefined;
  readonly aliases?: readonly string[];
  readonly kind: FlagKind;
  /** What stands for the value in the help text. */
  readonly value?: string | undefined;
  readonly choices?: readonly string[];
  /** Values that other programs know, and why they are refused here. */
  readonly refusedValues?: Readonly<Record<string, string>>;
  readonly help: string;
  readonly group: string;
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

type Details = Pick<FlagSpec, 'aliases' | 'choices' | 'refusedValues' | 'restricts' | 'notYet'>;
type Row = readonly [spelling: string, help: string, details?: Details];

const RESTRICTS = { restricts: true } as const;

/** `--x <v>` takes a value, `[v]` an optional one, `<v...>` all words up to the next flag, `<v>*` may be repeated. */
const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  Conversation: [
    ['-p, --print', 'Answer one prompt and exit.'],
    ['-c, --continue', 'Continue the newest session of this directory.'],
    ['-r, --resume [id]', 'Resume this session; without an id, choose one from a list.'],
    ['--fork-session', 'With --continue or --resume: continue under a new session id.'],
    ['--resume-session-at <uuid>', 'With --resume: only up to this message.'],
    [
      '--resume-drops-turn <uuid>',
      'With --resume-session-at: refuse to drop more than the turn of this prompt.',
      RESTRICTS,
    ],
    [
      '--rewind-files <uuid>',
      'With --resume: restore files to their state before this message, and exit.',
    ],
    ['--session-id <uuid>', 'Id of the new session.'],
    ['-n, --name <title>', 'Title of the session.'],
    ['--plain', 'Only append lines, without colours: for screen readers, logs and dumb terminals.'],
    ['--no-session-persistence', 'Write no transcript.', RESTRICTS],
  ],
  Model: [
    [
      '--model <name>',
      'Model id or alias (sonnet, opus, haiku); provider/model selects a provider.',
    ],
    ['--fallback-model <a,b>', 'Models to try when the first is overloaded.'],
    [
      '--effort <level>',
      'How hard the model should think.',
      { choices: ['low', 'medium', 'high', 'xhigh', 'max'] },
    ],
    ['--thinking <kind>', 'Thinking mode.', { choices: ['adaptive', 'enabled', 'disabled'] }],
    [
      '--thinking-display <how>',
      'Whether the text of thinking comes back.',
      { choices: ['summarized', 'omitted'] },
    ],
    ['--max-thinking-tokens <n>', 'Thinking budget in tokens; 0 turns thinking off.'],
    ['--betas <names...>', 'API beta headers.'],
    ['--max-turns <n>', 'Stop after this many model requests.', RESTRICTS],
    ['--max-budget-usd <x>', 'Stop when the run has cost this much.', RESTRICTS],
    ['--task-budget <n>', 'Tokens that the model is told to keep to.', { notYet: 'loud' }],
    ['--script <file>', 'Play a scripted model instead of calling one.'],
  ],
  Permissions: [
    [
      '--permission-mode <mode>',
      'How much runs without asking.',
      {
        restricts: true,
        choices: ['default', 'manual', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
        refusedValues: { auto: NO_AUTO_MODE },
      },
    ],
    [
      '--allowedTools <rules...>',
      'Rules for calls that need no asking: "Bash(git log *)" Read.',
      { aliases: ['allowed-tools'] },
    ],
    [
      '--disallowedTools <rules...>',
      'Tools to take away, or deny rules.',
      { restricts: true, aliases: ['disallowed-tools'] },
    ],
    ['--tools <names...>', 'The built-in tools to offer; "" none, default all.', RESTRICTS],
    ['--add-dir <dir>*', 'Another directory that counts as inside the project.'],
    [
      '--permission-prompt-tool <tool>',
      'Who answers questions: stdio (the program that drives the session) or an MCP tool.',
    ],
    [
      '--permission-prompts <none>',
      'none: refuse what would be asked.',
      { restricts: true, choices: ['none'] },
    ],
    ['--dangerously-skip-permissions', 'Same as --permission-mode bypassPermissions.'],
    ['--allow-dangerously-skip-permissions', 'Let bypassPermissions be chosen later.'],
    ['--trust', "Let this project's own settings grant and execute, for this run."],
  ],
  'Settings and extensions': [
    ['--settings <file|json>', 'More settings, above the files.', RESTRICTS],
    [
      '--managed-settings <json>',
      'Settings of the program that drives the session; only restrictions count.',
      RESTRICTS,
    ],
    [
      '--setting-sources <user,project,local...>',
      'Which settings files are read; "" none.',
      RESTRICTS,
    ],
    [
      '--bare',
      "Read no settings, instructions, skills, agents, hooks or servers but an administrator's; offer file tools and Bash.",
    ],
    ['--system-prompt <text>', 'Replace the system prompt.'],
    ['--system-prompt-file <file>', 'Replace the system prompt by a file.'],
    ['--append-system-prompt <text>', 'Add to the system prompt.'],
    ['--append-system-prompt-file <file>', 'Add a file to the system prompt.'],
    ['--mcp-config <file|json...>', 'MCP servers of this session.'],
    [
      '--strict-mcp-config',
      'Use only the servers of --mcp-config and of an administrator.',
      RESTRICTS,
    ],
    ['--agents <json>', 'Agent definitions.'],
    ['--agent <name>', 'Run as this agent.'],
    [
      '--plugin-dir <dir>*',
      'A plugin for this session: skills, commands, agents, hooks, MCP servers.',
      RESTRICTS,
    ],
    ['--plugin-dir-no-mcp <dir>*', 'The same without its MCP servers.', RESTRICTS],
    ['--init', 'Run Setup hooks (init) before the prompt.'],
    ['--init-only', 'Run Setup and SessionStart hooks, then exit.'],
    ['--maintenance', 'Run Setup hooks (maintenance) before the prompt.'],
    [
      '--teammate-mode <mode>',
      'Where teammates run.',
      { choices: ['in-process', 'auto', 'tmux', 'iterm2'] },
    ],
    [
      '--project-config-root <dir>',
      'Take the configuration of the project from another directory.',
      { notYet: 'refused' },
    ],
    ['--await-claim', 'Wait for a directory to work in.', { notYet: 'refused' }],
    [
      '--exclude-dynamic-system-prompt-sections',
      'Keep what changes out of the system prompt, where it never is.',
      { notYet: 'quiet' },
    ],
  ],
  'Input and output': [
    [
      '--output-format <format>',
      'What standard output carries.',
      { choices: ['text', 'json', 'stream-json'] },
    ],
    [
      '--input-format <format>',
      'stream-json: prompts and control requests as JSON lines.',
      { choices: ['text', 'stream-json'] },
    ],
    ['--json-schema <schema>', 'The answer must be JSON of this schema (JSON text or a file).'],
    ['--verbose', 'Every message, not only the result; stream-json output needs it.'],
    ['--include-partial-messages', 'Also send the raw events of the model stream.'],
    ['--include-hook-events', 'Also send the start and end of every hook.'],
    ['--include-decisions', 'Also send a receipt for every permission decision.'],
    ['--forward-subagent-text', 'Also send what agents say, not only what they do.'],
    ['--replay-user-messages', 'Echo each accepted prompt.'],
    ['--session-mirror', 'Also send every line of the transcript.'],
    [
      '--await-initialize',
      'Open the session only after the program that drives it has sent initialize.',
    ],
    ['-d, --debug [filter]', 'Log to standard error.'],
    ['--debug-to-stderr', 'Same as --debug.'],
    ['--debug-file <file>', 'Log to a file.'],
    ['-h, --help', 'Show this text; after a command, the help of that command.'],
    ['-v, --version', 'Print the version; -v begins with that of the contract, for clients.'],
  ],
  'Set by the lead of a team': [
    ['--team-name <name>', 'As a teammate: its team.'],
    ['--agent-name <name>', 'As a teammate: its name.'],
    ['--agent-id <id>', 'As a teammate: its id.'],
    ['--parent-session-id <uuid>', 'As a teammate: the session that leads it.'],
    [
      '--plan-mode-required',
      'As a teammate: change nothing before the lead has approved the plan.',
      RESTRICTS,
    ],
  ],
};

export const FLAGS: readonly FlagSpec[] = Object.entries(GROUPS).flatMap(([group, rows]) =>
  rows.map(([spelling, help, details]) => ({ ...readSpelling(spelling), help, group, ...details })),
);

function readSpelling(text: string): Pick<FlagSpec, 'name' | 'short' | 'kind' | 'value'> {
  const [, short, name = '', open, value, several, repeats] =
    /^(?:-(\w), )?--([\w-]+)(?: ([<[])(.+?)(\.\.\.)?[>\]](\*)?)?$/.exec(text) ?? [];
  const kind =
    open === undefined
      ? 'switch'
      : open === '['
        ? 'optional-value'
        : several
          ? 'list'
          : repeats
            ? 'repeat'
            : 'value';
  return { name, short, kind, value };
}
