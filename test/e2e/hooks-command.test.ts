import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { itWith } from '../support/programs.js';
import { PROGRAM } from './program.js';

const GUARD = `input=$(cat)
case "$input" in *"npm publish"*) echo "publishing is for people" >&2; exit 2;; esac
`;
const WATCHER = `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, input } = JSON.parse(line);
  const output = input.probe ? null : { decision: 'block', reason: 'writing is over' };
  console.log(JSON.stringify({ id, output }));
}
`;
const said = (event: string, fields: object, more: object = {}): string =>
  `echo '${JSON.stringify({ ...more, hookSpecificOutput: { hookEventName: event, ...fields } })}'`;
const PROJECT_HOOKS = {
  PreToolUse: [
    {
      matcher: 'Bash',
      hooks: [
        { type: 'command', command: 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh', timeout: 9 },
        { type: 'command', command: 'exit 0', if: 'Bash(git *)', once: true, name: 'git only' },
      ],
    },
    {
      matcher: 'Write',
      hooks: [{ type: 'command', command: 'node .claude/hooks/watcher.mjs', persistent: true }],
    },
    {
      matcher: 'Edit',
      agents: 'reviewer',
      hooks: [{ type: 'prompt', prompt: 'May it? $ARGUMENTS', onFailure: 'continue' }],
    },
  ],
  Stop: [{ hooks: [{ type: 'command', command: 'grep -q transcript_path', async: true }] }],
  TeammateIdle: [{ hooks: [{ type: 'command', command: 'true' }] }],
};

let project: TempProject;
const worlds: TempProject[] = [];
const at = (name: string): string => path.join(project.root, name);

interface Over {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const environment = (over: Over = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: project.home,
  CLAUDE_CONFIG_DIR: at('config'),
  PORTCULLIS_HOME: at('state'),
  TMPDIR: at('tmp'),
  ...over.env,
});

function hooks(args: readonly string[], over: Over = {}) {
  const [program = '', ...first] = PROGRAM;
  return spawnSync(program, [...first, 'hooks', ...args], {
    cwd: over.cwd ?? project.directory,
    env: environment(over),
    encoding: 'utf8',
    input: over.stdin ?? '',
  });
}

/** Hooks that nothing but the command line declares. */
function withHooks(declared: object, args: readonly string[], over: Over = {}) {
  const settings = JSON.stringify({ hooks: declared });
  return hooks([...args, '--settings', settings], { cwd: at('elsewhere'), ...over });
}
const one = (handler: object, group: object = {}) => [{ ...group, hooks: [handler] }];
const sh = (command: string, more: object = {}) => ({ type: 'command', command, ...more });

function testOf(event: string, handlers: readonly object[], args: string[] = [], over: Over = {}) {
  const done = withHooks(
    { [event]: [{ hooks: handlers }] },
    ['test', event, '--json', ...args],
    over,
  );
  if (done.stdout === '') throw new Error(done.stderr);
  return { status: done.status, stderr: done.stderr, ...JSON.parse(done.stdout) };
}

beforeAll(() => {
  project = makeTempProject({
    git: true,
    files: {
      '.claude/settings.json': { json: { hooks: PROJECT_HOOKS } },
      '.claude/hooks/guard.sh': `# reads transcript_path\n${GUARD}`,
      '.claude/hooks/watcher.mjs': WATCHER,
      'sub/x': '',
    },
  });
  worlds.push(project);
  for (const name of ['config', 'state', 'tmp', 'elsewhere']) mkdirSync(at(name));
});
afterAll(() => {
  for (const world of worlds) world.remove();
});

describe('portcullis hooks list', () => {
  it('runs nothing of an untrusted folder, and says what it holds back', () => {
    const { status, stdout } = hooks(['list', '--json']);
    const list = JSON.parse(stdout);
    expect({ status, hooks: list.hooks, trusted: list.trusted }).toEqual({
      status: 0,
      hooks: [],
      trusted: false,
    });
    expect(list.skipped).toHaveLength(6);
    expect(list.skipped[0]).toMatchObject({
      event: 'PreToolUse',
      label: expect.stringContaining('guard.sh'),
      origin: expect.stringMatching(/settings\.json:\d+$/),
      why: expect.stringContaining('not trusted'),
    });
    expect(hooks(['list']).stdout).toMatch(/^No hook is in force\.\n\nNot asked\n/);
  });

  it('shows what is in force, with everything that decides when and how', () => {
    const list = JSON.parse(hooks(['list', '--json', '--trust']).stdout);
    expect(list.hooks).toMatchObject([
      {
        event: 'PreToolUse',
        role: 'gate',
        matcher: 'Bash',
        kind: 'command',
        runs: 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
        source: 'project',
        line: expect.any(Number),
        timeoutMs: 9000,
        failure: 'refuses',
        notes: [
          expect.stringMatching(/^\.claude\/hooks\/guard\.sh: .*transcript_path.*agent\.path/),
        ],
      },
      { if: 'Bash(git *)', once: true, name: 'git only', notes: [] },
      { matcher: 'Write', persistent: true, failure: 'refuses' },
      { matcher: 'Edit', agents: 'reviewer', kind: 'prompt', timeoutMs: 30_000, failure: 'passes' },
      { event: 'Stop', async: true, failure: 'is reported', notes: [expect.any(String)] },
      { event: 'TeammateIdle', failure: 'passes' },
    ]);
    const { stdout } = hooks(['list', '--trust']);
    expect(stdout).toContain('PreToolUse (gate: can refuse)\n');
    expect(stdout).toContain(
      '    for Edit · agents reviewer · limit 30 s · an error or a timeout blocks nothing, with a warning\n',
    );
    expect(stdout).not.toContain('does not fire yet');
    expect(stdout).not.toContain('Problems');
  });

  it('says for each hook what exit code 1, a crash and a timeout do', () => {
    const guards = (more: object) => ({
      PreToolUse: one(sh('true'), { matcher: 'Bash' }),
      PostToolUse: one({ ...sh('true'), onFailure: 'block' }),
      SessionStart: one(sh('true')),
      ...more,
    });
    const usual = withHooks(guards({}), ['list']).stdout;
    expect(usual).toContain(
      'exit code 1 blocks nothing, with a warning; a crash by signal or a timeout refuses',
    );
    expect(usual).toContain('exit code 1, a crash by signal or a timeout refuses');
    expect(usual).toContain('exit code 1, a crash by signal or a timeout is only reported');
    const strict = { hooks: guards({}), portcullis: { hookFailure: 'strict' } };
    const args = ['list', '--json', '--settings', JSON.stringify(strict)];
    const listed = JSON.parse(hooks(args, { cwd: at('elsewhere') }).stdout);
    expect(listed.hooks).toContainEqual(
      expect.objectContaining({ event: 'PreToolUse', failure: 'refuses', exitCode1: 'refuses' }),
    );
  });

  it('shows a hook that is switched off, and why', () => {
    const off = withHooks({ Stop: one({ ...sh('true'), enabled: false }) }, ['list']);
    expect(off.stdout).toMatch(/Not asked\n.*"true".*\n.*"enabled": false switches it off/);
  });

  it('says that a script has changed since the hook was trusted', () => {
    const over = { env: { PORTCULLIS_HOME: at('changed-state') } };
    const [program = '', ...first] = PROGRAM;
    const options = { cwd: project.directory, env: environment(over) };
    expect(spawnSync(program, [...first, 'trust', '--yes'], options).status).toBe(0);
    const script = path.join(project.directory, '.claude/hooks/guard.sh');
    const before = readFileSync(script, 'utf8');
    writeFileSync(script, `${before}# edited\n`);
    const { stdout } = hooks(['list'], over);
    writeFileSync(script, before);
    expect(stdout).toContain('it or a script that it runs has changed since it was trusted');
    expect(stdout).not.toContain('the folder is not trusted');
  });

  it('goes by trust that was given for good', () => {
    const over = { env: { PORTCULLIS_HOME: at('other-state') } };
    const [program = '', ...first] = PROGRAM;
    const options = { cwd: project.directory, env: environment(over) };
    expect(spawnSync(program, [...first, 'trust', '--yes'], options).status).toBe(0);
    expect(JSON.parse(hooks(['list', '--json'], over).stdout)).toMatchObject({
      trusted: true,
      skipped: [],
    });
    expect(hooks(['test', 'PreToolUse'], over).status).toBe(0);
  });

  it('can be asked about one event', () => {
    const list = JSON.parse(hooks(['list', '--event', 'Stop', '--json', '--trust']).stdout);
    expect(list.hooks.map(({ event }: { event: string }) => event)).toEqual(['Stop']);
    expect(hooks(['list', '--event=Stpo'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean Stop?'),
    });
  });

  it('says what a switch takes out, and which of two copies is asked', () => {
    const off = { disableAllHooks: true, hooks: { Stop: one(sh('true')) } };
    const args = ['list', '--json', '--settings', JSON.stringify(off)];
    const switched = JSON.parse(hooks(args, { cwd: at('elsewhere') }).stdout);
    expect(switched).toMatchObject({
      hooks: [],
      skipped: [{ why: expect.stringContaining('disableAllHooks') }],
    });
    const twice = [
      ...one(sh('true'), { matcher: 'Bash' }),
      ...one(sh('true'), { matcher: 'Bash|Write' }),
    ];
    const listed = withHooks({ PreToolUse: twice }, ['list', '--json']);
    expect(JSON.parse(listed.stdout).hooks).toMatchObject([
      { runs: 'true' },
      { copyOf: 'command line' },
    ]);
    const tested = withHooks({ PreToolUse: twice }, ['test', 'PreToolUse']);
    expect(tested.stdout).toContain('1 hook asked');
    expect(tested.stdout).toContain('the same hook was asked: ');
  });

  it('shows hooks with which no session starts', () => {
    const http = { type: 'http', url: 'http://127.0.0.1:1/' };
    const wrong = withHooks({ SessionStart: one(http) }, ['list']);
    expect(wrong).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('A session would not start with these settings.'),
    });
    expect(wrong.stdout).toContain('SessionStart takes no such hooks');
  });

  it('warns of what is wrong with hooks, and not of other settings that have the word', () => {
    const settings = JSON.stringify({
      webhookUrl: 'x',
      portcullis: { hookTimeouts: { PreToolUse: 5 } },
    });
    const { stdout } = hooks(['list', '--settings', settings], { cwd: at('elsewhere') });
    expect(stdout).toContain('portcullis.hookTimeouts.PreToolUse');
    expect(stdout).not.toContain('webhookUrl');
  });

  it('hides secrets', () => {
    const { stdout } = withHooks({ Stop: one(sh('check --token abcdef123456')) }, ['list']);
    expect(stdout).toContain('check --token [redacted]');
  });
});

describe('portcullis hooks test', () => {
  it('asks really, and shows verdict, time, exit code and who reads what', () => {
    const payload = JSON.stringify({ tool_input: { command: 'npm publish' } });
    const args = ['test', 'PreToolUse', '--trust', '--payload', '-'];
    const { status, stdout, stderr } = hooks(args, { stdin: payload });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^PreToolUse, Bash: 1 hook asked\n/);
    expect(stdout).toMatch(/ {4}deny \(\d+ ms of 9 s, exit code 2\)\n/);
    expect(stdout).toContain(
      'reason → the model, as why the call was refused: publishing is for people\n',
    );
    expect(stdout).toContain('its matcher "Write" does not fit Bash');
    expect(stdout).toContain('its if "Bash(git *)" does not fit');
    expect(stdout).toContain('Outcome: would be refused: publishing is for people\n');
  });

  it('shows a hook what it would see in a session', () => {
    const seen = testOf('PreToolUse', [sh('cat > seen.json')], ['--tool', 'Read']);
    expect(seen).toMatchObject({
      status: 0,
      worked: true,
      asked: [{ verdict: 'none', round: 1, limitMs: 600_000, kind: 'command' }],
      input: {
        hook_event_name: 'PreToolUse',
        permission_mode: 'default',
        agent: { path: 'main' },
        tool_name: 'Read',
        tool_input: { file_path: path.join(at('elsewhere'), 'sample.txt') },
      },
    });
    const again = testOf('PreToolUse', [sh('cat')], ['--payload', 'seen.json']);
    expect(JSON.parse(again.asked[0].stdout)).toMatchObject({ tool_name: 'Read' });
  });

  it('asks hooks of agents, and persistent ones', () => {
    const args = ['test', 'PreToolUse', '--trust', '--json', '--tool', 'Edit'];
    const asked = JSON.parse(hooks([...args, '--agent', 'reviewer']).stdout);
    expect(asked.asked).toMatchObject([
      {
        kind: 'prompt',
        verdict: null,
        failure: { cause: 'unavailable', message: expect.stringContaining('no model') },
        failureMeans: 'passes',
      },
    ]);
    const other = JSON.parse(hooks(args).stdout);
    expect(other).toMatchObject({ asked: [], worked: false });
    expect(other.notAsked.at(-1).why).toBe('it is for agents "reviewer", not for main');
    const written = hooks(['test', 'PreToolUse', '--trust', '--tool', 'Write']);
    expect(written).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Outcome: would be refused: writing is over'),
    });
  });

  it.each([
    ['timeout', sh('sleep 20', { timeout: 0.2 })],
    ['cannot-start', sh('no-such-program-here')],
    ['exit-code', sh('exit 7')],
    ['signal', sh('kill -9 $$')],
    ['broken-output', sh('echo "{"')],
    ['wrong-event', sh(said('Stop', {}))],
    ['invalid-output', sh(said('PreToolUse', { permissionDecision: 'maybe' }))],
    ['unavailable', { type: 'mcp_tool', server: 's', tool: 't' }],
  ])('tells a hook that failed from one that said no: %s', (cause, handler) => {
    expect(testOf('PreToolUse', [handler])).toMatchObject({
      status: 1,
      worked: false,
      asked: [{ verdict: null, failure: { cause }, failureMeans: 'refuses' }],
      outcome: {
        refused: true,
        text: expect.stringContaining('would be refused: the guard failed'),
      },
    });
  });

  it('counts the documented error as a failure of the test, and shows that it blocks nothing', () => {
    expect(testOf('PreToolUse', [sh('echo no jq >&2; exit 1')])).toMatchObject({
      status: 1,
      asked: [
        {
          verdict: 'none',
          exitCode: 1,
          error: 'no jq',
          texts: [{ what: 'error', to: 'user', text: 'no jq' }],
        },
      ],
      outcome: { refused: false, text: 'no hook objects; rules and mode decide' },
    });
  });

  it('shows a new input to all hooks once more', () => {
    const rewrite = said('PreToolUse', {
      permissionDecision: 'allow',
      permissionDecisionReason: 'pnpm is fine',
      updatedInput: { command: 'pnpm test' },
    });
    const once = testOf('PreToolUse', [sh(`grep -q '"npm test"' && ${rewrite}; true`), sh('cat')]);
    expect(once).toMatchObject({
      status: 0,
      asked: [
        { round: 1, verdict: 'allow', updatedInput: { command: 'pnpm test' } },
        { round: 1 },
        { round: 2, verdict: 'none' },
        { round: 2, stdout: expect.stringContaining('pnpm test') },
      ],
      outcome: { refused: false, input: { command: 'pnpm test' } },
    });
    expect(once.outcome.text).toContain('would be allowed where no rule refuses it');
    const other = said('PreToolUse', { updatedInput: { command: 'yarn test' } });
    const torn = testOf('PreToolUse', [sh(rewrite), sh(other)]);
    expect(torn.outcome.text).toContain('want different inputs');
    const bad = testOf('PreToolUse', [sh(said('PreToolUse', { updatedInput: { cmd: 'x' } }))]);
    expect(bad.outcome.text).toContain('is not valid');
  });

  it('says which way each text takes, and what has no effect', () => {
    const context = said(
      'PostToolUse',
      { additionalContext: 'slow tests', made: 'up' },
      { systemMessage: 'for you', suppressOutput: true, colour: 'red' },
    );
    const { asked, outcome } = testOf('PostToolUse', [sh(`${context}; echo noise >&2`)]);
    expect(asked[0]).toMatchObject({
      texts: [
        { what: 'additionalContext', to: 'model', text: 'slow tests' },
        { what: 'systemMessage', to: 'user', text: 'for you' },
        { what: 'stderr', to: 'none', text: 'noise\n' },
      ],
      ignored: ['suppressOutput', 'colour', 'hookSpecificOutput.made'],
    });
    expect(outcome.forModel).toEqual(['PostToolUse:Bash hook additional context: slow tests']);
    const text = testOf('PostToolUse', [sh('echo hello')]);
    expect(text.asked[0].texts).toMatchObject([{ what: 'stdout', to: 'none' }]);
    const prompt = testOf('UserPromptSubmit', [sh('echo hello')]);
    expect(prompt.asked[0].texts).toMatchObject([{ what: 'stdout', to: 'model' }]);
  });

  it.each<[string, object, string]>([
    ['UserPromptSubmit', { updatedPrompt: 'better' }, 'the model would read another prompt'],
    ['PermissionRequest', { decision: { behavior: 'allow' } }, 'would be allowed without a'],
    ['PermissionRequest', { decision: { behavior: 'deny', message: 'M' } }, 'would be refused: M'],
    ['PermissionDenied', { retry: true }, 'the model would be told that it may try again'],
    ['PostToolUse', { updatedToolOutput: 'gone' }, 'the model would read another output'],
    ['PreModelSwitch', { permissionDecision: 'ask' }, 'the user would be asked'],
    ['MessageDisplay', { displayContent: 'shorter' }, 'the screen shows: shorter'],
    [
      'SessionStart',
      { sessionTitle: 'T', watchPaths: ['/a'] },
      'its title would be "T"; files wat',
    ],
    ['Elicitation', { action: 'accept', content: { a: 1 } }, 'told "accept" with {"a":1}'],
    ['ElicitationResult', { action: 'cancel' }, 'the server would be told "cancel"'],
    ['WorktreeCreate', { worktreePath: 'relative' }, 'which is not absolute'],
    ['FileChanged', { watchPaths: ['/b'] }, 'files watched from now on: /b'],
  ])('says what would follow: %s %j', (event, fields, words) => {
    const { asked, outcome } = testOf(event, [sh(said(event, fields))]);
    expect(asked[0].failure).toBeUndefined();
    expect(outcome.text).toContain(words);
  });

  it.each([
    ['UserPromptSubmit', 'would be refused: NO'],
    ['PreCompact', 'would be refused: NO'],
    ['ConfigChange', 'would be refused: '],
    ['TaskCompleted', 'the task would stay open'],
    ['PostToolBatch', 'the turn would end: NO'],
    ['Stop', 'the agent would go on'],
    ['SubagentStop', 'the agent would go on'],
  ])('says what a no holds up: %s', (event, words) => {
    const { outcome, status } = testOf(event, [sh('echo NO >&2; exit 2')]);
    expect({ status, refused: outcome.refused }).toEqual({ status: 0, refused: true });
    expect(outcome.text).toContain(words);
  });

  it('waits for background hooks, and takes over variables', () => {
    const beside = sh('sleep 0.2; echo later', { async: true });
    const started = testOf('SessionStart', [
      sh('echo "export A_B=1" >> "$CLAUDE_ENV_FILE"'),
      beside,
    ]);
    expect(started).toMatchObject({ status: 0, variables: ['A_B'] });
    expect(started.asked[1]).toMatchObject({
      background: true,
      texts: [{ to: 'model', text: 'later', how: 'with its next request' }],
    });
    const failing = testOf('Stop', [sh('exit 9', { async: true })]);
    expect(failing).toMatchObject({
      status: 1,
      asked: [
        {
          verdict: null,
          failure: { cause: 'background', message: expect.stringContaining('exit code 9') },
        },
      ],
      notices: [],
    });
    const telling = sh(`echo '{"systemMessage": "done"}'`, { async: true });
    expect(testOf('Stop', [telling])).toMatchObject({
      asked: [{ background: true, texts: [] }],
      notices: ['Stop: done'],
    });
  });

  it('has a model answer where a hook asks one', () => {
    const script = ['{"ok": false, "reason": "not today"}'];
    project.write('script.json', JSON.stringify(script));
    const env = { PORTCULLIS_SCRIPT: project.at('script.json') };
    const judged = testOf('PreToolUse', [{ type: 'prompt', prompt: 'ok?' }], [], { env });
    expect(judged).toMatchObject({
      status: 0,
      asked: [{ verdict: 'deny', texts: [{ text: 'not today' }] }],
      outcome: { text: 'would be refused: not today The turn would end.' },
    });
    const verdict = { tool: 'StructuredOutput', input: { ok: false, reason: 'looked' } };
    project.write('script.json', JSON.stringify([verdict]));
    const looked = testOf('PreToolUse', [{ type: 'agent', prompt: 'ok?' }], [], { env });
    expect(looked).toMatchObject({ asked: [{ verdict: 'deny' }] });
    expect(looked.outcome.text).toContain('looked');
  });

  it('fails where nobody is asked', () => {
    const { status, stdout, stderr } = hooks(['test', 'PreToolUse']);
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: 'PreToolUse, Bash: no hook is asked\n',
    });
    expect(stderr).toContain('is not trusted');
  });

  it('says where a session would not have come this far', () => {
    const odd = testOf('PreToolUse', [sh('true')], ['--payload', '-'], {
      stdin: '{"tool_input": {"cmd": 1}}',
    });
    expect(odd.notes).toEqual([expect.stringContaining('is not valid')]);
  });

  it.each<[readonly string[], number, string, string?]>([
    [['test'], 2, "missing required argument 'event'"],
    [['test', 'PreTooluse'], 2, 'did you mean PreToolUse?'],
    [['test', 'Stop', '--tool', 'Bash'], 2, 'not about a tool call'],
    [['test', 'PreToolUse', '--tool', 'Bsh'], 2, 'did you mean Bash?'],
    [['test', 'PreToolUse', '--tol', 'Bash'], 2, 'did you mean --tool?'],
    [['test', 'Stop', '--payload', 'none.json'], 2, 'cannot be read'],
    [['test', 'Stop', '--payload', '-'], 2, 'is not a JSON object', '[]'],
    [['test', 'Stop', '--payload', '-'], 2, 'is not JSON', '{'],
    [['test', 'Stop', '--payload', '-'], 2, 'not for Stop', '{"hook_event_name": "Setup"}'],
    [['test', 'Stop', '--payload', '-'], 2, 'is not a mode', '{"permission_mode": "yolo"}'],
    [['test', 'Stop', '--payload', '-'], 2, 'has no path', '{"agent": "main"}'],
    [['test', 'Stop', '--settings', '{"hooks": []}'], 3, 'hooks'],
    [['tst'], 2, 'did you mean: portcullis hooks test'],
    [['list', 'all'], 2, 'too many arguments'],
    [['probe', '--fast'], 2, "unknown option '--fast'"],
  ])('%j exits %i', (args, status, words, stdin = '') => {
    expect(hooks(args, { stdin })).toMatchObject({
      status,
      stderr: expect.stringContaining(words),
    });
  });

  it('can be interrupted', async () => {
    const settings = JSON.stringify({ hooks: { Stop: one(sh('touch started; sleep 60')) } });
    const [program = '', ...first] = PROGRAM;
    const child = spawn(program, [...first, 'hooks', 'test', 'Stop', '--settings', settings], {
      cwd: at('elsewhere'),
      env: environment(),
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while (!readdirSync(at('elsewhere')).includes('started')) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('leaves nothing behind', () => {
    expect(readdirSync(at('tmp'))).toEqual([]);
    expect(readdirSync(at('config'))).toEqual([]);
  });
});

describe('the examples of the guide', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/hooks-testing.md'), 'utf8');
  const guards = [
    ['js', 'node', 'guard.mjs'],
    ['python', 'python3', 'guard.py'],
  ] as const;
  for (const [language, program, name] of guards) {
    const programs = program === 'node' ? [] : [program];
    itWith(programs, `${language}: a persistent hook answers and is probed`, () => {
      const [, code = ''] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
      project.write(name, code);
      const guard = sh(`${program} '${project.at(name)}'`, { persistent: true });
      const asked = (file: string) => {
        const stdin = JSON.stringify({ tool_input: { file_path: file, content: '' } });
        return testOf('PreToolUse', [guard], ['--tool', 'Write', '--payload', '-'], { stdin });
      };
      expect(asked('package.lock').asked).toMatchObject([{ verdict: 'deny' }]);
      expect(asked('package.json').asked).toMatchObject([{ verdict: 'none' }]);
      expect(withHooks({ PreToolUse: [{ hooks: [guard] }] }, ['probe']).status).toBe(0);
    });
  }
});

describe('portcullis hooks probe', () => {
  it('proves that every guard answers within its limit', () => {
    const { status, stdout } = hooks(['probe', '--trust', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      answered: true,
      probed: [
        { event: 'PreToolUse', verdict: 'none', limitMs: 9000, ms: expect.any(Number) },
        { verdict: 'none' },
        { verdict: 'none', hook: expect.stringContaining('watcher.mjs') },
      ],
      skipped: [{ why: 'it asks a model, which may cost something' }],
    });
    expect(hooks(['probe', '--trust']).stdout).toContain('3 probed, 3 answered, 0 failed\n');
    expect(hooks(['probe']).stdout).toBe('There is no guard to probe.\n');
  });

  it('names the guards that do not', () => {
    const guards = [
      sh('sleep 20', { timeout: 0.2 }),
      sh('grep -q \'"probe":true\' && exit 2'),
      sh('echo no jq >&2; exit 1'),
    ];
    const { status, stdout } = withHooks({ PreToolUse: [{ hooks: guards }] }, ['probe']);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /of 0\.2 s +FAILED \(timeout\) +PreToolUse: command "sleep 20" .*within/,
    );
    expect(stdout).toMatch(/\d+ ms +of 600 s +deny +PreToolUse: command "grep/);
    expect(stdout).toMatch(/FAILED \(error\) .*which blocks nothing: no jq/);
    expect(stdout).toContain('3 probed, 1 answered, 2 failed\n');
  });

  it('reaches out only when it is told to', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const http = { type: 'http', url: `http://127.0.0.1:${port}/` };
      const settings = JSON.stringify({ hooks: { PreToolUse: one(http) } });
      const probe = (...args: string[]): Promise<number | null> => {
        const [program = '', ...first] = PROGRAM;
        const all = [...first, 'hooks', 'probe', '--settings', settings, ...args];
        const options = { cwd: at('elsewhere'), env: environment(), stdio: 'ignore' as const };
        const child = spawn(program, all, options);
        return new Promise((resolve) => child.once('exit', resolve));
      };
      expect([await probe(), bodies.length]).toEqual([0, 0]);
      expect([await probe('--all'), bodies.length]).toEqual([0, 1]);
      expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ probe: true, tool_name: 'Bash' });
    } finally {
      server.close();
    }
  });
});
