import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { run } from '../e2e/worlds.js';
import {
  allowBash,
  bash,
  command,
  type Handler,
  notices,
  on,
  onTool,
  pre,
  SETTINGS,
  says,
  userHooks,
} from './e2e-rig.js';

const STRICT = { portcullis: { hookFailure: 'strict' } };
const TRACEBACK = `printf 'Traceback (most recent call last):\\n  File "g.py"\\nNameError: x\\n' >&2; exit 1`;

function guarded(
  handlers: readonly Handler[],
  more: Scenario & { settings?: Record<string, unknown> } = {},
) {
  const { settings = {}, ...scenario } = more;
  return run({
    home: userHooks({ PreToolUse: onTool('Bash', ...handlers) }, settings),
    args: allowBash,
    script: [bash('touch made'), 'end'],
    ...scenario,
  });
}

const ran = ({ project }: ScenarioRun): boolean => project.exists('made');

describe('portcullis.hookFailure "strict"', () => {
  it('makes exit code 1 of a guard refuse, with its last lines as the cause', async () => {
    const done = await guarded([command(TRACEBACK)], { settings: STRICT });
    expect(ran(done)).toBe(false);
    expect(done.toolResult(0).text).toContain('exit code 1: File "g.py" | NameError: x');
  });

  it('blocks a prompt whose guard ends with 1', async () => {
    const done = await run({
      home: userHooks({ UserPromptSubmit: on(command('exit 1')) }, STRICT),
      script: ['never'],
    });
    expect(done.requests).toHaveLength(0);
  });

  it('counts from a folder that nobody trusts, since it can only restrict', async () => {
    const files = { [SETTINGS]: { json: STRICT } };
    expect(ran(await guarded([command('exit 1')], { files }))).toBe(false);
  });

  it('leaves a guard alone that says itself that its failure may pass', async () => {
    const advisory = command('exit 1', { onFailure: 'continue' });
    expect(ran(await guarded([advisory], { settings: STRICT }))).toBe(true);
  });

  it('changes nothing for hooks that guard nothing', async () => {
    const done = await run({
      home: userHooks({ PostToolUse: onTool('Bash', command('exit 1')) }, STRICT),
      args: allowBash,
      script: [bash('touch made'), 'end'],
    });
    expect(ran(done)).toBe(true);
    expect(done.toolResult(0).isError).toBe(false);
  });
});

describe('without it', () => {
  it('a guard that crashes with 1 is told by its last lines, and that the call was not blocked', async () => {
    const done = await guarded([command(TRACEBACK)]);
    expect(ran(done)).toBe(true);
    const [told] = notices(done, 'hook_error');
    expect(told).toMatch(/failed with exit code 1: .*NameError: x; the call was not blocked$/);
    expect(told).not.toContain(': Traceback');
  });

  it('a misspelt verdict refuses the call and names the right word', async () => {
    const done = await guarded([
      says({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecison: 'deny' } }),
    ]);
    expect(ran(done)).toBe(false);
    expect(done.toolResult(0).text).toContain('did you mean permissionDecision?');
    for (const answer of [{ decison: 'block' }, { ok: false }]) {
      expect(ran(await guarded([says(answer)]))).toBe(false);
    }
    expect(ran(await guarded([says({ ...pre('allow', 'fine'), revision: 3 })]))).toBe(true);
  });
});

describe('a guard whose program is not installed', () => {
  it('refuses each call: the first time with file, program and remedy, then in one short line', async () => {
    const done = await guarded([command('lint-guard --stdin')], {
      script: [bash('touch made'), bash('touch again'), bash('touch third'), 'end'],
    });
    expect([ran(done), done.project.exists('again')]).toEqual([false, false]);
    const [first, second, third] = [0, 1, 2].map((index) => done.toolResult(index).text);
    expect(first).toMatch(/settings\.json:\d+\).*lint-guard cannot be started/);
    expect(first).toMatch(/Install lint-guard or correct its path.*"enabled": false/);
    for (const text of [second, third]) {
      expect(text).toContain('lint-guard still cannot be started');
      expect(text).not.toContain('Install');
    }
  });

  it('blocks each prompt, and says how to go on', async () => {
    const done = await run({
      home: userHooks({ UserPromptSubmit: on(command('"$CLAUDE_PROJECT_DIR"/none/context.sh')) }),
      script: ['never'],
    });
    expect(done.requests).toHaveLength(0);
    expect(JSON.stringify(done.frames)).toMatch(
      /Install .*\/none\/context\.sh or correct its path/,
    );
  });
});
