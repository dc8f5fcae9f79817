import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { run } from '../e2e/worlds.js';
import { wireHost } from '../support/wire-host.js';
import {
  allowBash,
  bash,
  command,
  linesOf,
  notices,
  on,
  onTool,
  pre,
  quoted,
  read,
  receipts,
  userHooks,
} from './e2e-rig.js';

const CALLS = 32;
const numbers = Array.from({ length: CALLS }, (_, index) => index);
/** Ends when as many run at the same time, however long it takes to start them; alone it gives up. */
const MEETS = command(`
  mkdir -p "$HOME/met" && : > "$HOME/met/$$" && left=200
  until set -- "$HOME"/met/* && [ $# -ge ${CALLS} ]; do
    left=$((left - 1)); [ $left -gt 0 ] || exit 1; sleep 0.2
  done
  echo met >> "$HOME/all"`);

function expectAllAtOnce(done: Pick<ScenarioRun, 'project'>): void {
  expect(linesOf(done, 'all')).toEqual(numbers.map(() => 'met'));
}

describe('the guards of all calls of one answer', () => {
  it(`are asked at once: ${CALLS} reads`, async () => {
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Read', MEETS) }),
      files: Object.fromEntries(numbers.map((n) => [`f${n}.txt`, `text ${n}`])),
      script: [{ blocks: numbers.map((n) => read(`f${n}.txt`)) }, 'end'],
    });
    expectAllAtOnce(done);
    for (const n of numbers) expect(done.toolResult(n).text).toContain(`text ${n}`);
    expect(done.result).toMatchObject({ result: 'end', permission_denials: [] });
  });

  it(`are asked at once: ${CALLS} commands that change nothing`, async () => {
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Bash', MEETS) }),
      args: allowBash,
      script: [{ blocks: numbers.map((n) => bash(`echo number ${n}`)) }, 'end'],
    });
    expectAllAtOnce(done);
    for (const n of numbers) expect(done.toolResult(n).text).toBe(`number ${n}`);
  });

  it('wait behind a call that may change what they look at', async () => {
    const wantsNone = command(
      '[ ! -e "$CLAUDE_PROJECT_DIR/flag" ] || { echo "THE FLAG" >&2; exit 2; }',
    );
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Bash', wantsNone) }),
      args: allowBash,
      script: [
        { blocks: [bash('echo hi'), bash('touch flag'), bash('touch after'), bash('echo hi')] },
        'end',
      ],
    });
    expect([done.project.exists('flag'), done.project.exists('after')]).toEqual([true, false]);
    expect([0, 1, 2, 3].map((n) => done.toolResult(n).isError)).toEqual([false, false, true, true]);
  });

  it('decide each about its own call', async () => {
    const refusesOdd = command(
      'case "$(cat)" in *"odd "*) echo "not the odd ones" >&2; exit 2;; esac',
    );
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Bash', refusesOdd) }),
      args: allowBash,
      script: [
        { blocks: numbers.map((n) => bash(`touch ${n % 2 === 1 ? 'odd' : 'even'} made-${n}`)) },
        'end',
      ],
    });
    const made = numbers.filter((n) => done.project.exists(`made-${n}`));
    expect(made).toEqual(numbers.filter((n) => n % 2 === 0));
  });

  it('leave standard error to messages for people', async () => {
    const twelve = Array.from({ length: 12 }, (_, n) => command(`cat > /dev/null # ${n}`));
    const done = await run({
      home: userHooks({ PreToolUse: on(...twelve) }),
      args: allowBash,
      script: [bash('echo hi'), 'end'],
    });
    expect(done.stderr).toBe('');
  });
});

describe('several hooks of one call', () => {
  it('are asked at once, and all are waited for', async () => {
    const twins = Array.from({ length: CALLS }, (_, n) => ({
      ...MEETS,
      command: `${String(MEETS.command)} # ${n}`,
    }));
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Bash', ...twins) }),
      args: allowBash,
      script: [bash('touch made'), 'end'],
    });
    expectAllAtOnce(done);
    expect(done.project.exists('made')).toBe(true);
  });

  it('the same in several files is asked once', async () => {
    const logs = command('echo asked >> "$HOME/asked"');
    const done = await run({
      home: userHooks({ PreToolUse: onTool('Bash', logs) }),
      files: { '.claude/settings.json': { json: { hooks: { PreToolUse: onTool('Bash', logs) } } } },
      args: [...allowBash, '--trust'],
      script: [bash('touch made'), 'end'],
    });
    expect(linesOf(done, 'asked')).toEqual(['asked']);
  });
});

const NO = quoted(JSON.stringify(pre('deny', 'TOO LATE')));

describe('a no that comes after the deadline', () => {
  it('of a command changes nothing: the call that was let pass runs, the refused one stays so', async () => {
    for (const onFailure of ['continue', 'block'] as const) {
      const done = await lateCommand(onFailure);
      expect(done.project.exists('made')).toBe(onFailure === 'continue');
      const [receipt] = receipts(done);
      expect(receipt?.trace[0]?.failure).toBe('timeout: no answer within 0.3 s');
      expect(JSON.stringify([receipt, done.toolResult(0)])).not.toContain('TOO LATE');
    }
  });

  it('of a command is told as late', async () => {
    let done = await lateCommand('continue');
    // A busy machine may not have got as far as the trap in time, or not back before the end.
    for (let slower = 4; slower < 100 && notices(done, 'hook_late').length === 0; slower *= 4)
      done = await lateCommand('continue', slower);
    expect(notices(done, 'hook_late')).toEqual([
      expect.stringMatching(/answered after \d+(?:\.\d+)? s, after its limit/),
    ]);
  });

  it('of a persistent hook changes nothing, and the next question is not answered by it', async () => {
    // Each answer comes a question too late.
    const answers = `while read -r line; do sleep 0.6; printf '{"id":1,"output":%s}\\n' ${NO}; done`;
    const hook = command(answers, { persistent: true, timeout: 0.3, onFailure: 'continue' });
    const done = await run({
      home: userHooks({ PreToolUse: on(hook) }),
      args: [...allowBash, '--include-decisions'],
      script: [bash('touch one'), bash('touch two'), 'end'],
    });
    expect(['one', 'two'].filter((name) => done.project.exists(name))).toEqual(['one', 'two']);
    expect(JSON.stringify(receipts(done))).not.toContain('TOO LATE');
  });

  it('of a callback changes nothing', async () => {
    const { scenario, log } = wireHost({
      initialize: {
        hooks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['a'], timeout: 0.3 }] },
      },
      callback: () =>
        new Promise((resolve) => setTimeout(() => resolve(pre('allow', 'TOO LATE')), 700)),
    });
    const done = await run({
      ...scenario,
      args: [...allowBash, '--include-decisions'],
      script: [bash('touch made'), { text: 'end', delayMs: 800 }],
    });
    expect(log.cancelled).toHaveLength(1);
    expect(done.project.exists('made')).toBe(false);
    expect(JSON.stringify(receipts(done))).not.toContain('TOO LATE');
  });
});

/** A hook that says no when it is told that its time is over. */
function lateCommand(onFailure: 'continue' | 'block', slower = 1): Promise<ScenarioRun> {
  const late = `no=${NO}; trap 'printf %s "$no"; exit 0' TERM; sleep 60 & wait`;
  return run({
    home: userHooks({ PreToolUse: on(command(late, { timeout: 0.3 * slower, onFailure })) }),
    args: [...allowBash, '--include-decisions'],
    script: [bash('touch made'), { text: 'end', delayMs: 300 * slower }],
  });
}
