import type { Subcommand } from '../command.js';

const START = 'Start';
const DECISIONS = 'Permissions and decisions';
const PROJECT = 'What a session here has';
const SESSIONS = 'Sessions and their work';
const FLEET = 'Many machines';

/** The commands: reserved first words. The file of one is loaded only when it is called. */
export const COMMANDS: Readonly<Record<string, Subcommand>> = {
  setup: {
    summary: 'Choose the model that sessions use, try it and store the choice.',
    group: START,
    load: () => import('./setup.js'),
  },
  auth: {
    summary: 'Show whether a model is configured, and how.',
    group: START,
    load: () => import('./auth.js'),
  },
  init: {
    summary: 'Write a first AGENTS.md and a tested policy for this project.',
    group: START,
    load: () => import('./init.js'),
  },
  doctor: {
    summary: 'Check that everything a session here needs works.',
    group: START,
    load: () => import('./doctor.js'),
  },
  completion: {
    summary: 'Print a completion script for bash, zsh or fish.',
    group: START,
    load: async () => {
      const { completionCommand } = await import('./completion.js');
      return { command: completionCommand(COMMANDS) };
    },
  },
  demo: {
    summary: 'Play a session of a scripted model; needs no key and no network.',
    group: START,
    load: () => import('./demo.js'),
  },
  sessions: {
    summary: 'List the sessions of this project.',
    group: SESSIONS,
    load: () => import('./sessions.js'),
  },
  changes: {
    summary: 'Show what a session changed, and who did it.',
    group: SESSIONS,
    load: () => import('./changes.js'),
  },
  rewind: {
    summary: 'Restore the files to an earlier point of a session.',
    group: SESSIONS,
    load: () => import('./rewind.js'),
  },
  ps: {
    summary: 'List the child processes of running sessions.',
    group: SESSIONS,
    load: () => import('./ps.js'),
  },
  console: {
    summary: 'Serve a page to watch, answer and undo sessions in a browser.',
    group: SESSIONS,
    load: () => import('./console.js'),
  },
  inbox: {
    summary: 'List and answer the questions of background agents.',
    group: SESSIONS,
    load: () => import('./inbox.js'),
  },
  explain: {
    summary: 'Show whether a tool call would be allowed here, and why.',
    group: DECISIONS,
    load: () => import('./explain.js'),
  },
  why: {
    summary: 'Show how a call was decided, from the journal.',
    group: DECISIONS,
    load: () => import('./why.js'),
  },
  policy: {
    summary: 'Check, test, compare and replay permission rules.',
    group: DECISIONS,
    load: () => import('./policy/policy.js'),
  },
  trust: {
    summary: 'Show what this folder would run or allow, and trust it.',
    group: DECISIONS,
    load: () => import('./trust.js'),
  },
  sandbox: {
    summary: 'Show the sandbox around commands, or run a command in it.',
    group: DECISIONS,
    load: () => import('./sandbox.js'),
  },
  config: {
    summary: 'Show the settings in force and where each value comes from.',
    group: PROJECT,
    load: () => import('./config.js'),
  },
  context: {
    summary: 'Show what the model is shown, by file, with sizes and reasons.',
    group: PROJECT,
    load: () => import('./context.js'),
  },
  agents: {
    summary: 'List, show and validate agent definitions.',
    group: PROJECT,
    load: () => import('./agents.js'),
  },
  hooks: {
    summary: 'List, test and probe hooks.',
    group: PROJECT,
    load: () => import('./hooks.js'),
  },
  mcp: {
    summary: 'Manage MCP servers.',
    group: PROJECT,
    load: () => import('./mcp/mcp.js'),
  },
  plugin: {
    summary: 'Validate plugins.',
    group: PROJECT,
    load: () => import('./plugin.js'),
  },
  skills: {
    summary: 'List, show, validate and test skills.',
    group: PROJECT,
    load: () => import('./skills.js'),
  },
  fleet: {
    summary: 'Submit, follow and answer sessions that workers drive.',
    group: FLEET,
    load: () => import('./fleet/fleet.js'),
  },
  worker: {
    summary: 'Drive sessions of the fleet on this machine.',
    group: FLEET,
    load: () => import('./worker.js'),
  },
};
