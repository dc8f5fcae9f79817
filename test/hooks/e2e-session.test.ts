import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { drive, type Host, isResult } from '../e2e/host.js';
import { run } from '../e2e/worlds.js';
import { until } from '../process/helpers.js';
import {
  allowBash,
  bash,
  command,
  context,
  type Fields,
  type Handler,
  type Hooks,
  LOGS,
  linesOf,
  modelText,
  notices,
  on,
  onTool,
  pre,
  requestText,
  SETTINGS,
  says,
  seen,
  userHooks,
} from './e2e-rig.js';

/** A command that lasts until there is a file. */
const untilThere = (file: string): string =>
  `until [ -e "\${CLAUDE_PROJECT_DIR:-.}/${file}" ]; do sleep 0.02; done`;

const answers = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `answer ${index + 1}`);

describe('a Stop hook', () => {
  /** Never content, each time in other words. */
  const NEVER = command(
    'n=$(($(cat "$HOME/n" 2>/dev/null)+1)); echo $n > "$HOME/n"; echo "again $n" >&2; exit 2',
  );

  it('sends the agent on with its words, and is told that it has', async () => {
    const twice = `${LOGS}; n=$(wc -l < "$HOME/seen.jsonl"); [ "$n" -gt 2 ] || { echo "do $n" >&2; exit 2; }`;
    const done = await run({ home: userHooks({ Stop: on(command(twice)) }), script: answers(3) });
    expect(done.result).toMatchObject({ result: 'answer 3', terminal_reason: 'completed' });
    expect(requestText(done, 1)).toMatch(/Stop hook feedback:.*do 1/);
    expect(requestText(done, 2)).toMatch(/Stop hook feedback:.*do 2/);
    expect(seen(done).map((input) => input.stop_hook_active)).toEqual([false, true, true]);
  });

  it('that is never content is overridden after eight times', async () => {
    const done = await run({ home: userHooks({ Stop: on(NEVER) }), script: answers(9) });
    expect(done.requests).toHaveLength(9);
    expect(done.result).toMatchObject({ result: 'answer 9', terminal_reason: 'completed' });
    const [told] = notices(done, 'stop_hook');
    expect(told).toContain('8 times in a row');
    expect(told).toContain('again 9');
  });

  it('is overridden after as many times as the environment says', async () => {
    const done = await run({
      home: userHooks({ Stop: on(NEVER) }),
      env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '2' },
      script: answers(3),
    });
    expect(done.requests).toHaveLength(3);
    expect(notices(done, 'stop_hook')[0]).toContain('2 times in a row');
  });

  it('that says the same three times while nothing changes is overridden', async () => {
    const same = says({ decision: 'block', reason: 'RUN THE TESTS' });
    const idle = await run({ home: userHooks({ Stop: on(same) }), script: answers(3) });
    expect(idle.requests).toHaveLength(3);
    expect(notices(idle, 'stop_hook')[0]).toContain('the same 3 times and nothing had changed');
  });

  it('ends the run with continue: false, whatever others say', async () => {
    const done = await run({
      home: userHooks({ Stop: on(says({ continue: false, stopReason: 'ENOUGH' }), NEVER) }),
      script: answers(1),
    });
    expect(done.result).toMatchObject({
      terminal_reason: 'stop_hook_prevented',
      stop_message: expect.stringContaining('ENOUGH'),
    });
    expect(done.requests).toHaveLength(1);
  });
});

describe('SessionEnd hooks', () => {
  const slow = (more: Fields = {}): Handler =>
    command('sleep 2.5; echo done >> "$HOME/ended"', more);

  it('have a second and a half, unless they name a limit of their own', async () => {
    const ending = (hook: Handler) =>
      run({ home: userHooks({ SessionEnd: on(hook) }), script: ['end'] });
    const [short, long] = await Promise.all([ending(slow()), ending(slow({ timeout: 20 }))]);
    expect(linesOf(short, 'ended')).toEqual([]);
    expect(notices(short, 'hook_failed').join()).toContain('timeout: no answer within 1.5 s');
    expect(linesOf(long, 'ended')).toEqual(['done']);
    for (const done of [short, long]) {
      expect(done).toMatchObject({ exitCode: 0, result: { result: 'end' } });
    }
  });

  it('learn why the session ends', async () => {
    const done = await run({ home: userHooks({ SessionEnd: on(command(LOGS)) }), script: ['end'] });
    expect(seen(done)).toMatchObject([{ reason: 'other', hook_event_name: 'SessionEnd' }]);
  });
});

describe('hooks beside the session', () => {
  it('async decides nothing, holds nothing up, and what it adds comes with a later request', async () => {
    const says1 = String(says({ ...pre('deny', 'VOID'), systemMessage: 'X' }).command);
    const adds = String(says(context('PostToolUse', 'FROM BESIDE')).command);
    const done = await run({
      home: userHooks({
        PreToolUse: on(command(says1, { async: true })),
        PostToolUse: on(
          command(`${untilThere('go')}; ${adds}; touch beside`, { async: true, once: true }),
        ),
      }),
      args: allowBash,
      // The half second is for the answer of a hook that has ended already.
      script: [bash('touch made'), bash(`touch go; ${untilThere('beside')}; sleep 0.5`), 'end'],
    });
    expect(done.project.exists('made')).toBe(true);
    expect(requestText(done, 1)).not.toContain('FROM BESIDE');
    expect(requestText(done, 2)).toContain('FROM BESIDE');
    expect(modelText(done)).not.toContain('VOID');
  });

  it('asyncRewake wakes the model with exit code 2, and with no other', async () => {
    const wakes = command('sleep 0.4; echo "THE BUILD BROKE" >&2; exit 2', {
      asyncRewake: true,
      if: 'Bash(touch *)',
    });
    const done = await wakingSession(wakes, ['Now I know.']);
    expect(requestText(done, 2)).toContain('THE BUILD BROKE');
    const silent = command('sleep 0.4; echo "ALL WELL" >&2; exit 0', { asyncRewake: true });
    expect(modelText(await wakingSession(silent, []))).not.toContain('ALL WELL');
  });
});

/** One prompt with one call, then a host that waits; more answers of the model are for what wakes it. */
function wakingSession(hook: Handler, woken: readonly string[]): Promise<ScenarioRun> {
  return drive(
    {
      home: userHooks({ PostToolUse: onTool('Bash', hook) }),
      args: allowBash,
      script: [bash('touch made'), 'Done for now.', ...woken],
    },
    async (host) => {
      host.prompt('go');
      await host.next(isResult);
      for (const text of woken) await host.next(({ result }) => result === text);
      if (woken.length === 0) await new Promise((resolve) => setTimeout(resolve, 800));
      host.end();
    },
  );
}

describe('settings that change while a session is open', () => {
  it('a ConfigChange hook that says no keeps the old ones, hooks included', async () => {
    const hooks = { ConfigChange: on(command('cat > /dev/null; echo "NOT THESE" >&2; exit 2')) };
    const done = await changing({
      before: { hooks },
      after: { permissions: { allow: ['Bash(touch made)'] } },
      script: [bash('touch made'), 'end'],
    });
    expect(done.project.exists('made')).toBe(false);
    const [told] = notices(done).filter((text) => text.includes('NOT THESE'));
    expect(told).toContain('the earlier ones stay in force');
    expect(told).toContain(SETTINGS);
  });

  it('a ConfigChange hook sees what changed, and a matcher picks the file', async () => {
    const hooks = {
      ConfigChange: [
        { matcher: 'user_settings', hooks: [command(LOGS)] },
        { matcher: 'project_settings', hooks: [command('exit 2')] },
      ],
    };
    const done = await changing({
      before: { hooks },
      after: { hooks, permissions: { allow: ['Bash(touch made)'] } },
      script: [bash('touch made'), 'end'],
    });
    expect(done.project.exists('made')).toBe(true);
    expect(seen(done)).toMatchObject([
      { source: 'user_settings', file_path: expect.stringContaining(`home/${SETTINGS}`) },
    ]);
  });

  it('a new hook guards the very next call, a removed one is asked no more', async () => {
    const denies = { PreToolUse: onTool('Bash', says(pre('deny', 'THE NEW GUARD'))) };
    const added = await changing({
      before: {},
      after: { hooks: denies },
      script: [bash('touch made'), 'end'],
    });
    expect(added.project.exists('made')).toBe(false);
    expect(added.toolResult(0).text).toContain('THE NEW GUARD');
    const removed = await changing({
      before: { hooks: denies },
      after: {},
      script: [bash('touch made'), 'end'],
    });
    expect(removed.project.exists('made')).toBe(true);
  });

  it('within a turn: what a call of the host changed holds for the next call', async () => {
    const project = makeTempProject();
    const world = { project, remove: () => project.remove() };
    const denies: Hooks = { PreToolUse: onTool('Bash', says(pre('deny', 'THE NEW GUARD'))) };
    const done = await run({
      world,
      args: allowBash,
      script: [
        bash(`touch first; ${untilThere('changed')}`),
        bash('touch second'),
        bash('touch third'),
        'end',
      ],
      onStart: (program) => {
        program.end();
        void until(() => project.exists('first')).then(() => {
          project.write(`../home/${SETTINGS}`, JSON.stringify({ hooks: denies }));
          project.write('changed', '');
        });
      },
    });
    expect(done.project.exists('first')).toBe(true);
    expect(done.project.exists('third')).toBe(false);
  });
});

interface Changing {
  readonly before: Fields;
  readonly after: Fields;
  readonly script: NonNullable<Scenario['script']>;
}

/** Opens a session, changes the user's settings, and prompts. */
function changing({ before, after, script }: Changing): Promise<ScenarioRun> {
  const project = makeTempProject({ home: { [SETTINGS]: { json: before } } });
  const world = { project, remove: () => project.remove() };
  const args = 'permissions' in after ? [] : allowBash;
  return drive({ world, args, script }, async (host: Host) => {
    await host.request({ subtype: 'initialize' });
    project.write(`../home/${SETTINGS}`, JSON.stringify(after));
    host.prompt('go');
    await host.next(isResult);
    host.end();
  });
}
