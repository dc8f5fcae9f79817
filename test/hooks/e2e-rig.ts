import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { HookEventName, HookFailureCause } from '../../src/hooks/registry/hook.js';
import { hookEventFacts } from '../../src/protocol/hooks/hook-events.js';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import { startServer, type TestServer } from '../web/http-server.js';

export type Fields = Readonly<Record<string, unknown>>;
/** A handler as people write it. */
export type Handler = Fields;
/** Groups by event, as people write them. */
export type Hooks = Readonly<Record<string, readonly Fields[]>>;

export const SETTINGS = '.claude/settings.json';

/** The home of a user whose settings have these hooks. */
export function userHooks(hooks: Hooks, more: Fields = {}): ProjectFiles {
  return { [SETTINGS]: { json: { ...more, hooks } } };
}

export const on = (...hooks: readonly Handler[]): readonly Fields[] => [{ hooks }];
export const onTool = (matcher: string, ...hooks: readonly Handler[]): readonly Fields[] => [
  { matcher, hooks },
];

export const command = (text: string, more: Fields = {}): Handler => ({
  type: 'command',
  command: text,
  ...more,
});

/** Prints a value, or a text as it is, and ends well. */
export const says = (value: unknown, more: Fields = {}): Handler =>
  command(`printf '%s' ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`, more);

export const specific = (hookEventName: string, fields: Fields): Fields => ({
  hookSpecificOutput: { hookEventName, ...fields },
});

export const pre = (decision: string, reason: string, more: Fields = {}): Fields =>
  specific('PreToolUse', {
    permissionDecision: decision,
    permissionDecisionReason: reason,
    ...more,
  });

export const context = (event: string, additionalContext: string): Fields =>
  specific(event, { additionalContext });

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export const bash = (text: string) => ({ tool: 'Bash', input: { command: text } });
export const read = (file: string) => ({ tool: 'Read', input: { file_path: file } });
/** For `--mcp-config`: servers of these names, each with a tool `ask` that asks whoever calls it. */
export function askers(...names: readonly string[]): string {
  const fixture = path.join(import.meta.dirname, 'asker.fixture.mjs');
  const entry = { command: process.execPath, args: [fixture] };
  return JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, entry])) });
}

/** A question of such a server, put to the host. */
export const isElicitation = ({ type, request }: Fields): boolean =>
  type === 'control_request' && (request as Fields).subtype === 'elicitation';

export const allowBash = ['--allowedTools', 'Bash'];

/** Writes its input down: a line for each time that it is asked. */
export const LOGS = 'cat >> "$HOME/seen.jsonl"';
/** Answers nothing. */
export const quiet = command('cat > /dev/null');

type Done = Pick<ScenarioRun, 'project' | 'frames'>;

/** What hooks that log were told, in the order in which they wrote it. */
export function seen(done: Pick<Done, 'project'>, event?: HookEventName): readonly Fields[] {
  const all = linesOf(done, 'seen.jsonl').map((line) => JSON.parse(line) as Fields);
  return event === undefined ? all : all.filter((input) => input.hook_event_name === event);
}

/** The lines of a file in the home of a run; none when there is no such file. */
export function linesOf({ project }: Pick<Done, 'project'>, name: string): readonly string[] {
  const file = path.join(project.home, name);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** What people were told, in order. */
export function notices(done: Pick<Done, 'frames'>, tag?: string): readonly string[] {
  return done.frames.flatMap((frame) =>
    frame.subtype === 'informational' && (tag === undefined || frame.tag === tag)
      ? [String(frame.content)]
      : [],
  );
}

export interface ReceiptSeen {
  readonly toolUseId: string;
  readonly decision: string;
  readonly decidedBy: string;
  readonly reason: string;
  readonly trace: readonly {
    readonly guard: string;
    readonly decision: string;
    readonly failure?: string;
  }[];
  readonly input: Fields;
}

/** Needs `--include-decisions`. */
export function receipts({ frames }: Pick<Done, 'frames'>): readonly ReceiptSeen[] {
  return frames.flatMap((frame) =>
    frame.subtype === 'decision' ? [frame.receipt as ReceiptSeen] : [],
  );
}

/** Everything that the model was sent with its n-th request, as text. */
export function requestText(done: Pick<ScenarioRun, 'requests'>, index: number): string {
  return JSON.stringify(done.requests[index]?.body ?? null);
}

/** Everything that the model was ever sent. */
export function modelText(done: Pick<ScenarioRun, 'requests'>): string {
  return done.requests.map(({ body }) => JSON.stringify(body)).join('\n');
}

/** One way in which a hook can fail to give a verdict. */
export interface FailureMode {
  /** Also the name of a file that the guarded call would make. */
  readonly name: string;
  readonly cause: HookFailureCause;
  /** Stands in what people are told, and in that of no other mode. */
  readonly text: string;
  readonly kind: 'command' | 'http' | 'mcp_tool' | 'prompt';
  handler(event: HookEventName): Handler;
}

export interface FailureWorld {
  readonly modes: readonly FailureMode[];
  /** What the modes need in the home. */
  readonly home: ProjectFiles;
  close(): Promise<void>;
}

/** Says something else than what a judge must say. */
export const PROSE = 'By all means, this looks harmless to me.';

/** The model that judges for prompt hooks; it only ever answers in prose. */
export const proseJudge = {
  name: 'judge',
  match: { system: 'Schema of the answer' },
  replies: Array.from({ length: 60 }, () => PROSE),
};

type Row = readonly [
  name: string,
  cause: HookFailureCause,
  text: string,
  handler: (event: HookEventName) => Handler,
];

/** Every failure that hooks of settings files can have. Servers are real and on this machine. */
export async function failureWorld(): Promise<FailureWorld> {
  const server = await startServer((request, response) => {
    request.resume();
    if (request.url === '/500') response.writeHead(500).end('{"decision":"approve"}');
    else if (request.url === '/prose') response.end('fine by me');
    // Else: no answer at all.
  });
  return {
    modes: [...PROCESS_ROWS, ...serverRows(server)].map(modeOf),
    home: { 'not-executable': { text: '#!/bin/sh\nexit 0\n', mode: 0o644 } },
    close: () => server.close(),
  };
}

const PROCESS_ROWS: readonly Row[] = [
  ['slow', 'timeout', 'no answer within 0.4 s', () => command('sleep 30', { timeout: 0.4 })],
  ['killed', 'signal', 'ended by SIGKILL', () => command('kill -KILL $$')],
  ['terminated', 'signal', 'ended by SIGTERM', () => command('kill -TERM $$')],
  ['missing', 'cannot-start', 'no-such-hook', () => command('"$HOME/no-such-hook"')],
  [
    'missing-direct',
    'cannot-start',
    'Cannot start /no/such/program',
    () => command('/no/such/program', { args: [] }),
  ],
  ['not-exec', 'cannot-start', 'Permission denied', () => command('"$HOME/not-executable"')],
  [
    'half-json',
    'broken-output',
    'starts like JSON and is none',
    (event) => says(`{"hookSpecificOutput":{"hookEventName":"${event}","permissionDecision":"al`),
  ],
  [
    'wrong-event',
    'wrong-event',
    'hookEventName is "Elsewhere"',
    () => says(specific('Elsewhere', { additionalContext: 'hello' })),
  ],
  ['unknown-word', 'invalid-output', '"sure"', (event) => says(unknownWord(event))],
  ['wrong-type', 'invalid-output', 'continue', () => says({ continue: 'no' })],
  ['exit-3', 'exit-code', 'exit code 3: three', () => command('echo three >&2; exit 3')],
  ['exit-126', 'cannot-start', 'exit code 126', () => command('exit 126')],
  ['exit-127', 'cannot-start', 'exit code 127)', () => command('exit 127')],
  ['exit-137', 'exit-code', 'exit code 137', () => command('exit 137')],
  [
    'child-dies',
    'exit-code',
    'its process ended with exit code 7',
    () => command('read line; exit 7', { persistent: true }),
  ],
  [
    'child-babbles',
    'broken-output',
    'a line that is not JSON: nonsense',
    () => command('read line; echo nonsense; sleep 30', { persistent: true }),
  ],
];

function serverRows(server: TestServer): readonly Row[] {
  return [
    [
      'http-refused',
      'http',
      'ECONNREFUSED',
      // A free port could be taken by another test meanwhile.
      () => ({ type: 'http', url: 'http://127.0.0.1:1/' }),
    ],
    ['http-500', 'http', 'answered 500', () => ({ type: 'http', url: `${server.url}/500` })],
    [
      'http-prose',
      'http',
      'answered 200 OK with no JSON',
      () => ({ type: 'http', url: `${server.url}/prose` }),
    ],
    [
      'http-silent',
      'timeout',
      'within 0.3',
      () => ({ type: 'http', url: `${server.url}/silent`, timeout: 0.3 }),
    ],
    [
      'mcp-absent',
      'unavailable',
      'no-such-server',
      () => ({ type: 'mcp_tool', server: 'no-such-server', tool: 'judge' }),
    ],
    ['judge-prose', 'no-verdict', PROSE, () => ({ type: 'prompt', prompt: 'Judge: $ARGUMENTS' })],
  ];
}

function modeOf([name, cause, text, handler]: Row): FailureMode {
  const kind = handler('PreToolUse').type as FailureMode['kind'];
  return { name, cause, text, kind, handler };
}

/** The modes that hooks of an event can be of. */
export function modesFor(
  event: HookEventName,
  modes: readonly FailureMode[],
): readonly FailureMode[] {
  return modes.filter(({ kind }) => hookEventFacts(event).kinds.includes(kind));
}

/** A decision that nobody knows, where the event looks for one. */
function unknownWord(event: HookEventName): Fields {
  switch (event) {
    case 'PreToolUse':
    case 'PreModelSwitch':
      return specific(event, { permissionDecision: 'sure' });
    case 'PermissionRequest':
      return specific(event, { decision: { behavior: 'sure' } });
    default:
      return { decision: 'sure', reason: 'why not' };
  }
}
