import type { CommandFile } from '../command.js';

/** A subcommand: a reserved first word. Its file is loaded only when it is called. */
export interface Command {
  readonly help: string;
  load(): Promise<CommandFile>;
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'agents',
    {
      help: 'The kinds of agents here: list, show <name>, validate [paths]',
      load: () => import('./agents.js'),
    },
  ],
  [
    'demo',
    {
      help: 'A whole session of the scripted model in a throw-away project; needs no key and no network',
      load: () => import('./demo.js'),
    },
  ],
  [
    'changes',
    {
      help: 'What a session changed and who did it (--agent, --call, --turn, --session, --diff, --json)',
      load: () => import('./changes.js'),
    },
  ],
  [
    'config',
    {
      help: 'The settings in force, where each value stands, and what is wrong (explain <key>, --json)',
      load: () => import('./config.js'),
    },
  ],
  [
    'context',
    {
      help: 'What the model is shown here, by file, with sizes and reasons (--json, --cwd); approve, decline <path>',
      load: () => import('./context.js'),
    },
  ],
  [
    'explain',
    {
      help: 'Show whether a tool call would be allowed here, and why: explain "Bash(git push)" (--agent, --mode, --hooks, --json)',
      load: () => import('./explain.js'),
    },
  ],
  [
    'hooks',
    {
      help: 'The hooks in force and what is skipped, tried and timed: list, test <event>, probe',
      load: () => import('./hooks.js'),
    },
  ],
  [
    'inbox',
    {
      help: 'Questions of background agents: list, answer <id> allow|deny',
      load: () => import('./inbox.js'),
    },
  ],
  [
    'mcp',
    {
      help: 'MCP servers: list, status, get, add, add-json, remove, approve, auth, call, serve (mcp alone says more)',
      load: () => import('./mcp.js'),
    },
  ],
  [
    'plugin',
    {
      help: 'Plugins: validate <dirs> shows what they bring and what is wrong with them',
      load: () => import('./plugin.js'),
    },
  ],
  [
    'policy',
    {
      help: 'Ask the gate: check, test, diff, replay',
      load: () => import('./policy.js'),
    },
  ],
  [
    'ps',
    {
      help: 'The child processes of every running session: servers, hooks, shells (--json, --reap ends orphans)',
      load: () => import('./ps.js'),
    },
  ],
  [
    'rewind',
    {
      help: 'Back to a point of a session: points, <number>, --call, --agent, redo (--dry-run, --overwrite, --json)',
      load: () => import('./rewind.js'),
    },
  ],
  [
    'sandbox',
    {
      help: 'The fence around commands, hooks and servers: status (--json), run -- <command>',
      load: () => import('./sandbox.js'),
    },
  ],
  [
    'skills',
    {
      help: 'The skills here: list, show <name>, validate [paths], test <file>',
      load: () => import('./skills.js'),
    },
  ],
  [
    'trust',
    {
      help: 'Show what a folder would run or allow, and trust it (--list, --revoke, --yes, --json)',
      load: () => import('./trust.js'),
    },
  ],
  [
    'why',
    {
      help: 'How a call was decided, from the journal: why [last | tool use id] (--session, --verify, --json)',
      load: () => import('./why.js'),
    },
  ],
]);
