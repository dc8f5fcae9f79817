import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../test/support/gate-rig.js';
import type { SessionNews } from '../protocol/session-events.js';
import { makeTempProject } from '../testing/temp-project.js';
import { createCallbackPrecheck } from './callback-guard.js';
import type { CallbackEntry, CallbackRequest } from './callbacks.js';

const project = makeTempProject({ files: { 'a.txt': 'a' } });
afterAll(() => project.remove());

type Callback = (request: CallbackRequest) => unknown;
type Entry = Partial<CallbackEntry>;

/** A gate in front of which these callbacks stand, by id. */
function rig(
  callbacks: Readonly<Record<string, Callback>>,
  options: Partial<RigOptions> & { entries?: readonly Entry[]; restrictOnly?: boolean } = {},
) {
  const news: SessionNews[] = [];
  const requests: CallbackRequest[] = [];
  const entries: CallbackEntry[] = (options.entries ?? [{}]).map((entry) => ({
    ids: Object.keys(callbacks),
    timeoutMs: 60_000,
    onFailure: 'block',
    ...entry,
  }));
  const precheck = createCallbackPrecheck({
    callbacks: {
      registered: (event) => (event === 'PreToolUse' ? entries : []),
      call: async (request) => {
        requests.push(request);
        return await callbacks[request.id]?.(request);
      },
    },
    monotonic: () => 0,
    restrictOnly: () => options.restrictOnly === true,
    facts: () => ({ sessionId: 's-1', transcriptPath: '/t.jsonl', promptId: 'p-1' }),
    emit: (one) => news.push(one),
  });
  const gate = gateRig({ cwd: project.directory, home: project.home, precheck, ...options });
  return { ...gate, news, requests };
}

function says(permissionDecision: string, more: Record<string, unknown> = {}): unknown {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } };
}

function rewrites(input: Record<string, unknown>, decision?: string): unknown {
  const permissionDecision = decision === undefined ? {} : { permissionDecision: decision };
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: input, ...permissionDecision },
  };
}

const command = (text: string) => ({ command: text });

describe('what a callback is told', () => {
  it('is the call, the session and the mode', async () => {
    const { call, requests } = rig({ one: () => ({}) }, { mode: 'acceptEdits' });
    await call('Bash', command('npm test'));
    expect(requests).toMatchObject([
      {
        id: 'one',
        toolUseId: 'toolu_1',
        input: {
          session_id: 's-1',
          transcript_path: '/t.jsonl',
          cwd: project.directory,
          prompt_id: 'p-1',
          permission_mode: 'acceptEdits',
          hook_event_name: 'PreToolUse',
          tool_name: 'Bash',
          tool_input: { command: 'npm test' },
          tool_use_id: 'toolu_1',
          agent: { path: 'main' },
        },
      },
    ]);
    expect(requests[0]?.input).not.toHaveProperty('agent_id');
  });

  it('is nothing when its matcher names another tool', async () => {
    const { call, requests } = rig(
      { one: () => says('deny') },
      { entries: [{ matcher: 'Write' }] },
    );
    await call('Bash', command('echo hi'));
    expect(requests).toEqual([]);
  });
});

describe('the strictest answer wins', () => {
  it.each([
    [['deny', 'allow'], 'deny'],
    [['allow', 'deny'], 'deny'],
    [['ask', 'deny'], 'deny'],
    [['defer', 'deny'], 'deny'],
    [['ask', 'defer'], 'defer'],
    [['allow', 'ask'], 'ask'],
    [['allow', 'allow'], 'allow'],
  ])('%j: %s', async (answers, expected) => {
    const callbacks = Object.fromEntries(
      answers.map((answer, index) => [`h${index}`, () => says(answer)]),
    );
    const verdict = await rig(callbacks).call('Bash', command('npm test'));
    const ended = verdict.receipt.decision;
    const asked = verdict.kind === 'refused' && verdict.message.includes('requires approval');
    expect(asked ? 'ask' : ended).toBe(expected);
  });

  it('takes the legacy words for what they meant', async () => {
    const blocked = await rig({ h: () => ({ decision: 'block', reason: 'WHY' }) }).call(
      'Bash',
      command('echo hi'),
    );
    expect(blocked).toMatchObject({ kind: 'refused', message: expect.stringContaining('WHY') });
    const approved = await rig({ h: () => ({ decision: 'approve' }) }).bash('npm test');
    expect(approved).toBe('runs');
  });

  it('asks all at once, and keeps what each said', async () => {
    let waiting = 0;
    let release: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const together = async () => {
      if (++waiting === 2) release();
      await both;
      return {};
    };
    const verdict = await rig({ a: together, b: together }).call('Read', { file_path: 'a.txt' });
    expect(verdict.kind).toBe('allowed');
    expect(verdict.receipt.trace.slice(0, 2)).toMatchObject([
      { guard: 'the callback a', decision: 'pass' },
      { guard: 'the callback b', decision: 'pass' },
    ]);
  });
});

describe('a yes', () => {
  it('opens what nothing holds', async () => {
    expect(await rig({ h: () => says('allow') }).bash('npm test')).toBe('runs');
  });

  it.each([
    [{ deny: ['Bash(npm *)'] }, 'denied'],
    [{ ask: ['Bash(npm *)'] }, 'asks'],
  ])('does not beat the rules %j', async (rules, expected) => {
    expect(await rig({ h: () => says('allow') }, rules).bash('npm test')).toBe(expected);
  });

  it('counts for nothing where only an administrator may grant', async () => {
    const limited = { restrictOnly: true };
    expect(await rig({ h: () => says('allow') }, limited).bash('npm test')).toBe('asks');
    const own = rig({ h: () => rewrites(command('npm run x'), 'allow') }, limited);
    expect(await own.bash('npm test')).toBe('asks');
    const { call } = rig({ h: () => says('deny') }, limited);
    expect((await call('Read', { file_path: 'a.txt' })).kind).toBe('refused');
  });

  it('does not open protected paths', async () => {
    const { outcome } = rig({ h: () => says('allow') });
    expect(await outcome('Write', { file_path: '.git/config', content: '' })).toBe('asks');
  });
});

describe('a failure refuses', () => {
  it.each<[string, Callback]>([
    ['an error', () => Promise.reject(new Error('BOOM'))],
    ['a list', () => []],
    ['a text', () => 'allow'],
    ['a wrong event', () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse' } })],
    ['no event', () => ({ hookSpecificOutput: { permissionDecision: 'allow' } })],
    ['an unknown word', () => says('yes')],
    ['an unknown legacy word', () => ({ decision: 'allow' })],
    ['a wrong type beside a no', () => ({ ...(says('deny') as object), continue: 'no' })],
    ['a rewrite that is no object', () => rewrites('x' as never, 'allow')],
  ])('%s', async (_name, callback) => {
    const verdict = await rig({ h: callback }).call('Read', { file_path: 'a.txt' });
    expect(verdict).toMatchObject({
      kind: 'refused',
      receipt: { decision: 'deny' },
      message: expect.stringContaining('the guard failed'),
    });
    expect(verdict.receipt.trace[0]).toMatchObject({ failure: expect.any(String) });
  });

  it('silence, too, and the callback is told that nobody waits any more', async () => {
    let withdrawn = false;
    const { call } = rig(
      {
        h: ({ signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              withdrawn = true;
            });
          }),
      },
      { entries: [{ timeoutMs: 10, onFailure: 'continue' }] },
    );
    const verdict = await call('Read', { file_path: 'a.txt' });
    expect(verdict).toMatchObject({ kind: 'refused', message: expect.stringContaining('0.01 s') });
    expect(withdrawn).toBe(true);
  });

  it('passes where the host said so, with a warning', async () => {
    const entries: Entry[] = [{ onFailure: 'continue' }];
    for (const callback of [() => Promise.reject(new Error('BOOM')), () => []]) {
      const { call, news } = rig({ h: callback }, { entries });
      expect((await call('Read', { file_path: 'a.txt' })).kind).toBe('allowed');
      expect(news).toMatchObject([{ level: 'warning', tag: 'hook_callback_failed' }]);
    }
  });

  it.each<[string, unknown]>([
    ['a no in it', { ...(says('deny') as object), continue: 'no' }],
    ['another event', { hookSpecificOutput: { hookEventName: 'Stop' } }],
    ['an ask in it', { ...(says('ask') as object), systemMessage: 7 }],
  ])('does not pass with %s, whatever the host said', async (_name, answer) => {
    const { call } = rig({ h: () => answer }, { entries: [{ onFailure: 'continue' }] });
    expect((await call('Read', { file_path: 'a.txt' })).kind).toBe('refused');
  });

  it('nothing and async are no opinion', async () => {
    for (const answer of [undefined, null, {}, { async: true }]) {
      expect(await rig({ h: () => answer }).bash('echo hi')).toBe('runs');
    }
  });
});

describe('a new input', () => {
  it('is what runs, and what the rules judge', async () => {
    const { call } = rig({ h: () => rewrites(command('echo safe')) });
    const verdict = await call('Bash', command('npm test'));
    expect(verdict).toMatchObject({ kind: 'allowed', input: { command: 'echo safe' } });
    const denied = rig({ h: () => rewrites(command('rm x'), 'allow') }, { deny: ['Bash(rm *)'] });
    expect(await denied.bash('echo hi')).toBe('denied');
  });

  it('is shown to all callbacks once more', async () => {
    const { call, requests } = rig({
      a: ({ input }) => {
        const { command: given } = input.tool_input as { command: string };
        return given === 'echo one' ? rewrites(command('echo two')) : {};
      },
      b: ({ input }) =>
        (input.tool_input as { command: string }).command === 'echo two' ? says('deny') : {},
    });
    expect((await call('Bash', command('echo one'))).kind).toBe('refused');
    expect(requests.map(({ id }) => id)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('keeps the ask that came with it', async () => {
    const { bash } = rig({
      h: ({ input }) =>
        (input.tool_input as { command: string }).command === 'echo one'
          ? rewrites(command('echo two'), 'ask')
          : {},
    });
    expect(await bash('echo one')).toBe('asks');
  });

  it('is allowed when its author said so, not when somebody else did', async () => {
    const first = (answer: unknown): Callback => {
      let calls = 0;
      return () => (calls++ === 0 ? answer : {});
    };
    const own = rig({ h: first(rewrites(command('npm run x'), 'allow')) });
    expect(await own.bash('npm test')).toBe('runs');
    const other = rig({ a: first(says('allow')), b: first(rewrites(command('npm run x'))) });
    expect(await other.bash('npm test')).toBe('asks');
  });

  it('refuses two that differ, and names both', async () => {
    const { call } = rig({
      a: () => rewrites(command('echo a')),
      b: () => rewrites(command('echo b')),
    });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/callback a and the callback b want different inputs/),
    });
    const same = rig({
      a: () => rewrites({ command: 'echo a', timeout: 1 }),
      b: () => rewrites({ timeout: 1, command: 'echo a' }),
    });
    expect(await same.bash('echo')).toBe('runs');
  });

  it('refuses one that changes what was changed already', async () => {
    const { call } = rig({
      h: ({ input }) =>
        rewrites(command(`echo ${(input.tool_input as { command: string }).command}`)),
    });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('changed already'),
    });
  });

  it('refuses one that the tool does not take', async () => {
    const { call } = rig({ h: () => rewrites({ command: 'echo', invalid: 1 }, 'allow') });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('not valid'),
    });
  });

  it('may stand at the top, as some hooks write it', async () => {
    const { call } = rig({ h: () => ({ tool_input: command('echo top') }) });
    expect(await call('Bash', command('echo'))).toMatchObject({ input: { command: 'echo top' } });
  });
});

describe('what else a callback can say', () => {
  it('continue: false keeps the call from running and ends the turn', async () => {
    const { call } = rig({ h: () => ({ continue: false, stopReason: 'ENOUGH' }) });
    expect(await call('Read', { file_path: 'a.txt' })).toMatchObject({
      kind: 'refused',
      stop: 'ENOUGH',
    });
    const beside = rig({ a: () => says('deny'), b: () => ({ continue: false }) });
    expect(await beside.call('Read', { file_path: 'a.txt' })).toHaveProperty('stop');
  });

  it('systemMessage is for people', async () => {
    const { call, news } = rig({ h: () => ({ systemMessage: 'HELLO' }) });
    const verdict = await call('Read', { file_path: 'a.txt' });
    expect(verdict.kind).toBe('allowed');
    expect(news).toEqual([{ type: 'notice', level: 'notice', text: 'PreToolUse:Read: HELLO' }]);
  });

  it('an interrupted turn is no verdict', async () => {
    const turn = new AbortController();
    const { call } = rig(
      {
        h: () =>
          new Promise(() => {
            turn.abort(new Error('interrupted'));
          }),
      },
      { signal: turn.signal },
    );
    expect((await call('Read', { file_path: 'a.txt' })).kind).toBe('refused');
  });
});

describe('a denied call', () => {
  const COMMANDS = ['rm a.txt', 'true && rm a.txt', 'sh -c "rm a.txt"', 'npm test', 'ls'];
  const answer = fc.oneof(
    fc.constantFrom('allow', 'ask', 'deny', 'defer', 'nonsense').map((word) => says(word)),
    fc
      .tuple(fc.constantFrom(...COMMANDS), fc.constantFrom(undefined, 'allow', 'ask'))
      .map(([text, decision]) => rewrites(command(text), decision)),
    fc.constantFrom<unknown>({}, undefined, 'text', 7, { continue: false }),
  );

  it('never runs, whatever rules, modes, callbacks and askers say', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          text: fc.constantFrom(...COMMANDS),
          mode: fc.constantFrom(
            ...(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const),
          ),
          allow: fc.subarray(['Bash', 'Bash(rm *)', 'Bash(sh *)', 'Bash(npm *)']),
          ask: fc.subarray(['Bash(npm *)']),
          answers: fc.array(answer, { minLength: 1, maxLength: 3 }),
          onFailure: fc.constantFrom('block' as const, 'continue' as const),
          rewrite: fc.option(fc.constantFrom(...COMMANDS), { nil: undefined }),
        }),
        async ({ text, mode, allow, ask, answers, onFailure, rewrite }) => {
          const callbacks = Object.fromEntries(answers.map((one, n) => [`h${n}`, () => one]));
          const updatedInput = rewrite === undefined ? {} : { updatedInput: command(rewrite) };
          const { call } = rig(callbacks, {
            mode,
            allow,
            ask,
            deny: ['Bash(rm *)'],
            entries: [{ onFailure }],
            asker: async () => ({ behavior: 'allow', ...updatedInput }),
          });
          const verdict = await call('Bash', command(text));
          if (verdict.kind === 'allowed') expect(JSON.stringify(verdict.input)).not.toContain('rm');
        },
      ),
      { numRuns: 500 },
    );
  });
});
