import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { run } from '../e2e/worlds.js';
import {
  allowBash,
  bash,
  command,
  type Handler,
  linesOf,
  modelText,
  notices,
  on,
  onTool,
  pre,
  read,
  receipts,
  SETTINGS,
  says,
  userHooks,
} from './e2e-rig.js';

const DENIES = says(pre('deny', 'A HOOK SAYS NO'));
const ALLOWS = says(pre('allow', 'A HOOK SAYS YES'));

/** One call of Bash, guarded by these hooks of the user. */
function guarded(handlers: readonly Handler[], more: Scenario = {}): Promise<ScenarioRun> {
  return run({
    home: userHooks({ PreToolUse: onTool('Bash', ...handlers) }),
    script: [bash('touch made'), 'end'],
    ...more,
    args: ['--include-decisions', ...(more.args ?? allowBash)],
  });
}

describe('exit codes', () => {
  it('1 is the error that does not block: the call runs, and a person is told', async () => {
    const done = await guarded([command('echo "no config" >&2; echo chatter; exit 1')]);
    expect(done.project.exists('made')).toBe(true);
    expect(notices(done, 'hook_error')).toEqual([
      expect.stringMatching(
        /^PreToolUse: .* failed with exit code 1: no config; the call was not blocked$/,
      ),
    ]);
    expect(modelText(done)).not.toContain('no config');
  });

  it('1 with a no in JSON is a no; with a yes or a new input it is neither', async () => {
    const fails = (value: unknown) =>
      command(`${String(says(value).command)}; echo broken >&2; exit 1`);
    const refused = await guarded([fails(pre('deny', 'STILL NO'))]);
    expect(refused.project.exists('made')).toBe(false);
    expect(refused.toolResult(0).text).toContain('STILL NO');
    const input = { updatedInput: { command: 'touch other' } };
    const asked = await guarded([fails(pre('allow', 'yes', input))], { args: [] });
    expect([asked.project.exists('made'), asked.project.exists('other')]).toEqual([false, false]);
  });

  it('2 is a no with the words of standard error, whatever stands on standard output', async () => {
    const done = await guarded([command(`${String(ALLOWS.command)}; echo "use make" >&2; exit 2`)]);
    expect(done.project.exists('made')).toBe(false);
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('use make'),
    });
  });
});

describe('a failure that somebody has said may pass', () => {
  it('onFailure "continue" lets the call through, loudly, and another guard still counts', async () => {
    const broken = command('exit 9', { onFailure: 'continue' });
    const passed = await guarded([broken]);
    expect(passed.project.exists('made')).toBe(true);
    const [told] = notices(passed, 'hook_failed');
    expect(told).toMatch(/exit-code: it ended with exit code 9\) and was passed over$/);
    const refused = await guarded([broken, DENIES]);
    expect(refused.project.exists('made')).toBe(false);
  });

  it('hookFailure "open" in the user settings opens all that say nothing, and is told at the start', async () => {
    const open = { portcullis: { hookFailure: 'open' } };
    const groups = onTool(
      'Bash',
      command('exit 9', { if: 'Bash(touch made)' }),
      command('exit 8', { if: 'Bash(touch strict)', onFailure: 'block' }),
    );
    const done = await run({
      home: userHooks({ PreToolUse: groups }, open),
      args: allowBash,
      script: [bash('touch made'), bash('touch strict'), 'end'],
    });
    expect([done.project.exists('made'), done.project.exists('strict')]).toEqual([true, false]);
    const start = done.frames.findIndex(({ type }) => type === 'assistant');
    expect(notices({ frames: done.frames.slice(0, start) }).join('\n')).toContain('hookFailure');
  });

  it('hookFailure "open" of a trusted project opens nothing', async () => {
    const done = await guarded([command('exit 9')], {
      files: { [SETTINGS]: { json: { portcullis: { hookFailure: 'open' } } } },
      args: [...allowBash, '--trust'],
    });
    expect(done.project.exists('made')).toBe(false);
  });
});

describe('what hooks decide together with rules', () => {
  it('continue: false keeps the call from running and ends the turn', async () => {
    const done = await guarded([says({ continue: false, stopReason: 'ENOUGH' })], {
      script: [{ blocks: [bash('touch made'), bash('touch after')] }, 'never'],
    });
    expect(done.result).toMatchObject({
      terminal_reason: 'hook_stopped',
      stop_message: expect.stringContaining('ENOUGH'),
    });
    expect([done.project.exists('made'), done.project.exists('after')]).toEqual([false, false]);
    expect(done.requests).toHaveLength(1);
  });

  it('two different new inputs refuse the call and name both hooks', async () => {
    const wants = (name: string) =>
      says(pre('allow', 'mine', { updatedInput: { command: `touch ${name}` } }));
    const done = await guarded([wants('one'), wants('two')]);
    for (const name of ['made', 'one', 'two']) expect(done.project.exists(name)).toBe(false);
    const { reason } = receipts(done)[0] ?? { reason: '' };
    expect(reason.match(/touch (one|two)|settings\.json/g)?.length).toBeGreaterThanOrEqual(2);
    expect(reason).toContain(' and ');
  });

  it('SC-106: a new input is judged by the rules, and shown to the other hooks', async () => {
    const rewrites = (to: string, from: string) =>
      says(pre('allow', 'better', { updatedInput: { command: to } }), { if: `Bash(${from})` });
    const watches = command('cat >> "$HOME/seen.jsonl"');
    const done = await run({
      home: userHooks(
        {
          PreToolUse: onTool(
            'Bash',
            rewrites('rm -f keep', 'touch rule'),
            rewrites('touch fine', 'touch plain'),
            watches,
          ),
        },
        { permissions: { deny: ['Bash(rm *)'] } },
      ),
      files: { keep: 'here' },
      args: ['--include-decisions'],
      script: [bash('touch rule'), bash('touch plain'), 'end'],
    });
    expect(done.project.exists('keep')).toBe(true);
    expect(receipts(done)[0]).toMatchObject({
      decision: 'deny',
      decidedBy: 'deny rules',
      input: { command: 'rm -f keep' },
    });
    expect([done.project.exists('fine'), done.project.exists('plain')]).toEqual([true, false]);
    const shown = linesOf(done, 'seen.jsonl').map((line) => JSON.parse(line).tool_input.command);
    expect(shown).toEqual(['touch rule', 'rm -f keep', 'touch plain', 'touch fine']);
  });

  it('SC-104, SC-105: a yes beats neither a deny rule nor an ask rule, and opens the rest', async () => {
    const done = await run({
      home: userHooks(
        { PreToolUse: onTool('Bash', ALLOWS) },
        { permissions: { deny: ['Bash(touch denied)'], ask: ['Bash(touch asked)'] } },
      ),
      args: ['--include-decisions'],
      script: [bash('touch denied'), bash('touch asked'), bash('touch open'), 'end'],
    });
    const made = ['denied', 'asked', 'open'].filter((name) => done.project.exists(name));
    expect(made).toEqual(['open']);
    expect(receipts(done).map(({ decision }) => decision)).toEqual(['deny', 'deny', 'allow']);
    expect(receipts(done)[0]?.decidedBy).toBe('deny rules');
    expect(done.toolResult(1).text).toContain('Bash(touch asked)');
  });

  it('a no beats an allow rule and bypassPermissions', async () => {
    const byRule = await guarded([DENIES]);
    const bypassed = await guarded([DENIES], {
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
    });
    for (const done of [byRule, bypassed]) {
      expect(done.project.exists('made')).toBe(false);
      expect(done.toolResult(0).text).toContain('A HOOK SAYS NO');
    }
  });
});

describe('defer', () => {
  it('ends the run, and --resume runs the call after all', async () => {
    const waits = `if [ -e "$HOME/ready" ]; then exit 0; fi; ${String(says(pre('defer', 'LATER')).command)}`;
    const first = await guarded([command(waits)], {
      script: [bash('touch made; touch "$HOME/x"')],
    });
    expect(first).toMatchObject({
      exitCode: 0,
      result: {
        terminal_reason: 'tool_deferred',
        stop_reason: 'tool_deferred',
        deferred_tool_use: { name: 'Bash' },
      },
    });
    expect(first.project.exists('made')).toBe(false);
    first.project.write('../home/ready', '');
    const again = await run({
      world: first.world,
      args: ['--resume', String(first.result?.session_id), ...allowBash],
      prompt: 'go on',
      script: ['It is done.', 'Now to the next.'],
    });
    expect(again.project.exists('made')).toBe(true);
    const results = again.frames.filter(({ type }) => type === 'result');
    expect(results.map(({ result }) => result)).toEqual(['It is done.', 'Now to the next.']);
    expect(again.toolResult(0).isError).toBe(false);
  });
});

describe('whom and what a hook is for', () => {
  const logs = (word: string, more = {}) => command(`echo ${word} >> "$HOME/asked"`, more);

  it('once: asked once in a session', async () => {
    const done = await guarded([logs('once', { once: true }), logs('always')], {
      script: [bash('echo 1'), bash('echo 2'), bash('echo 3'), 'end'],
    });
    expect([...linesOf(done, 'asked')].sort()).toEqual(['always', 'always', 'always', 'once']);
  });

  it('if: asked only about calls that the rule fits', async () => {
    const done = await guarded(
      [
        logs('push', { if: 'Bash(git push *)' }),
        logs('touch', { if: 'Bash(touch *)' }),
        logs('edit', { if: 'Edit(/src/**)' }),
      ],
      { script: [bash('touch made'), bash('echo hi && touch more'), bash('echo hi'), 'end'] },
    );
    expect(linesOf(done, 'asked')).toEqual(['touch', 'touch']);
  });

  it('agents: asked only about calls of these agents', async () => {
    const groups = ['main', 'main/*', 'reviewer'].map((agents, index) => ({
      agents,
      hooks: [logs(`group-${index}`)],
    }));
    const done = await run({
      home: userHooks({ PreToolUse: groups }),
      args: allowBash,
      script: [bash('touch made'), 'end'],
    });
    expect(linesOf(done, 'asked')).toEqual(['group-0']);
  });

  it('persistent: one process answers fifty calls', async () => {
    const guard = [
      'while read -r line; do',
      'n=$((n+1)); echo $$ >> "$HOME/pids";',
      'case "$line" in',
      `*secret*) o='${JSON.stringify(pre('deny', 'A SECRET'))}';;`,
      '*) o=null;; esac;',
      'printf \'{"id":%s,"output":%s}\\n\' "$n" "$o"; done',
    ].join(' ');
    const numbers = Array.from({ length: 50 }, (_, index) => index);
    const done = await run({
      home: userHooks({ PreToolUse: on(command(guard, { persistent: true })) }),
      files: Object.fromEntries(numbers.map((n) => [n === 49 ? 'secret.txt' : `f${n}`, `t${n}`])),
      script: [
        { blocks: numbers.slice(0, 25).map((n) => read(`f${n}`)) },
        { blocks: numbers.slice(25).map((n) => read(n === 49 ? 'secret.txt' : `f${n}`)) },
        'end',
      ],
    });
    const pids = linesOf(done, 'pids');
    expect(pids).toHaveLength(50);
    expect(new Set(pids).size).toBe(1);
    expect(done.toolResult(49)).toMatchObject({
      isError: true,
      text: expect.stringContaining('A SECRET'),
    });
    expect(numbers.filter((n) => done.toolResult(n).isError)).toEqual([49]);
  });
});

describe('whose hooks run', () => {
  const logs = (word: string) => command(`echo ${word} >> "$HOME/asked"`);
  const projectHooks = { [SETTINGS]: { json: { hooks: { PreToolUse: on(logs('project')) } } } };

  it('of an untrusted project none, of the user all; with trust both', async () => {
    for (const [args, expected] of [
      [[], ['user']],
      [['--trust'], ['project', 'user']],
    ] as const) {
      const done = await run({
        home: userHooks({ PreToolUse: on(logs('user')) }),
        files: projectHooks,
        args: [...allowBash, ...args],
        script: [bash('touch made'), 'end'],
      });
      expect([...linesOf(done, 'asked')].sort()).toEqual(expected);
      expect(done.project.exists('made')).toBe(true);
      if (args.length === 0) expect(notices(done).join('\n')).toMatch(/trust/i);
    }
  });

  it('allowManagedHooksOnly leaves out all others, and says so', async () => {
    const managed = {
      allowManagedHooksOnly: true,
      hooks: { PreToolUse: on(logs('managed')) },
    };
    const done = await run({
      home: userHooks({ PreToolUse: on(logs('user')) }),
      files: projectHooks,
      args: [...allowBash, '--trust', '--managed-settings', JSON.stringify(managed)],
      script: [bash('touch made'), 'end'],
    });
    // What the program that drives us puts above the files can restrict, and execute nothing.
    expect(linesOf(done, 'asked')).toEqual([]);
    const told = notices(done).filter((text) => text.includes('allowManagedHooksOnly'));
    expect(told.map((text) => /echo (\w+)/.exec(text)?.[1]).sort()).toEqual(['project', 'user']);
  });
});
