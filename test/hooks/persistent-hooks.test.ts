import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CommandHandler, HookRaw, HookRequest } from '../../src/hooks/registry/hook.js';
import { createCommandRunner } from '../../src/hooks/runners/command.js';
import { createPersistentHooks, type PersistentHooks } from '../../src/hooks/runners/persistent.js';
import type { Environment } from '../../src/platform/environment.js';
import { isGone, pidsIn, temporaryDirectory, testSupervisor, until } from '../process/helpers.js';
import { hookOf, requestOf } from './runner-rig.js';

/** What every guard of these tests starts with: a line in `starts` with its pid, and a way to answer. */
const PRELUDE = `
const fs = require('node:fs');
fs.appendFileSync('starts', process.pid + '\\n');
const say = (value) => process.stdout.write((typeof value === 'string' ? value : JSON.stringify(value)) + '\\n');
let asked = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, input } = JSON.parse(line);
  asked += 1;
  onQuestion(id, input);
});
`;

interface Bench {
  readonly project: string;
  readonly hooks: PersistentHooks;
  readonly log: string[];
  readonly handler: CommandHandler;
  ask(input: object, more?: Partial<HookRequest>): Promise<HookRaw>;
  starts(): number[];
}

/** A guard whose `onQuestion(id, input)` is given, in a project of its own. */
function guard(
  onQuestion: string,
  options: { readonly env?: Environment; readonly monotonic?: () => number } = {},
): Bench {
  const project = temporaryDirectory();
  writeFileSync(
    path.join(project, 'guard.cjs'),
    `${PRELUDE}\nfunction onQuestion(id, input) {${onQuestion}}\n`,
  );
  return bench(project, { command: process.execPath, args: ['guard.cjs'] }, options);
}

function bench(
  project: string,
  more: Pick<CommandHandler, 'command' | 'args'>,
  options: { readonly env?: Environment; readonly monotonic?: () => number } = {},
): Bench {
  const log: string[] = [];
  const hooks = createPersistentHooks({
    processes: testSupervisor({ stateDirectory: path.join(project, 'state') }),
    env: { PATH: process.env.PATH, ...options.env },
    projectDir: project,
    sessionId: 'session-1',
    platform: 'linux',
    log: (text) => log.push(text),
    ...(options.monotonic && { monotonic: options.monotonic }),
  });
  onTestFinished(() => hooks.close());
  const handler: CommandHandler = { type: 'command', persistent: true, ...more };
  const file = path.join(project, 'starts');
  return {
    project,
    hooks,
    log,
    handler,
    ask: (input, request) =>
      hooks.ask(
        handler,
        requestOf({ input: { ...input }, json: JSON.stringify(input), ...request }),
      ),
    starts: () => (existsSync(file) ? pidsIn(readFileSync(file, 'utf8')) : []),
  };
}

const failure = (cause: string, text = ''): object => ({
  kind: 'failed',
  failure: { cause, message: expect.stringContaining(text) },
});

describe('a persistent hook', () => {
  it('answers many questions by one process', async () => {
    const { ask, starts } = guard('say({ id, output: { n: asked, seen: input.text } });');
    for (const n of [1, 2, 3]) {
      expect(await ask({ text: `ü\n${n}` })).toEqual({
        kind: 'value',
        value: { n, seen: `ü\n${n}` },
      });
    }
    expect(starts()).toHaveLength(1);
  });

  it('may answer in any order, and questions asked at once share the process', async () => {
    const { ask, starts } = guard(`
      (globalThis.kept ??= []).push(id);
      if (asked === 20) for (const one of kept.reverse()) say({ id: one, output: { one } });
    `);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask({ n })));
    expect(answers).toEqual(answers.map((_, n) => ({ kind: 'value', value: { one: n + 1 } })));
    expect(starts()).toHaveLength(1);
  });

  it('has no opinion with null, and fails with an error or without an output', async () => {
    const { ask, starts } = guard(`
      const { shape } = input;
      say({ id, ...shape });
    `);
    expect(await ask({ shape: { output: null } })).toEqual({ kind: 'value', value: {} });
    expect(await ask({ shape: { error: 'no data base' } })).toMatchObject(
      failure('threw', 'it reports an error: no data base'),
    );
    expect(await ask({ shape: { error: 'e', output: {} } })).toMatchObject(failure('threw'));
    for (const shape of [{}, { output: 'allow' }, { output: [] }, { output: true }]) {
      expect(await ask({ shape })).toMatchObject(failure('broken-output', 'neither'));
    }
    for (const beside of [
      { verdict: 'deny' },
      { allowed: false },
      { decision: 'block' },
      { result: { continue: false } },
      { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } },
      { updatedToolOutput: 'x' },
    ]) {
      const misplaced = failure('invalid-output', 'beside "output"');
      expect(await ask({ shape: { output: null, ...beside } })).toMatchObject(misplaced);
      expect(await ask({ shape: { output: {}, ...beside } })).toMatchObject(misplaced);
    }
    expect(starts()).toHaveLength(1);
  });

  it('is one process for the same handler and another for a different one', async () => {
    const { hooks, handler, starts } = guard('say({ id, output: null });');
    const ask = (more: Partial<CommandHandler>): Promise<HookRaw> =>
      hooks.ask({ ...handler, ...more }, requestOf());
    await ask({});
    await ask({ name: 'another name' });
    expect(starts()).toHaveLength(1);
    await ask({ allowedEnvVars: ['SECRET_TOKEN'] });
    await ask({ args: ['guard.cjs', 'x'] });
    expect(starts()).toHaveLength(3);
  });

  it('runs in the project with the environment of other command hooks', async () => {
    const { ask, project } = guard(
      'const { ANTHROPIC_API_KEY, CLAUDE_PROJECT_DIR, CLAUDE_CODE_SESSION_ID, CLAUDE_ENV_FILE } = process.env; say({ id, output: { cwd: process.cwd(), ANTHROPIC_API_KEY, CLAUDE_PROJECT_DIR, CLAUDE_CODE_SESSION_ID, CLAUDE_ENV_FILE } });',
      { env: { ANTHROPIC_API_KEY: 'sk' } },
    );
    expect(await ask({}, { cwd: '/', envFile: '/tmp/x' })).toEqual({
      kind: 'value',
      value: { cwd: project, CLAUDE_PROJECT_DIR: project, CLAUDE_CODE_SESSION_ID: 'session-1' },
    });
  });

  it('works as shell code, and is what the command runner asks', async () => {
    const project = temporaryDirectory();
    const command = 'while read -r line; do echo \'{"id":1,"output":{"from":"sh"}}\'; done';
    const { hooks, handler } = bench(project, { command });
    const runner = createCommandRunner({
      processes: testSupervisor(),
      persistent: hooks,
      env: {},
      projectDir: project,
      sessionId: 's',
      platform: 'linux',
    });
    const pretty = '{\n  "tool": "Bash"\r\n}';
    expect(await runner(hookOf(handler), requestOf({ json: pretty }))).toEqual({
      kind: 'value',
      value: { from: 'sh' },
    });
  });
});

describe('lines that are no answers', () => {
  it('are passed over and logged when they are JSON', async () => {
    const { ask, log } = guard(`
      say({ id: 999, output: { permissionDecision: 'allow' } });
      say({ output: {} });
      say({ id: String(id), output: {} });
      say('42'); say('"text"'); say('[]');
      say({ id, output: { real: true } });
      say({ id, output: { again: true } });
    `);
    expect(await ask({})).toEqual({ kind: 'value', value: { real: true } });
    expect(await until(() => log.length === 7)).toBe(true);
    expect(log.filter((line) => line.includes('no open question'))).toHaveLength(4);
    expect(log.filter((line) => line.includes('no JSON object'))).toHaveLength(3);
  });

  it('fail every open question when they are not, and the process is started afresh', async () => {
    const { ask, starts } = guard(`
      if (input.bad) say('{"id": 1, "output": {');
      else if (!input.silent) say({ id, output: { fine: true } });
    `);
    const silent = ask({ silent: true });
    expect(await ask({ bad: true })).toMatchObject(
      failure('broken-output', 'not JSON: {"id": 1, "output": {'),
    );
    expect(await silent).toMatchObject(failure('broken-output'));
    expect(await ask({})).toEqual({ kind: 'value', value: { fine: true } });
    const [first = 0, ...others] = starts();
    expect(isGone(first)).toBe(true);
    expect(others).toHaveLength(1);
  });

  it('with a key that stands twice are no answers either', async () => {
    const { ask } = guard(`
      say(input.twice ? input.twice.replace('ID', id) : { id, output: null });
    `);
    for (const twice of [
      '{"id":ID,"output":{"decision":"block"},"output":null}',
      '{"id":ID,"output":{"decision":"block","decision":null}}',
    ]) {
      expect(await ask({ twice })).toMatchObject(failure('broken-output', 'occurs twice'));
    }
    expect(await ask({})).toEqual({ kind: 'value', value: {} });
  });

  it('are noise while nobody is asked', async () => {
    const { ask, log, starts } = guard(`
      say({ id, output: null });
      setTimeout(() => say('some chatter'), 50);
    `);
    await ask({});
    expect(await until(() => log.length === 1)).toBe(true);
    expect(log[0]).toContain('some chatter');
    await ask({});
    expect(starts()).toHaveLength(1);
  });

  it('are not logged without end', async () => {
    const { ask, log } = guard(`
      for (let n = 0; n < 2500; n++) say('[]');
      say({ id, output: null });
    `);
    await ask({});
    expect(log).toHaveLength(22);
  });

  it('end the process when there is no end to them', async () => {
    const { ask } = guard(`
      const block = 'x'.repeat(1024 * 1024);
      for (let n = 0; n < 17; n++) process.stdout.write(block);
    `);
    expect(await ask({})).toEqual(failure('broken-output', 'more than 16777216 characters'));
  });
});

describe('a process that ends', () => {
  it('fails open questions by how it ended, and is started afresh', async () => {
    const { ask, starts } = guard(`
      if (input.exit !== undefined) { console.error('reason\\nlast words'); process.exit(input.exit); }
      else if (input.kill) process.kill(process.pid, 'SIGKILL');
      else say({ id, output: { fine: true } });
    `);
    expect(await ask({ exit: 3 })).toEqual(
      failure('exit-code', 'its process ended with exit code 3: last words'),
    );
    expect(await ask({ kill: true })).toEqual(failure('signal', 'ended by SIGKILL'));
    expect(await ask({})).toEqual({ kind: 'value', value: { fine: true } });
    expect(starts()).toHaveLength(3);
  });

  it('is not started again and again', async () => {
    let now = 0;
    const { ask, starts } = guard(
      'if (input.ok) say({ id, output: null }); else process.exit(1);',
      {
        monotonic: () => now,
      },
    );
    for (let n = 0; n < 3; n++) expect(await ask({})).toEqual(failure('exit-code'));
    expect(await ask({ ok: true })).toEqual(
      failure('unavailable', 'it ended 3 times within 10 s and is not asked for another 10 s'),
    );
    expect(starts()).toHaveLength(3);
    now = 10_000;
    expect(await ask({ ok: true })).toEqual({ kind: 'value', value: {} });
  });

  it('is started when it ended between two questions', async () => {
    const { ask, starts, project } = guard(
      'say({ id, output: null }); setTimeout(() => process.exit(0), 20);',
    );
    await ask({});
    // The end is known a moment later than it happens.
    const registry = path.join(project, 'state', 'children');
    const isForgotten = (): boolean => readdirSync(registry).length === 0;
    expect(await until(() => starts().every(isGone) && isForgotten())).toBe(true);
    expect(await ask({})).toEqual({ kind: 'value', value: {} });
    expect(starts()).toHaveLength(2);
  });

  it('cannot start: says which program and why, each time', async () => {
    const { ask } = bench(temporaryDirectory(), { command: 'no-such-program-here', args: [] });
    for (let n = 0; n < 4; n++) {
      expect(await ask({})).toEqual(
        failure('cannot-start', 'Cannot start no-such-program-here: no such program.'),
      );
    }
  });

  it('has closed its input: is ended and started afresh', async () => {
    const { ask, starts } = bench(temporaryDirectory(), {
      command:
        'echo $$ >> starts; read -r line; exec <&-; echo \'{"id":1,"output":null}\'; exec sleep 100',
    });
    expect(await ask({})).toEqual({ kind: 'value', value: {} });
    const late = { timeoutMs: 300 };
    // The first may still be written before the system says that nobody reads.
    const answers = [await ask({}, late), await ask({}, late)];
    expect(answers.every((raw) => raw.kind === 'failed')).toBe(true);
    expect(isGone(starts()[0] ?? 0)).toBe(true);
  });
});

describe('a question that is not answered in time', () => {
  it('fails; the process is ended with its children and started afresh', async () => {
    const { ask, starts, project } = guard(`
      if (input.hang) {
        const child = require('node:child_process').spawn('sleep', ['100']);
        fs.writeFileSync('child', String(child.pid));
      } else say({ id, output: { fine: true } });
    `);
    const hanging = ask({ hang: true }, { timeoutMs: 3000 });
    const other = ask({ hang: true });
    expect(await hanging).toEqual(failure('timeout', 'no answer within 3 s'));
    expect(await other).toEqual(failure('unavailable', 'left another question unanswered'));
    expect(await ask({})).toEqual({ kind: 'value', value: { fine: true } });
    const [first = 0, second = 0] = starts();
    expect([isGone(first), isGone(second)]).toEqual([true, false]);
    expect(isGone(Number(readFileSync(path.join(project, 'child'), 'utf8')))).toBe(true);
  });

  it('fails alone while the process is at work for others; its late answer is passed over', async () => {
    const { ask, starts, log } = guard(`
      if (input.late) globalThis.late = id;
      else if (input.free) {
        say({ id: globalThis.late, output: { late: true } });
        for (const one of globalThis.kept) say({ id: one, output: { kept: true } });
        say({ id, output: { free: true } });
      } else if (input.keep) (globalThis.kept ??= []).push(id);
      else say({ id, output: { quick: true } });
    `);
    const late = ask({ late: true }, { timeoutMs: 3000 });
    const kept = ask({ keep: true });
    expect(await ask({})).toMatchObject({ kind: 'value' });
    expect(await late).toEqual(failure('timeout'));
    expect(await ask({ free: true })).toEqual({ kind: 'value', value: { free: true } });
    expect(await kept).toEqual({ kind: 'value', value: { kept: true } });
    expect(starts()).toHaveLength(1);
    expect(log[0]).toContain('no open question');
  });

  it('is told apart from one that is withdrawn, which leaves the process alone', async () => {
    const { ask, starts } = guard('if (!input.wait) say({ id, output: null });');
    const controller = new AbortController();
    const waiting = ask({ wait: true }, { signal: controller.signal });
    await ask({});
    controller.abort();
    expect(await waiting).toEqual(failure('unavailable', 'withdrawn'));
    await ask({});
    expect(starts()).toHaveLength(1);
    expect(await ask({}, { signal: AbortSignal.abort() })).toEqual(failure('unavailable'));
  });
});

describe('the end of the session', () => {
  it('lets a process go by itself', async () => {
    const { ask, hooks, project, starts } = guard('say({ id, output: null });');
    writeFileSync(
      path.join(project, 'guard.cjs'),
      `${PRELUDE}\nfunction onQuestion(id) { say({ id, output: null }); }
process.stdin.on('end', () => fs.writeFileSync('polite', 'yes'));`,
    );
    await ask({});
    await hooks.close();
    expect(existsSync(path.join(project, 'polite'))).toBe(true);
    expect(starts().every(isGone)).toBe(true);
  });

  it('ends one that stays, fails what is open, and answers nothing afterwards', async () => {
    const { ask, hooks, starts } = guard(
      'if (!input.wait) say({ id, output: null }); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);',
    );
    await ask({});
    const open = ask({ wait: true });
    await hooks.close();
    expect(await open).toEqual(failure('unavailable', 'the session has ended'));
    expect(starts().every(isGone)).toBe(true);
    expect(await ask({})).toEqual(failure('unavailable', 'the session has ended'));
    expect(starts()).toHaveLength(1);
    await hooks.close();
  });
});
