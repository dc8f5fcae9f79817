import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drive, type Frame, type Host, isResult } from '../e2e/host.js';
import { run } from '../e2e/worlds.js';
import { wireHost } from '../support/wire-host.js';
import {
  allowBash,
  askers,
  bash,
  command,
  type FailureMode,
  type FailureWorld,
  type Fields,
  failureWorld,
  isElicitation,
  modesFor,
  notices,
  on,
  onTool,
  proseJudge,
  receipts,
  SETTINGS,
  says,
  specific,
  userHooks,
} from './e2e-rig.js';

let failures: FailureWorld;
beforeAll(async () => {
  failures = await failureWorld();
});
afterAll(() => failures.close());

/** The names stand here as well, so that each mode is a test of its own. */
const NAMES = [
  ...['slow', 'killed', 'terminated', 'missing', 'missing-direct', 'not-exec', 'half-json'],
  ...['wrong-event', 'unknown-word', 'wrong-type', 'exit-3', 'exit-126', 'exit-127', 'exit-137'],
  ...['child-dies', 'child-babbles', 'http-refused', 'http-500', 'http-prose', 'http-silent'],
  ...['mcp-absent', 'judge-prose'],
];
const PLAIN_NAMES = NAMES.filter((name) => name !== 'judge-prose');

function modeNamed(name: string): FailureMode {
  const mode = failures.modes.find((one) => one.name === name);
  if (mode === undefined) throw new Error(`there is no mode ${name}`);
  return mode;
}

it('the table is complete', () => {
  expect(failures.modes.map(({ name }) => name)).toEqual(NAMES);
  expect(modesFor('ConfigChange', failures.modes).map(({ name }) => name)).toEqual(PLAIN_NAMES);
});

const script = (...replies: readonly (string | ReturnType<typeof bash>)[]) => [
  proseJudge,
  { name: 'main', replies },
];
const calls = (names: readonly string[]) => ({
  blocks: names.map((name) => bash(`touch ${name}`)),
});

/** One hook for each mode, about a call of its own. */
function eachForItsCall(event: 'PreToolUse' | 'PermissionRequest'): readonly Fields[] {
  return on(
    ...failures.modes.map((mode) => ({
      ...mode.handler(event),
      if: `Bash(touch ${mode.name})`,
    })),
  );
}

describe('a guard of a call that fails, refuses it', () => {
  it('PreToolUse: although a rule allows it, and each failure with its own cause', async () => {
    const done = await run({
      home: { ...failures.home, ...userHooks({ PreToolUse: eachForItsCall('PreToolUse') }) },
      args: [...allowBash, '--include-decisions'],
      actors: [proseJudge, { name: 'main', replies: [calls([...NAMES, 'unguarded']), 'end'] }],
    });
    expect(NAMES.filter((name) => done.project.exists(name))).toEqual([]);
    expect(done.project.exists('unguarded')).toBe(true);
    expectRefusals(receipts(done), 'PreToolUse hooks');
    for (const [index, name] of NAMES.entries()) {
      const { text, isError } = done.toolResult(index);
      expect(isError).toBe(true);
      expect(text).toContain(`Bash was refused because the guard failed:`);
      expect(text).toContain(`${modeNamed(name).cause}: `);
    }
    expect(done.result).toMatchObject({
      subtype: 'success',
      permission_denials: NAMES.map((name) => ({ tool_input: { command: `touch ${name}` } })),
    });
  });

  it('PermissionRequest: although another hook says yes', async () => {
    const allows = specific('PermissionRequest', { decision: { behavior: 'allow' } });
    const groups = [...eachForItsCall('PermissionRequest'), ...on(says(allows))];
    const done = await run({
      home: { ...failures.home, ...userHooks({ PermissionRequest: groups }) },
      args: ['--include-decisions'],
      actors: [proseJudge, { name: 'main', replies: [calls([...NAMES, 'unguarded']), 'end'] }],
    });
    expect(NAMES.filter((name) => done.project.exists(name))).toEqual([]);
    expect(done.project.exists('unguarded')).toBe(true);
    expectRefusals(receipts(done), 'PermissionRequest hooks');
  });

  it('callbacks of a host: PreToolUse and PermissionRequest', async () => {
    for (const event of ['PreToolUse', 'PermissionRequest'] as const) {
      const { scenario } = wireHost({
        initialize: {
          hooks: { [event]: [{ matcher: 'Bash', hookCallbackIds: ['guard'], timeout: LIMIT }] },
        },
        callback: misbehaving,
      });
      const done = await run({
        ...scenario,
        args: [...(event === 'PreToolUse' ? allowBash : []), '--include-decisions'],
        script: [calls(['throws', 'hangs', 'nonsense', 'fine']), 'end'],
      });
      const [throws, hangs, nonsense] = receipts(done).map(failureIn);
      expect(throws).toBe('threw: BOOM');
      expect(hangs).toBe(`timeout: no answer within ${LIMIT} s`);
      expect(nonsense).toContain('invalid-output: decision must be');
      const made = ['throws', 'hangs', 'nonsense', 'fine'].filter((x) => done.project.exists(x));
      expect(made).toEqual(event === 'PreToolUse' ? ['fine'] : []);
    }
  });
});

/** Seconds that a callback has: one that answers at all does so within them on a busy machine too. */
const LIMIT = 3;

/** Behaves by what it is asked about. */
function misbehaving({ input }: Fields): unknown {
  const text = JSON.stringify(input);
  if (text.includes('throws')) return Promise.reject(new Error('BOOM'));
  if (text.includes('hangs')) return undefined;
  if (text.includes('nonsense')) return { decision: 7 };
  return {};
}

function failureIn({ trace }: ReturnType<typeof receipts>[number]): string | undefined {
  return trace.find(({ failure }) => failure !== undefined)?.failure;
}

function expectRefusals(all: ReturnType<typeof receipts>, by: string): void {
  expect(all).toHaveLength(NAMES.length + 1);
  const causes = new Set<string>();
  for (const mode of failures.modes) {
    const receipt = all.find(({ input }) => input.command === `touch ${mode.name}`);
    expect(receipt, mode.name).toMatchObject({ decision: 'deny', decidedBy: by });
    expect(receipt?.reason.toLowerCase()).toContain('the guard failed: ');
    const failure = receipt === undefined ? undefined : failureIn(receipt);
    expect(failure, mode.name).toMatch(new RegExp(`^${mode.cause}: `));
    expect(failure, mode.name).toContain(mode.text);
    causes.add(String(failure));
  }
  expect(causes.size, 'every failure has words of its own').toBe(NAMES.length);
}

describe('a guard of a prompt or of the model that fails, refuses', () => {
  it.concurrent.each(NAMES)('UserPromptSubmit and PreModelSwitch: %s', async (name) => {
    const mode = modeNamed(name);
    let refusal: Frame = {};
    const done = await drive(
      {
        home: {
          ...failures.home,
          ...userHooks({
            UserPromptSubmit: on(mode.handler('UserPromptSubmit')),
            PreModelSwitch: on(mode.handler('PreModelSwitch')),
          }),
        },
        actors: script('never'),
      },
      async (host) => {
        await host.request({ subtype: 'initialize' });
        refusal = await host.request({ subtype: 'set_model', model: 'haiku' });
        await promptOnce(host, 'THE PROMPT');
        host.end();
      },
    );
    expect(refusal).toMatchObject({
      subtype: 'error',
      error: expect.stringContaining('guard failed: '),
    });
    expect(refusal.error).toContain(`(${mode.cause}: `);
    expect(refusal.error).toContain(mode.text);
    expect(done.result).toMatchObject({ terminal_reason: 'prompt_blocked', num_turns: 0 });
    expect(done.result?.result).toContain('guard failed: ');
    expect(done.result?.result).toContain(mode.text);
    expect(done.requests.filter(({ body }) => !isJudge(body))).toEqual([]);
  });

  it('UserPromptSubmit: a person reads which guard failed, and why', async () => {
    const done = await run({
      home: userHooks({ UserPromptSubmit: on(command('exit 3', { name: 'scan' })) }),
      script: ['never'],
    });
    const told = String(done.result?.result);
    expect(told).toContain('guard failed: ');
    expect(told).toContain('command "exit 3"');
    expect(told).toContain('exit-code: ');
  });

  it('callbacks of a host that throw or hang', async () => {
    let errors: unknown[] = [];
    const registered = [{ hookCallbackIds: ['guard'], timeout: LIMIT }];
    const { scenario } = wireHost({
      initialize: { hooks: { UserPromptSubmit: registered, PreModelSwitch: registered } },
      prompts: ['this one throws', 'this one hangs', 'this one is nonsense', 'this one is fine'],
      callback: (request) => {
        const input = request.input as Fields;
        const model = String(input.to_model ?? '');
        const word = model.includes('haiku') ? 'throws' : model === '' ? '' : 'hangs';
        return misbehaving({ input: { ...input, word } });
      },
      async onFrame(frame, host) {
        if (frame.type !== 'result' || errors.length > 0) return;
        errors = [undefined];
        const asked = ['haiku', 'sonnet'].map((model) =>
          host.answered(host.control({ subtype: 'set_model', model })),
        );
        errors = (await Promise.all(asked)).map(({ error }) => error);
      },
    });
    const done = await run({ ...scenario, script: ['answered'] });
    const results = done.frames.filter(isResult).map((frame) => String(frame.result));
    expect(results[0]).toMatch(/guard failed: .*BOOM/);
    expect(results[1]).toMatch(/guard failed: .*no answer within 3 s/);
    expect(results[2]).toContain('guard failed: ');
    expect(results[3]).toBe('answered');
    expect(done.requests).toHaveLength(1);
    expect(errors[0]).toContain('threw: BOOM');
    expect(errors[1]).toContain(`timeout: no answer within ${LIMIT} s`);
  });
});

async function promptOnce(host: Host, text: string): Promise<Frame> {
  host.prompt(text);
  return await host.next(isResult);
}

function isJudge(body: unknown): boolean {
  return JSON.stringify(body).includes('Schema of the answer');
}

describe('a guard of what servers ask, or of new trees, that fails, refuses', () => {
  it.concurrent.each(PLAIN_NAMES)(
    'Elicitation, ElicitationResult, WorktreeCreate: %s',
    async (name) => {
      const mode = modeNamed(name);
      const hooks = {
        Elicitation: onTool('asker', mode.handler('Elicitation')),
        ElicitationResult: onTool('teller', mode.handler('ElicitationResult')),
        WorktreeCreate: on(mode.handler('WorktreeCreate')),
      };
      const asked: unknown[] = [];
      const done = await drive(
        { home: { ...failures.home, ...userHooks(hooks) }, ...GUARDED_WORK },
        async (host) => {
          await host.request({ subtype: 'initialize' });
          host.prompt('go');
          for (;;) {
            const frame = await host.next((one) => isResult(one) || isElicitation(one));
            if (isResult(frame)) break;
            asked.push((frame.request as Fields).mcp_server_name);
            host.answer(frame, ANSWERED);
          }
          host.end();
        },
      );
      expect(asked).toEqual(['teller']);
      expectNothingDone(done, mode.text);
    },
  );

  it('callbacks of a host that throw', async () => {
    const guard = { hookCallbackIds: ['guard'] };
    const { scenario } = wireHost({
      initialize: {
        hooks: {
          Elicitation: [{ matcher: 'asker', ...guard }],
          ElicitationResult: [{ matcher: 'teller', ...guard }],
          WorktreeCreate: [guard],
        },
      },
      callback: () => Promise.reject(new Error('BOOM')),
      canUseTool: () => ANSWERED,
    });
    expectNothingDone(await run({ ...scenario, ...GUARDED_WORK }), 'BOOM');
  });
});

const ANSWERED = { action: 'accept', content: { name: 'Ada' } };

/** Two servers ask something, and an agent is to work in a tree that git could make. */
const GUARDED_WORK = {
  git: true,
  args: [
    ...['--allowedTools', 'mcp__asker__ask', 'mcp__teller__ask'],
    ...['--mcp-config', askers('asker', 'teller')],
  ],
  script: [
    { tool: 'mcp__asker__ask', input: {} },
    { tool: 'mcp__teller__ask', input: {} },
    { tool: 'Agent', input: { description: 'x', prompt: 'THE PART', isolation: 'worktree' } },
    'end',
  ],
};

function expectNothingDone(done: Awaited<ReturnType<typeof run>>, words: string): void {
  for (const [index, server] of ['asker', 'teller'].entries()) {
    expect(done.toolResult(index).text).toBe('The answer: {"action":"decline"}');
    const told = notices(done).filter((text) => text.includes(`MCP server "${server}" asked`));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('guard failed: ');
    expect(told[0]).toContain(words);
  }
  const { text, isError } = done.toolResult(2);
  expect(isError).toBe(true);
  expect(text).toContain('No working tree was made: guard failed: ');
  expect(text).toContain(words);
  expect(done.requests).toHaveLength(4);
  expect(done.project.exists('.claude/worktrees')).toBe(false);
}

describe('a guard of the settings that fails, keeps the old ones', () => {
  it.concurrent.each(PLAIN_NAMES)('ConfigChange: %s', async (name) => {
    const mode = modeNamed(name);
    const hooks = { ConfigChange: on(mode.handler('ConfigChange')) };
    const done = await changeSettings({ hooks });
    expect(done.project.exists('granted')).toBe(false);
    const [told] = notices(done).filter((text) => text.includes('guard failed: '));
    expect(told).toContain('the earlier ones stay in force');
    expect(told).toContain(`(${mode.cause}: `);
    expect(told).toContain(mode.text);
  });

  it('callbacks of a host that throw or hang; without any, the change holds', async () => {
    for (const [timeout, callback, told] of [
      [30, () => ({ subtype: 'error', error: 'BOOM' }), 'threw: BOOM'],
      [0.4, () => undefined, 'timeout: no answer within 0.4 s'],
    ] as const) {
      const done = await changeSettings({
        initialize: { hooks: { ConfigChange: [{ hookCallbackIds: ['guard'], timeout }] } },
        callback,
      });
      expect(done.project.exists('granted')).toBe(false);
      expect(notices(done).join('\n')).toContain(told);
    }
    expect((await changeSettings({})).project.exists('granted')).toBe(true);
  });
});

interface Change {
  readonly hooks?: Readonly<Record<string, readonly Fields[]>>;
  readonly initialize?: Fields;
  readonly callback?: () => Fields | undefined;
}

/** Adds a rule to the user's settings while a session is open, then makes the call that it allows. */
function changeSettings({ hooks = {}, initialize = {}, callback }: Change) {
  const home = { ...failures.home, ...userHooks(hooks) };
  return driveIn(home, async (host, write) => {
    await host.request({ subtype: 'initialize', ...initialize });
    write({ hooks, permissions: { allow: ['Bash(touch granted)'] } });
    host.prompt('go');
    for (;;) {
      const frame = await host.next(({ type }) => type === 'result' || type === 'control_request');
      if (frame.type === 'result') break;
      const response = callback?.();
      const request_id = frame.request_id;
      if (response !== undefined) {
        host.send({ type: 'control_response', response: { request_id, ...response } });
      }
    }
    host.end();
  });
}

async function driveIn(
  home: Parameters<typeof run>[0]['home'] & object,
  play: (host: Host, write: (settings: Fields) => void) => Promise<void>,
) {
  const { makeTempProject } = await import('../../src/testing/temp-project.js');
  const project = makeTempProject({ home });
  const world = { project, remove: () => project.remove() };
  const write = (settings: Fields): void =>
    project.write(`../home/${SETTINGS}`, JSON.stringify(settings));
  return await drive({ world, actors: script(bash('touch granted'), 'end') }, (host) =>
    play(host, write),
  );
}
