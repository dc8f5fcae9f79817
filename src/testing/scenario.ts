import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import type { Actor, Reply, ReplyFunction } from '../model/scripted/format.js';
import { type FakeModelServer, startFakeModelServer } from './fake-model-server.js';
import { makeTempProject, type ProjectFiles, type TempProject } from './temp-project.js';

/** One run of the real program: a project, a scripted model behind real HTTP, a command line. */
export interface Scenario {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly git?: boolean;
  readonly script?: readonly (Reply | ReplyFunction)[];
  readonly actors?: readonly Actor[];
  readonly args?: readonly string[];
  /** The prompt; null: none. */
  readonly prompt?: string | null;
  /** Bytes as they are, or a list of messages, one JSON line each. */
  readonly stdin?: string | Uint8Array | readonly unknown[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly format?: 'text' | 'json' | 'stream-json';
  /** Where the program is started; the project's directory unless said otherwise. */
  readonly cwd?: string;
  /** Goes on in the world of an earlier scenario. */
  readonly world?: ScenarioWorld;
  readonly timeoutMs?: number;
  /** Called with the running process, to send signals. */
  readonly onStart?: (run: {
    pid: number;
    onLine(listener: (line: string) => void): void;
    write(value: unknown): void;
    end(): void;
    kill(signal: NodeJS.Signals): void;
  }) => void;
}

export interface ScenarioWorld {
  readonly project: TempProject;
  remove(): void;
}

export interface ScenarioRun {
  readonly world: ScenarioWorld;
  readonly project: TempProject;
  /** Null when a signal ended the program. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of standard output that are JSON objects. */
  readonly frames: readonly Readonly<Record<string, unknown>>[];
  /** The last result frame, or the whole output with `--output-format json`. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly requests: FakeModelServer['requests'];
  readonly scriptProblems: readonly string[];
  /** Text of the result of the n-th tool call, as the model was shown it. */
  toolResult(index: number): { readonly text: string; readonly isError: boolean };
}

/** Only for what hangs: a busy machine is many times slower. */
const DEFAULT_TIMEOUT_MS = 50_000;

/** Starts a program with these arguments, by default as a child process. */
export type Launch = (
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) => Pick<ChildProcessWithoutNullStreams, 'kill' | 'on' | 'pid' | 'stderr' | 'stdin' | 'stdout'>;

/** Plays a scenario with the program at `program` and reports what happened. */
export async function runScenario(
  program: readonly string[] | Launch,
  scenario: Scenario,
): Promise<ScenarioRun> {
  const world = scenario.world ?? makeWorld(scenario);
  const server = await startFakeModelServer({
    script: scenario.script,
    actors: scenario.actors,
  });
  try {
    const ended = await runProgram(program, scenario, { world, url: server.url });
    const frames = ended.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .flatMap((line) => {
        const parsed = parseJson(line);
        return parsed.ok && isRecord(parsed.value) ? [parsed.value] : [];
      });
    return {
      ...ended,
      world,
      project: world.project,
      frames,
      result: frames.findLast((frame) => frame.type === 'result'),
      requests: server.requests,
      scriptProblems: server.problems(),
      toolResult: (index) =>
        toolResults(server.requests)[index] ?? { text: '(no such result)', isError: true },
    };
  } finally {
    await server.close();
  }
}

function makeWorld(scenario: Scenario): ScenarioWorld {
  const project = makeTempProject({
    files: scenario.files,
    home: scenario.home,
    git: scenario.git,
  });
  return { project, remove: () => project.remove() };
}

function commandLine(scenario: Scenario): string[] {
  const format = scenario.format ?? 'stream-json';
  const streamed = Array.isArray(scenario.stdin);
  return [
    '-p',
    '--output-format',
    format,
    ...(format === 'stream-json' ? ['--verbose'] : []),
    ...(streamed ? ['--input-format', 'stream-json'] : []),
    ...(scenario.args ?? []),
    ...(scenario.prompt === null || streamed ? [] : ['--', scenario.prompt ?? 'go']),
  ];
}

function launcherOf([command = '', ...first]: readonly string[]): Launch {
  return (args, options) => spawn(command, [...first, ...args], { ...options, stdio: 'pipe' });
}

async function runProgram(
  program: readonly string[] | Launch,
  scenario: Scenario,
  place: { world: ScenarioWorld; url: string },
): Promise<Pick<ScenarioRun, 'exitCode' | 'signal' | 'stdout' | 'stderr'>> {
  const { project } = place.world;
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({
    PATH: process.env.PATH,
    HOME: project.home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: project.root,
    ANTHROPIC_BASE_URL: place.url,
    ANTHROPIC_API_KEY: 'test-key',
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...scenario.env,
  })) {
    if (value !== undefined) env[name] = value.replaceAll('{{MODEL}}', place.url);
  }
  const launch = typeof program === 'function' ? program : launcherOf(program);
  const child = launch(commandLine(scenario), { cwd: scenario.cwd ?? project.directory, env });
  let stdout = '';
  let stderr = '';
  const listeners: ((line: string) => void)[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) for (const listener of listeners) listener(line);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin.on('error', () => {
    // The program may leave before it has read everything; its exit code tells.
  });
  scenario.onStart?.({
    pid: child.pid ?? 0,
    onLine: (listener) => listeners.push(listener),
    write: (value) => child.stdin.write(`${JSON.stringify(value)}\n`),
    end: () => child.stdin.end(),
    kill: (signal) => child.kill(signal),
  });
  if (Array.isArray(scenario.stdin))
    for (const line of scenario.stdin) child.stdin.write(`${JSON.stringify(line)}\n`);
  else if (isBytes(scenario.stdin)) child.stdin.write(scenario.stdin);
  if (scenario.onStart === undefined || isBytes(scenario.stdin)) child.stdin.end();
  const deadline = setTimeout(
    () => child.kill('SIGKILL'),
    scenario.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  );
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      clearTimeout(deadline);
      resolve({ exitCode, signal, stdout, stderr });
    });
  });
}

function isBytes(stdin: Scenario['stdin']): stdin is string | Uint8Array {
  return typeof stdin === 'string' || stdin instanceof Uint8Array;
}

function toolResults(requests: FakeModelServer['requests']): { text: string; isError: boolean }[] {
  const seen = new Map<string, { text: string; isError: boolean }>();
  for (const request of requests) {
    const messages =
      isRecord(request.body) && Array.isArray(request.body.messages) ? request.body.messages : [];
    for (const message of messages) {
      const content: unknown[] =
        isRecord(message) && Array.isArray(message.content) ? message.content : [];
      for (const block of content) {
        if (
          !isRecord(block) ||
          block.type !== 'tool_result' ||
          typeof block.tool_use_id !== 'string'
        )
          continue;
        if (!seen.has(block.tool_use_id))
          seen.set(block.tool_use_id, {
            text: textIn(block.content),
            isError: block.is_error === true,
          });
      }
    }
  }
  return [...seen.values()];
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block) =>
      isRecord(block) && typeof block.text === 'string'
        ? block.text
        : `[${isRecord(block) ? String(block.type) : '?'}]`,
    )
    .join('\n');
}
