import { spawn } from 'node:child_process';
import { afterAll } from 'vitest';
import type { Actor } from '../../src/model/scripted/format.js';
import { HOOK_EVENTS, type HookEventName } from '../../src/protocol/hooks/hook-events.js';
import type { ScenarioRun, ScenarioWorld } from '../../src/testing/scenario.js';
import { makeTempProject, type ProjectFiles } from '../../src/testing/temp-project.js';
import { drive, type Host, isQuestion, isResult } from '../e2e/host.js';
import { PROGRAM } from '../e2e/program.js';
import { run, runBuilt } from '../e2e/worlds.js';
import {
  askers,
  bash,
  command,
  type Fields,
  type Handler,
  isElicitation,
  SETTINGS,
} from './e2e-rig.js';

export const EVENTS = Object.keys(HOOK_EVENTS) as readonly HookEventName[];

/** The events that this version fires. Those of teams need a team: test/agents/team.test.ts. */
export const FIRING = EVENTS.filter((event): event is HookEventName => event !== 'TeammateIdle');

/** The tree that a hook of the tour makes, for a shell. Others of its event must name it as well. */
export const TREE = '"$HOME/tree"';

/** Only a tree that a hook made and in which nothing was done is a hook's to remove. */
const TREE_HOOKS: Partial<Record<HookEventName, readonly Handler[]>> = {
  WorktreeCreate: [
    command(
      `git init -q -b tree ${TREE} && git -C ${TREE} -c user.name=t -c user.email=t commit -q --allow-empty -m first && echo ${TREE}`,
    ),
  ],
  WorktreeRemove: [command(`rm -r ${TREE}`)],
};

const worlds: ScenarioWorld[] = [];
afterAll(() => {
  for (const world of worlds) world.remove();
});

export interface TourOptions {
  /** The hooks of an event. */
  hooks(event: HookEventName): readonly Handler[];
  readonly home?: ProjectFiles;
  /** Models besides the one that is led through the tour. */
  readonly actors?: readonly Actor[];
  /** Keep a question waiting until somebody is called. */
  readonly slowly?: boolean;
}

export interface Tour {
  readonly main: ScenarioRun;
  readonly plan: ScenarioRun;
  readonly conversation: { readonly exitCode: number | null; readonly stdout: string };
  readonly world: ScenarioWorld;
}

/** Three sessions in one home, in which everything happens that hooks can be told of. */
export async function tour(options: TourOptions): Promise<Tour> {
  const hooks = Object.fromEntries(
    FIRING.flatMap((event) => {
      const handlers = [...options.hooks(event), ...(TREE_HOOKS[event] ?? [])];
      const files = event === 'FileChanged' ? { matcher: 'watched.txt' } : {};
      return handlers.length === 0 ? [] : [[event, [{ ...files, hooks: handlers }]]];
    }),
  );
  const project = makeTempProject({
    files: { 'CLAUDE.md': 'Be brief.', 'watched.txt': 'one', 'sub/file.txt': 'x', 'more/x': '' },
    home: { ...options.home, [SETTINGS]: { json: { hooks, portcullis: LIMITS } } },
  });
  const world = { project, remove: () => project.remove() };
  worlds.push(world);
  const main = await mainSession(world, hooks, options);
  const plan = await run({
    world,
    args: ['--permission-mode', 'plan'],
    actors: [...(options.actors ?? []), { name: 'main', replies: [bash('touch planned'), 'end'] }],
  });
  return { main, plan, world, conversation: await conversation(world) };
}

const APART = { description: 'A part elsewhere', prompt: 'THE PART APART' };

/** The answers of the model, one after the other. */
const REPLIES = [
  { blocks: [bash('cd sub'), { tool: 'Read', input: {} }] },
  { blocks: [bash('exit 3'), bash('cd ..')] },
  { tool: 'TaskCreate', input: { subject: 'A task', description: 'To be done' } },
  { tool: 'TaskUpdate', input: { taskId: '1', status: 'completed' } },
  { tool: 'Agent', input: { description: 'A small part', prompt: 'THE SMALL PART' } },
  { tool: 'Agent', input: { ...APART, isolation: 'worktree' } },
  { tool: 'mcp__asker__ask', input: {} },
  bash('touch asked'),
  'The first answer.',
  bash('echo second'),
  'The second answer.',
  '<summary>All of it in short.</summary>',
  'The skill was read.',
  { error: { status: 400, type: 'invalid_request_error', message: 'not today' } },
];

/** The agents that the main one starts. */
const CHILDREN: readonly Actor[] = [
  {
    name: 'child',
    match: { firstUser: 'THE SMALL PART' },
    replies: ['The small part is done.'],
  },
  {
    name: 'child apart',
    match: { firstUser: APART.prompt },
    replies: ['The part elsewhere is done.'],
  },
];

/** On a busy machine hooks take longer than they have at the end of a session. */
const PATIENT = { CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: '30000' };

async function mainSession(
  world: ScenarioWorld,
  hooks: Fields,
  options: TourOptions,
): Promise<ScenarioRun> {
  const { project } = world;
  return await drive(
    {
      world,
      env: PATIENT,
      args: [
        ...['--init', '--permission-prompt-tool', 'stdio', '--include-hook-events'],
        ...['--allowedTools', 'Bash(cd *)', 'Bash(exit *)', 'TaskCreate', 'TaskUpdate'],
        ...['mcp__asker__ask', '--mcp-config', askers('asker')],
      ],
      actors: [...(options.actors ?? []), ...CHILDREN, { name: 'main', replies: REPLIES }],
      timeoutMs: 180_000,
    },
    async (host) => {
      await host.request({ subtype: 'initialize' });
      host.prompt('first');
      const form = await host.next(isElicitation);
      host.answer(form, { action: 'accept', content: { name: 'Ada' } });
      const question = await host.next(isQuestion);
      // A person who does not answer is notified after six seconds.
      if (options.slowly === true) await host.next(hookResponse('Notification'));
      host.answer(question, { behavior: 'allow' });
      await host.next(isResult);
      if (options.hooks('FileChanged').length > 0) await changeFile(host, world);
      await host.request({ subtype: 'set_model', model: 'haiku' });
      const settings = { hooks, portcullis: LIMITS, permissions: { deny: ['Bash(rm *)'] } };
      project.write(`../home/${SETTINGS}`, JSON.stringify(settings));
      for (const prompt of ['second', '/compact what matters', '/write-a-hook', 'third']) {
        host.prompt(prompt);
        await host.next(isResult);
      }
      host.end();
    },
    runBuilt,
  );
}

async function changeFile(host: Host, { project }: ScenarioWorld): Promise<void> {
  project.write('watched.txt', 'two');
  await host.next(hookResponse('FileChanged'));
}

const hookResponse =
  (event: HookEventName) =>
  ({ subtype, hook_event }: Fields): boolean =>
    subtype === 'hook_response' && hook_event === event;

/** A busy machine does not start twenty hooks within the time that these events give them. */
const LIMITS = { hookTimeouts: { MessageDisplay: 60_000, UserPromptSubmit: 60_000 } };

/** The program as a person uses it, its standard input a pipe. */
function conversation({ project }: ScenarioWorld): Promise<Tour['conversation']> {
  const [program = '', ...first] = PROGRAM;
  const child = spawn(program, first, {
    cwd: project.directory,
    env: { ...PATIENT, PATH: process.env.PATH, HOME: project.home, ANTHROPIC_API_KEY: 'test-key' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stdin.end('/add-dir more\n/exit\n');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout }));
  });
}
