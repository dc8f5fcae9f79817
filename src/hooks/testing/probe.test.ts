import { describe, expect, it } from 'vitest';
import {
  answers,
  type Behaviour,
  capture,
  command,
  exits,
  group,
  hooksOf,
  PROJECT,
  plainReader,
  runnersOf,
  settings,
  sourced,
} from '../../../test/support/dispatch-rig.js';
import type { HookSet } from '../registry/captured.js';
import type { Hook, HookRequest } from '../registry/hook.js';
import {
  type ProbeDeps,
  type ProbeOptions,
  probeAtStart,
  probeFailed,
  probeGates,
  probeWarning,
} from './probe.js';

const IDLE: AbortSignal = new AbortController().signal;

type Asked = { readonly hook: Hook; readonly request: HookRequest }[];

function depsOf(hooks: HookSet, behave: Behaviour, asked: Asked = []): ProbeDeps {
  return {
    hooks,
    runners: async () =>
      runnersOf((hook, request) => {
        asked.push({ hook, request });
        return behave(hook, request);
      }),
    read: plainReader,
    facts: () => ({ sessionId: 's1', transcriptPath: '/t/s1.jsonl' }),
    clock: { monotonic: () => performance.now(), uuid: () => 'u' },
    emit: () => undefined,
  };
}

async function probe(
  hooks: HookSet,
  {
    behave = async () => answers({}),
    deps = {},
    ...options
  }: Partial<ProbeOptions> & { behave?: Behaviour; deps?: Partial<ProbeDeps> } = {},
) {
  const asked: Asked = [];
  const report = await probeGates(
    { ...depsOf(hooks, behave, asked), ...deps },
    { cwd: PROJECT, signal: IDLE, ...options },
  );
  return { report, asked, labels: report.probed.map(({ hook }) => hook.label) };
}

describe('a probe', () => {
  it('asks every guard once, with a sample that says that it is a probe', async () => {
    const values = settings({
      'hooks.PreToolUse': [sourced(group([command('a'), command('b')]))],
      'hooks.UserPromptSubmit': [sourced(group([command('c')]))],
      'hooks.PostToolUse': [sourced(group([command('no guard')]))],
      'hooks.SessionStart': [sourced(group([command('no guard either')]))],
    });
    const { asked, report } = await probe(capture(values));
    expect(asked.map(({ hook }) => hook.handler)).toMatchObject([
      { command: 'c' },
      { command: 'a' },
      { command: 'b' },
    ]);
    expect(asked.map(({ request }) => request.input)).toMatchObject([
      { hook_event_name: 'UserPromptSubmit', probe: true, prompt: expect.any(String) },
      { hook_event_name: 'PreToolUse', probe: true, tool_name: 'Bash', session_id: 's1' },
      { probe: true },
    ]);
    expect(report.probed.some(probeFailed)).toBe(false);
    expect(report.skipped).toEqual([]);
  });

  it('shows a guard something that it is meant for', async () => {
    const hooks = [
      { matcher: 'Write|Edit' },
      { matcher: 'mcp__db__query' },
      { matcher: 'Bash', agents: 'reviewer' },
      { matcher: '(' },
    ];
    const values = settings({
      'hooks.PreToolUse': hooks.map((more, at) =>
        sourced(group([command(`h${at}`, { if: 'Bash(git *)' })], more), 'project', at + 1),
      ),
      'hooks.ConfigChange': [sourced(group([command('c')], { matcher: 'local_settings' }))],
    });
    const { asked } = await probe(capture(values));
    const seen = asked.map(({ request: { input, agent } }) => [
      input.tool_name ?? input.source,
      agent.path,
    ]);
    expect(seen).toEqual([
      ['Write', 'main'],
      ['mcp__db__query', 'main'],
      ['Bash', 'main/reviewer#1'],
      ['Bash', 'main'],
      ['local_settings', 'main'],
    ]);
    expect(asked[0]?.request.input.tool_input).toEqual({
      file_path: `${PROJECT}/sample.txt`,
      content: 'a line\n',
    });
  });

  it('leaves alone what costs something, reaches out or has effects', async () => {
    const values = settings({
      'hooks.PreToolUse': [
        sourced(
          group([
            { type: 'prompt', prompt: 'ok?' },
            { type: 'agent', prompt: 'ok?' },
            { type: 'http', url: 'http://127.0.0.1:1/' },
            { type: 'mcp_tool', server: 's', tool: 't' },
            command('beside', { async: true }),
          ]),
        ),
      ],
      'hooks.WorktreeCreate': [sourced(group([command('make a tree')]))],
    });
    const some = await probe(capture(values));
    expect(some.labels).toEqual([]);
    expect(some.report.skipped).toHaveLength(6);
    const all = await probe(capture(values), { all: true });
    expect(all.asked.map(({ hook }) => hook.handler.type)).toEqual([
      'prompt',
      'agent',
      'http',
      'mcp_tool',
    ]);
    expect(all.report.skipped.map(({ why }) => why)).toEqual([
      'it runs beside the session and decides nothing',
      expect.stringContaining('it would make a working tree'),
    ]);
  });

  it('asks copies in several files once', async () => {
    const same = group([command('a')], { matcher: 'Bash' });
    const values = settings({ 'hooks.PreToolUse': [sourced(same), sourced(same, 'user')] });
    expect((await probe(capture(values))).labels).toHaveLength(1);
  });
});

describe('a guard that gives no verdict', () => {
  const ONE = capture(hooksOf('PreToolUse', [command('a', { timeout: 5 })]));

  it.each<[string, Behaviour, RegExp]>([
    ['exit-code', async () => exits(3), /exit-code.*what it guards will be refused/],
    ['threw', async () => Promise.reject(new Error('BOOM')), /threw: BOOM/],
  ])('is told: %s', async (cause, behave, words) => {
    const { report } = await probe(ONE, { behave });
    const [one] = report.probed;
    expect(one).toMatchObject({ failure: { cause }, limitMs: 5000, decision: 'none' });
    expect(one === undefined ? '' : probeWarning(one)).toMatch(words);
  });

  it('in time, is told, however long its own limit is', async () => {
    const { report } = await probe(ONE, { behave: () => new Promise(() => {}), atMostMs: 20 });
    expect(report.probed).toMatchObject([{ failure: { cause: 'timeout' }, limitMs: 20 }]);
    const [one] = report.probed;
    expect(one === undefined ? '' : probeWarning(one)).toMatch(/within 0\.02 s .* limit is 5 s$/);
  });

  it('but an error that blocks nothing is told as well', async () => {
    const { report } = await probe(ONE, { behave: async () => exits(1, '', 'no jq') });
    const [one] = report.probed;
    expect(one === undefined ? undefined : [probeFailed(one), probeWarning(one)]).toEqual([
      true,
      expect.stringContaining('no jq'),
    ]);
  });

  it('because it is no hook is told without being run', async () => {
    const broken = capture(hooksOf('PreToolUse', [{ type: 'command' }]));
    const { report, asked } = await probe(broken);
    expect(asked).toEqual([]);
    expect(report.probed).toMatchObject([{ failure: { cause: 'cannot-start' } }]);
  });

  it('because nothing can run it, or nobody waits, is told', async () => {
    const deps = { runners: () => Promise.reject(new Error('no runners')) };
    expect((await probe(ONE, { deps })).report.probed).toMatchObject([
      { failure: { cause: 'threw', message: 'no runners' } },
    ]);
    const facts = () => {
      throw new Error('no facts');
    };
    expect((await probe(ONE, { deps: { facts } })).report.probed).toMatchObject([
      { failure: { cause: 'threw', message: 'no facts' } },
    ]);
    const { report } = await probe(ONE, { signal: AbortSignal.abort() });
    expect(report.probed).toMatchObject([{ failure: { cause: 'unavailable' } }]);
  });

  it('is not one that says no', async () => {
    const { report } = await probe(ONE, { behave: async () => exits(2, '', 'never') });
    const [one] = report.probed;
    expect(one).toMatchObject({ decision: 'deny' });
    expect(one === undefined ? 'none' : probeWarning(one)).toBeUndefined();
  });
});

describe('at the start of a session', () => {
  const hooks = capture(hooksOf('PreToolUse', [command('good'), command('bad')]));
  const behave: Behaviour = async ({ label }) => exits(label.includes('bad') ? 3 : 2);

  it('a guard that gives no verdict is told, and nothing else', async () => {
    const told: string[] = [];
    const options = { cwd: PROJECT, signal: IDLE };
    await probeAtStart(depsOf(hooks, behave), options, (text) => told.push(text));
    expect(told).toEqual([expect.stringContaining('command "bad"')]);
  });

  it('a session that ends meanwhile is told nothing', async () => {
    const told: string[] = [];
    const over = new AbortController();
    const ending: Behaviour = async () => {
      over.abort();
      return new Promise(() => {});
    };
    const options = { cwd: PROJECT, signal: over.signal };
    await probeAtStart(depsOf(hooks, ending), options, (text) => told.push(text));
    expect(told).toEqual([]);
  });
});
