import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseArgs } from '../../src/cli/args.js';
import { readOptions } from '../../src/cli/options.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { RawClient } from './raw-client.js';
import { environment } from './suite/world.js';

/** One option as a client library sends it: on the command line, in the environment, in `initialize`. */
interface Row {
  readonly option: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly initialize: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
}

const SESSION = '22222222-2222-4222-8222-222222222222';
const AT = '44444444-4444-4444-8444-444444444444';
const DROPPED = '55555555-5555-4555-8555-555555555555';

const projects: TempProject[] = [];
let model: FakeModelServer;

beforeAll(async () => {
  model = await startFakeModelServer({
    script: Array.from(
      { length: 400 },
      () =>
        ({ tools }: { tools: readonly string[] }) =>
          tools.includes('StructuredOutput')
            ? { tool: 'StructuredOutput', input: { a: 'x' } }
            : 'ok',
    ),
  });
});

afterAll(async () => {
  await model.close();
  for (const project of projects) project.remove();
});

/** The rows of a client, with their paths inside a project of their own. */
function rowsOf(client: 'typescript' | 'python'): readonly Row[] {
  const file = path.join(import.meta.dirname, 'fixtures', `options-${client}.jsonl`);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

describe.concurrent('every option of the TypeScript client', () => {
  for (const row of rowsOf('typescript')) {
    it(row.option, async () => {
      const base = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
      await starts(row, (argv) => [...base, ...argv], {
        session_id: '',
        message: { role: 'user', content: [{ type: 'text', text: 'go' }] },
      });
    });
  }
});

/** Everything that the command line of a row asks for. */
function meaningOf(argv: readonly string[]): string {
  const parsed = parseArgs(['--output-format', 'stream-json', ...argv]);
  return JSON.stringify(parsed.ok ? readOptions(parsed.value) : parsed);
}

/** Rows that say in two words what the other client says in one: they need no session of their own. */
const twins = rowsOf('python').filter(({ argv, initialize }) => {
  const isPlain = Object.values(initialize).every((value) => value === null);
  const same = ({ argv: other }: Row) =>
    meaningOf([...other, '--system-prompt', '']) === meaningOf(argv);
  return isPlain && rowsOf('typescript').some(same);
});

it('options of the Python client mean what the same ones of the TypeScript client mean', () => {
  const names = new Set(twins.map(({ option }) => option));
  expect([...names]).toEqual(expect.arrayContaining(TWINS));
});

const TWINS = ['tools', 'tools_empty', 'strict', 'mode', 'cont', 'session_id', 'cut', 'store'];

describe.concurrent('every other option of the Python client', () => {
  const names = new Set(twins.map(({ option }) => option));
  for (const row of rowsOf('python').filter(({ option }) => !names.has(option))) {
    it(row.option, async () => {
      const first = ['--output-format', 'stream-json', '--verbose'];
      const last = ['--input-format', 'stream-json'];
      await starts(row, (argv) => [...first, ...argv, ...last], {
        session_id: '',
        message: { role: 'user', content: 'go' },
      });
    });
  }
});

/** The option is understood: one init, one good result, exit code 0. */
async function starts(
  row: Row,
  commandLine: (argv: readonly string[]) => readonly string[],
  user: object,
): Promise<void> {
  const project = makeProject();
  if (row.argv.some((flag) => /^--(resume|continue)/.test(flag))) writeSession(project);
  const here = (text: string): string => text.replaceAll('{{DIR}}', project.directory);
  const client = new RawClient({
    argv: commandLine(row.argv.map(here)),
    cwd: project.directory,
    env: { ...environment(project, model.url), ...QUICK, ...row.env },
  });
  client.send({
    type: 'control_request',
    request_id: 'first',
    request: { subtype: 'initialize', ...JSON.parse(here(JSON.stringify(row.initialize))) },
  });
  client.send({ type: 'user', parent_tool_use_id: null, ...user, ...row.user });
  const code = await client.end();
  const inits = client.frames.filter((frame) => frame.subtype === 'init');
  const [result] = client.results();
  const refusal = Object.hasOwn(REFUSED, row.option) ? REFUSED[row.option] : undefined;
  if (refusal !== undefined && inits.length === 0) {
    expect(code).toBe(1);
    expect(result).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      errors: [expect.stringMatching(refusal)],
    });
    return;
  }
  expect({ result, stderr: client.stderr, code }).toMatchObject({
    result: { subtype: 'success', is_error: false },
    code: 0,
  });
  expect(inits).toHaveLength(1);
  expect(client.results()).toHaveLength(1);
}

const QUICK = {
  // Bypass is refused to the superuser unless this says that nothing can be harmed.
  IS_SANDBOX: '1',
};

/** Options that ask for what is not there: told in words, and nothing runs without it. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  sandbox: /sandbox/i,
  settings_sandbox: /sandbox/i,
  permissionPromptToolName: /mcp__p__ask/,
  ppt: /mcp__x__y/,
  // There is no model that judges calls.
  mode_auto: /auto/,
  // The configuration of another place may bring other guards.
  projectConfigRoot: /project-config-root/,
};

/** A project that has what the options point at. */
function makeProject(): TempProject {
  const project = makeTempProject({
    files: {
      's.json': '{}',
      'sp.md': 'You are X',
      'mcp.json': '{"mcpServers":{}}',
      'a/keep': '',
      'b/keep': '',
      'p/.claude-plugin/plugin.json': '{"name":"p"}',
      'plug/.claude-plugin/plugin.json': '{"name":"plug"}',
      'plug2/.claude-plugin/plugin.json': '{"name":"plug2"}',
    },
  });
  projects.push(project);
  return project;
}

/** A session of two turns, as a client library could have written it. */
function writeSession(project: TempProject): void {
  const key = project.directory.replace(/[^A-Za-z0-9]/g, '-');
  const directory = path.join(project.home, '.claude/projects', key);
  mkdirSync(directory, { recursive: true });
  const turns = [
    ['66666666-6666-4666-8666-666666666666', 'user', 'one'],
    [AT, 'assistant', 'first'],
    [DROPPED, 'user', 'two'],
    [SESSION, 'assistant', 'second'],
  ] as const;
  const lines = turns.map(([uuid, type, text], index) =>
    JSON.stringify({
      type,
      uuid,
      parentUuid: turns[index - 1]?.[0] ?? null,
      sessionId: SESSION,
      timestamp: `2026-01-01T00:00:0${index}.000Z`,
      cwd: project.directory,
      message:
        type === 'user'
          ? { role: 'user', content: text }
          : {
              id: `msg_${index}`,
              type: 'message',
              role: 'assistant',
              model: 'm',
              content: [{ type: 'text', text }],
              stop_reason: 'end_turn',
              stop_sequence: null,
              usage: { input_tokens: 1, output_tokens: 1 },
            },
    }),
  );
  writeFileSync(path.join(directory, `${SESSION}.jsonl`), `${lines.join('\n')}\n`);
}
