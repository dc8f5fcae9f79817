import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';
import { run } from './worlds.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    git: true,
    files: {
      '.claude/settings.json': {
        json: {
          permissions: {
            allow: ['Bash(npm test *)'],
            ask: ['Bash(npm publish *)'],
            deny: ['Bash(git push *)', 'Read(.env)'],
          },
        },
      },
      'sub/x': '',
    },
  });
});
afterAll(() => project.remove());

function command(args: readonly string[], over: { cwd?: string; home?: string } = {}) {
  const [program = '', ...first] = PROGRAM;
  return spawnSync(program, [...first, ...args], {
    cwd: over.cwd ?? project.directory,
    env: { PATH: process.env.PATH, HOME: over.home ?? project.home },
    encoding: 'utf8',
  });
}

const explain = (...args: string[]) => JSON.parse(command(['explain', ...args, '--json']).stdout);

describe('portcullis explain', () => {
  it('judges a call by the settings here, without running it', () => {
    expect(explain('Bash(git push --force)')).toMatchObject({
      decision: 'deny',
      decidedBy: 'deny rules',
      rule: expect.stringMatching(/^Bash\(git push \*\) \(.*settings\.json:\d+\)$/),
    });
    expect(explain('Read', '.env')).toMatchObject({ decision: 'deny' });
    expect(explain('Read', 'sub/x')).toMatchObject({ decision: 'allow' });
    expect(explain('{"tool":"Write","input":{"file_path":"n","content":""}}')).toMatchObject({
      decision: 'ask',
    });
    expect(explain('Bash(npm publish)')).toMatchObject({ decision: 'ask', decidedBy: 'ask rules' });
  });

  it('goes by trust as it is, unless told otherwise', () => {
    expect(explain('Bash(npm test)')).toMatchObject({ decision: 'ask' });
    expect(explain('Bash(npm test)', '--trust')).toMatchObject({ decision: 'allow' });
  });

  it('goes by mode, agent and further settings', () => {
    expect(explain('Write(n)', '--mode', 'acceptEdits')).toMatchObject({ decision: 'allow' });
    expect(explain('Write(n)', '--mode=dontAsk')).toMatchObject({ decision: 'deny' });
    const settings = JSON.stringify({ permissions: { deny: ['WebFetch'] } });
    expect(explain('WebFetch(domain:x.example)', '--settings', settings)).toMatchObject({
      decision: 'deny',
    });
    expect(explain('Bash(ls)', '--agent', 'reviewer').receipt.agent).toBe('main/reviewer#1');
  });

  it('says how many hooks were not asked, and asks them with --hooks', () => {
    const guard = { type: 'command', command: 'touch hook-ran; echo "a hook says no" >&2; exit 2' };
    const settings = JSON.stringify({
      permissions: { allow: ['Bash(touch *)'] },
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [guard] },
          { matcher: 'Edit', hooks: [guard] },
        ],
      },
    });
    const args = ['explain', 'Bash(touch x)', '--settings', settings];
    const { stdout } = command(args);
    expect(stdout).toContain('allowed  Bash(touch x)');
    expect(stdout).toContain('1 PreToolUse hook was not asked and may still refuse; --hooks runs');
    expect(explain('Bash(touch x)', '--settings', settings)).toMatchObject({ unaskedHooks: 1 });
    expect(project.exists('hook-ran')).toBe(false);
    const asked = command([...args, '--hooks']);
    expect(asked.stdout).toContain('refused  Bash(touch x)');
    expect(asked.stdout).toContain('a hook says no');
    expect(asked.stdout).not.toContain('not asked');
    expect([project.exists('hook-ran'), project.exists('x')]).toEqual([true, false]);
    expect(command(['explain', 'Read(sub/x)', '--settings', settings]).stdout).not.toContain(
      'hook',
    );
  });

  it('does not run the hooks of a folder that nobody trusts', () => {
    const world = makeTempProject({
      files: {
        '.claude/settings.json': {
          json: { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'touch ran' }] }] } },
        },
      },
    });
    command(['explain', 'Bash(ls)', '--hooks'], { cwd: world.directory, home: world.home });
    expect(world.exists('ran')).toBe(false);
    world.remove();
  });

  it('prints a trace for people', () => {
    const { stdout, status } = command(['explain', 'Bash(git status && git push)']);
    expect(status).toBe(0);
    expect(stdout).toContain('refused  Bash(git status && git push)');
    expect(stdout).toMatch(/deny rules +denies/);
  });

  it.each([
    [['explain'], 2, "missing required argument 'call'"],
    [['explain', 'Bsh(ls)'], 2, 'did you mean Bash'],
    [['explain', 'Bash(ls)', '--mode', 'yolo'], 2, 'is not one of'],
    [['explain', 'Bash(ls)', '--settings', '{"permissions":{"deny":"x"}}'], 3, 'deny'],
  ])('%j exits %i', (args, status, words) => {
    expect(command(args)).toMatchObject({ status, stderr: expect.stringContaining(words) });
  });
});

describe('portcullis policy test', () => {
  it('runs the tables beside the settings, from anywhere in the project', () => {
    project.write(
      '.claude/policy-tests.yaml',
      `# what must hold
- call: Bash(git push --force)
  expect: deny
  rule: Bash(git push *)
- call: Bash(npm test)          # trusted or not
  expect: allow
- call: "Bash(npm publish)"
  expect: ask
  mode: acceptEdits
- call: Read .env
  expect: deny
  agent: reviewer
`,
    );
    expect(command(['policy', 'test'])).toMatchObject({
      status: 0,
      stdout: '4 passed, 0 failed (4 cases in 1 file)\n',
      stderr: '',
    });
    expect(command(['policy', 'test'], { cwd: project.at('sub') }).status).toBe(0);
  });

  it('says what differs, with file and line', () => {
    project.write(
      'bad.yaml',
      '- call: Bash(git push)\n  expect: allow\n- call: Bash(npm test)\n  expect: allow\n  rule: Bash(npm *)\n- call: Bash(ls)\n  expect: allow\n',
    );
    const { status, stdout } = command(['policy', 'test', 'bad.yaml']);
    expect(status).toBe(1);
    expect(stdout).toContain(
      `${project.at('bad.yaml')}:1: Bash(git push)\n  expected allow, is deny`,
    );
    expect(stdout).toContain('expected the rule Bash(npm *), decided by Bash(npm test *)');
    expect(stdout).toContain('1 passed, 2 failed (3 cases in 1 file)');
    const data = JSON.parse(command(['policy', 'test', 'bad.yaml', '--json']).stdout);
    expect(data.map((one: { passed: boolean }) => one.passed)).toEqual([false, false, true]);
  });

  it('takes JSON too', () => {
    project.write('t.json', '[{"call":"Bash(git push)","expect":"deny"}]');
    expect(command(['policy', 'test', 't.json']).status).toBe(0);
  });

  it.each([
    ['- call: Bash(ls)\n  expected: allow\n', 'expected'],
    ['- call: Bash(ls)\n  expect: yes\n', 'allow, ask or deny'],
    ['- expect: allow\n', 'call'],
    ['- call: Bash(ls)\n  expect: [allow]\n', 'quotes'],
    ['[{"call":1}]', 'text'],
  ])('refuses a table that it cannot read: %j', (text, words) => {
    project.write('odd.yaml', text);
    expect(command(['policy', 'test', 'odd.yaml'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(words),
    });
  });

  it('refuses where there is no table', () => {
    const empty = makeTempProject();
    try {
      expect(command(['policy', 'test'], { cwd: empty.directory }).status).toBe(2);
    } finally {
      empty.remove();
    }
  });
});

describe('portcullis policy diff', () => {
  it('shows rules and calls that differ', () => {
    project.write('a.json', '{"permissions":{"allow":["Bash(npm *)"],"deny":["WebFetch"]}}');
    project.write(
      'b.json',
      '{"permissions":{"allow":["Bash(npm *)"],"deny":["Bash(npm publish *)"]}}',
    );
    const { status, stdout } = command(['policy', 'diff', 'a.json', 'b.json']);
    expect(status).toBe(1);
    expect(stdout).toContain('- deny WebFetch\n');
    expect(stdout).toContain('+ deny Bash(npm publish *)\n');
    expect(stdout).toContain('allow → deny  Bash(npm publish)\n  Bash(npm publish *) (b.json:1)\n');
    expect(stdout).toContain('deny → ask  WebFetch(https://example.com/)\n');
    expect(stdout).toMatch(/\d+ of \d+ calls are decided differently/);
  });

  it('is quiet about the same policy', () => {
    const { status, stdout } = command(['policy', 'diff', 'a.json', 'a.json']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^0 of \d+ calls are decided differently\n$/),
    });
  });

  it('refuses settings that cannot be honoured', () => {
    project.write('broken.json', '{"permissions":{"deny":["Bsh(x)"]}}');
    expect(command(['policy', 'diff', 'a.json', 'broken.json'])).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('Bsh'),
    });
    expect(command(['policy', 'diff', 'a.json']).status).toBe(2);
    expect(command(['policy', 'diff', 'a.json', 'none.json']).status).toBe(2);
  });
});

describe('portcullis policy replay', () => {
  it('says what a rule would have done to recorded calls', async () => {
    const touch = (name: string) => ({ tool: 'Bash', input: { command: `touch ${name}` } });
    const done = await run({
      args: ['--allowedTools', 'Bash(touch *)'],
      home: { '.claude/settings.json': { json: { permissions: { allow: ['Bash(touch *)'] } } } },
      script: [touch('a'), touch('a'), touch('b'), { tool: 'Bash', input: { command: 'ls' } }, 'x'],
    });
    const at = { cwd: done.project.directory, home: done.project.home };
    expect(command(['policy', 'replay'], at).stdout).toBe(
      '0 of 4 recorded calls would be decided differently\n',
    );
    done.project.write('stricter.json', '{"permissions":{"deny":["Bash(touch *)"]}}');
    const { status, stdout } = command(
      ['policy', 'replay', '--settings', 'stricter.json', '--last', '30d'],
      at,
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/Bash\(touch \*\) \(.*stricter\.json:1\) would have blocked 3 calls/);
    expect(stdout).toContain('   2 × allow → deny  Bash(touch a)');
    expect(stdout).toContain('3 of 4 recorded calls would be decided differently');
    const data = JSON.parse(
      command(['policy', 'replay', '--settings', 'stricter.json', '--json'], at).stdout,
    );
    expect(data).toMatchObject({ calls: 4, skipped: 0 });
    expect(command(['policy', 'replay', '--last', 'soon'], at).status).toBe(2);
    expect(
      JSON.parse(command(['policy', 'replay', '--last', '0m', '--json'], at).stdout).calls,
    ).toBe(0);
    const compared = command(['policy', 'diff', 'stricter.json', 'stricter.json'], at);
    expect(compared.status).toBe(0);
    const guard = { matcher: 'Bash', hooks: [{ type: 'command', command: 'exit 2' }] };
    done.project.write('hooked.json', JSON.stringify({ hooks: { PreToolUse: [guard] } }));
    const hooked = ['policy', 'replay', '--settings', 'hooked.json'];
    expect(command(hooked, at).stdout).toBe(
      '0 of 4 recorded calls would be decided differently\n4 calls have PreToolUse hooks that were not asked; --hooks runs and asks them\n',
    );
    expect(command([...hooked, '--hooks'], at).stdout).toContain(
      '4 of 4 recorded calls would be decided differently',
    );
  });
});
