import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  gateRig,
  type Rig,
  type RigAnswers,
  type RigOptions,
} from '../../../test/support/gate-rig.js';
import type { AnswerScope, PermissionUpdate } from '../../protocol/permissions.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { AskAnswer, AskRequest } from '../gate/types.js';

let project: TempProject;
let news: SessionNews[];
let asked: AskRequest[];
beforeEach(() => {
  project = makeTempProject({ files: { 'a.txt': 'a\n', 'src/x.ts': 'x' } });
  news = [];
  asked = [];
});
afterEach(() => project.remove());

const NO: AskAnswer = { behavior: 'deny', message: 'no' };
const yes = (scope: AnswerScope): AskAnswer => ({ behavior: 'allow', scope });
const updating = (...updatedPermissions: PermissionUpdate[]): AskAnswer => ({
  behavior: 'allow',
  updatedPermissions,
});

/** Gives these answers in turn, and after them no. */
function rig(
  answers: readonly AskAnswer[],
  options: Partial<RigOptions> = {},
  keep: Partial<RigAnswers> = {},
): Rig {
  return gateRig({
    cwd: project.directory,
    home: project.home,
    asker: async (request) => {
      asked.push(request);
      return answers[asked.length - 1] ?? NO;
    },
    answers: { configDir: path.join(project.home, '.claude'), news, ...keep },
    ...options,
  });
}

const local = (): string => path.join(project.directory, '.claude/settings.local.json');
const localSettings = () => JSON.parse(readFileSync(local(), 'utf8'));
const told = (): string => news.map((one) => (one.type === 'notice' ? one.text : '')).join('\n');
const runs = async (gate: Rig, tool: string, input: Record<string, unknown>): Promise<boolean> =>
  (await gate.call(tool, input)).kind === 'allowed';

describe('the scope of an answer', () => {
  it('is this one call unless said otherwise', async () => {
    const gate = rig([{ behavior: 'allow' }]);
    expect(await runs(gate, 'Bash', { command: 'npm test' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'npm test' })).toBe(false);
  });

  it('exact: the same call again, whatever it is called, and no other', async () => {
    const gate = rig([yes({ what: 'exact', until: 'session' })]);
    expect(await runs(gate, 'Bash', { command: 'npm test', description: 'a' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'npm test', description: 'b' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'npm test x' })).toBe(false);
    expect(await runs(gate, 'Bash', { command: 'npm test', run_in_background: true })).toBe(false);
    expect(asked).toHaveLength(3);
  });

  it('exact for a file: that file', async () => {
    const gate = rig([yes({ what: 'exact', until: 'session' })]);
    expect(await runs(gate, 'Write', { file_path: 'n.ts', content: '1' })).toBe(true);
    expect(await runs(gate, 'Write', { file_path: 'n.ts', content: '2' })).toBe(true);
    expect(await runs(gate, 'Write', { file_path: 'm.ts' })).toBe(false);
  });

  it('prefix: calls like it, also inside longer commands', async () => {
    const gate = rig([yes({ what: 'prefix', until: 'session' })]);
    expect(await runs(gate, 'Bash', { command: 'git push origin main' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'ls && git push --tags' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'git pushx' })).toBe(false);
    expect(await runs(gate, 'Bash', { command: 'git commit -m x' })).toBe(false);
  });

  it('prefix of an interpreter: only this call, and the person is told', async () => {
    const gate = rig([yes({ what: 'prefix', until: 'session' })]);
    expect(await runs(gate, 'Bash', { command: 'python3 x.py' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'python3 x.py' })).toBe(false);
    expect(told()).toContain('holds for this call alone');
  });

  it('tool: every call of it', async () => {
    const gate = rig([yes({ what: 'tool', until: 'session' })]);
    expect(await runs(gate, 'mcp__s__t', { a: 1 })).toBe(true);
    expect(await runs(gate, 'mcp__s__t', { a: 2 })).toBe(true);
    expect(await runs(gate, 'mcp__s__u', {})).toBe(false);
  });

  it('turn: over with the next prompt', async () => {
    const gate = rig([
      yes({ what: 'exact', until: 'turn' }),
      yes({ what: 'prefix', until: 'turn' }),
    ]);
    await gate.call('Bash', { command: 'frob x' });
    await gate.call('Bash', { command: 'git push' });
    expect(await runs(gate, 'Bash', { command: 'frob x' })).toBe(true);
    expect(await runs(gate, 'Bash', { command: 'git push a' })).toBe(true);
    gate.beginTurn();
    expect(await runs(gate, 'Bash', { command: 'frob x' })).toBe(false);
    expect(await runs(gate, 'Bash', { command: 'git push a' })).toBe(false);
  });

  it('ends when it expires', async () => {
    let now = 1000;
    const gate = rig(
      [
        yes({ what: 'prefix', until: 'session', expiresAt: 2000 }),
        yes({ what: 'exact', until: 'session', expiresAt: 2000 }),
        yes({ what: 'exact', until: 'session', expiresAt: 500 }),
      ],
      {},
      { now: () => now },
    );
    await gate.call('Bash', { command: 'git push' });
    await gate.call('Bash', { command: 'frob' });
    await gate.call('Bash', { command: 'grob' });
    expect(await gate.bash('git push')).toBe('runs');
    expect(await gate.bash('frob')).toBe('runs');
    expect(await gate.bash('grob')).toBe('asks');
    now = 2000;
    expect(await gate.bash('git push')).toBe('asks');
    expect(await gate.bash('frob')).toBe('asks');
  });

  it('never beats a deny rule, an ask rule, a protected path or plan mode', async () => {
    const everything = yes({ what: 'tool', until: 'session' });
    const denied = rig([everything], { deny: ['Bash(git push *)'] });
    await denied.call('Bash', { command: 'git commit' });
    expect(await denied.bash('git status && git push')).toBe('denied');
    asked = [];
    const ask = rig([everything, NO], { ask: ['Bash(git push *)'] });
    expect(await runs(ask, 'Bash', { command: 'git push' })).toBe(true);
    expect(told()).toContain('asked about every time');
    expect(await ask.bash('git push')).toBe('asks');
    asked = [];
    const write = rig([everything, NO, NO]);
    await write.call('Write', { file_path: 'n' });
    expect(await write.outcome('Write', { file_path: 'm' })).toBe('runs');
    expect(await write.outcome('Write', { file_path: '.git/config' })).toBe('asks');
    asked = [];
    const plan = rig([everything, NO], { mode: 'plan' });
    await plan.call('Write', { file_path: 'n' });
    expect(await plan.outcome('Write', { file_path: 'n' })).toBe('asks');
  });

  it('adds nothing where only managed rules may grant', async () => {
    const gate = rig(
      [
        yes({ what: 'prefix', until: 'project' }),
        updating({
          type: 'addRules',
          rules: [{ toolName: 'Bash' }],
          behavior: 'allow',
          destination: 'session',
        }),
      ],
      {},
      { managedOnly: 'only managed rules' },
    );
    await gate.call('Bash', { command: 'git push' });
    await gate.call('Bash', { command: 'git push' });
    expect(await gate.bash('git push')).toBe('asks');
    expect(() => readFileSync(local())).toThrow();
  });

  it.each<[string, PermissionUpdate, string]>([
    [
      'directory',
      { type: 'addDirectories', directories: ['/etc'], destination: 'localSettings' },
      'no directory was added: only managed rules',
    ],
    [
      'wider mode',
      { type: 'setMode', mode: 'acceptEdits', destination: 'localSettings' },
      'the mode stays as it is: only managed rules',
    ],
    [
      'lifted deny rule',
      {
        type: 'replaceRules',
        rules: [],
        behavior: 'deny',
        destination: 'localSettings',
      },
      'no deny rule was taken away: only managed rules',
    ],
  ])('leaves no %s behind where only managed rules may grant', async (_, update, note) => {
    const modes: string[] = [];
    const managed = {
      managedOnly: 'only managed rules',
      setMode: (mode: string) => void modes.push(mode),
    };
    const gate = rig([updating(update), NO], {}, managed);
    expect((await gate.call('Bash', { command: 'git push' })).kind).toBe('allowed');
    expect(await gate.outcome('Read', { file_path: '/etc/passwd' })).toBe('asks');
    expect(modes).toEqual([]);
    expect(told()).toContain(note);
    expect(() => readFileSync(local())).toThrow();
  });

  it('may lower the mode where only managed rules may grant, for the session', async () => {
    const modes: string[] = [];
    const managed = {
      managedOnly: 'only managed rules',
      setMode: (mode: string) => void modes.push(mode),
    };
    const update = { type: 'setMode', mode: 'plan', destination: 'localSettings' } as const;
    await rig([updating(update)], {}, managed).call('Bash', { command: 'git push' });
    expect(modes).toEqual(['plan']);
    expect(() => readFileSync(local())).toThrow();
  });
});

describe('an answer for the project', () => {
  it('is in force at once and in the local settings, which keep their shape', async () => {
    mkdirSync(path.dirname(local()));
    writeFileSync(local(), '{\n    "permissions": {\n        "deny": ["Read(x)"]\n    }\n}\n');
    const bound: unknown[] = [];
    const gate = rig(
      [yes({ what: 'prefix', until: 'project' })],
      {},
      {
        rebind: async (written) => {
          bound.push(written);
          return 'bound';
        },
      },
    );
    await gate.call('Bash', { command: 'git push' });
    expect(await gate.bash('git push -f')).toBe('runs');
    expect(readFileSync(local(), 'utf8')).toBe(
      '{\n    "permissions": {\n        "deny": ["Read(x)"],\n        "allow": [\n            "Bash(git push *)"\n        ]\n    }\n}\n',
    );
    expect(bound).toEqual([{ file: local(), allow: ['Bash(git push *)'] }]);
    expect(told()).toContain(local());
  });

  it('matches the same call in the next session', async () => {
    const gate = rig([
      yes({ what: 'exact', until: 'project' }),
      yes({ what: 'exact', until: 'project' }),
    ]);
    await gate.call('Bash', { command: 'frob "(a*)" && ls' });
    await gate.call('Write', { file_path: 'src/[n]*.ts' });
    const { allow } = localSettings().permissions;
    const next = rig([], { allow });
    expect(await next.bash('frob "(a*)" && ls')).toBe('runs');
    expect(await next.outcome('Write', { file_path: 'src/[n]*.ts' })).toBe('runs');
    expect(await next.outcome('Write', { file_path: 'src/nx.ts' })).toBe('asks');
  });

  it('says so when the folder is not trusted', async () => {
    const gate = rig(
      [yes({ what: 'prefix', until: 'project' })],
      {},
      {
        rebind: async () => 'waits',
      },
    );
    await gate.call('Bash', { command: 'git push' });
    expect(told()).toContain('portcullis trust');
  });

  it.each([
    ['comments', '{ // x\n}'],
    ['a list', '[]'],
    ['a strange list of rules', '{"permissions":{"allow":"all"}}'],
  ])('leaves a file with %s alone and holds for the session', async (_what, text) => {
    mkdirSync(path.dirname(local()));
    writeFileSync(local(), text);
    const gate = rig([yes({ what: 'prefix', until: 'project' })]);
    await gate.call('Bash', { command: 'git push' });
    expect(readFileSync(local(), 'utf8')).toBe(text);
    expect(told()).toContain('was left alone');
    expect(await gate.bash('git push')).toBe('runs');
  });

  it('does not follow a link out of the project', async () => {
    const own = path.join(project.home, 'settings.json');
    writeFileSync(own, '{}');
    mkdirSync(path.dirname(local()));
    symlinkSync(own, local());
    const gate = rig([yes({ what: 'prefix', until: 'project' })]);
    await gate.call('Bash', { command: 'git push' });
    expect(readFileSync(own, 'utf8')).toBe('{}');
    rmSync(path.dirname(local()), { recursive: true });
    symlinkSync(project.home, path.dirname(local()));
    const other = rig([yes({ what: 'prefix', until: 'project' })]);
    await other.call('Bash', { command: 'git commit' });
    expect(() => readFileSync(path.join(project.home, 'settings.local.json'))).toThrow();
  });

  it('writes both of two answers that come at once, and none twice', async () => {
    const scope = yes({ what: 'prefix', until: 'project' });
    const gate = rig([scope, scope, scope]);
    await Promise.all(
      ['git push', 'npm test', 'cargo test'].map((command) => gate.call('Bash', { command })),
    );
    expect(localSettings().permissions.allow.sort()).toEqual([
      'Bash(cargo test *)',
      'Bash(git push *)',
      'Bash(npm test *)',
    ]);
  });

  it('for the user: in the user’s own settings', async () => {
    await rig([yes({ what: 'prefix', until: 'user' })]).call('Bash', { command: 'git push' });
    const file = path.join(project.home, '.claude/settings.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      permissions: { allow: ['Bash(git push *)'] },
    });
  });

  it('with an end: for this session, as files cannot hold an end', async () => {
    const gate = rig(
      [yes({ what: 'prefix', until: 'project', expiresAt: 5000 })],
      {},
      {
        now: () => 1000,
      },
    );
    await gate.call('Bash', { command: 'git push' });
    expect(() => readFileSync(local())).toThrow();
    expect(told()).toContain('not saved');
    expect(await gate.bash('git push')).toBe('runs');
  });
});

describe('updatedPermissions', () => {
  const rules = (
    behavior: 'allow' | 'ask' | 'deny',
    destination: PermissionUpdate['destination'],
    ...list: string[]
  ): PermissionUpdate => ({
    type: 'addRules',
    rules: list.map((text) => {
      const found = /^(\w+)\((.*)\)$/.exec(text);
      return { toolName: found?.[1] ?? text, ...(found ? { ruleContent: found[2] ?? '' } : {}) };
    }),
    behavior,
    destination,
  });

  it('adds rules to the session', async () => {
    const gate = rig([
      updating(
        rules('allow', 'session', 'Bash(git *)'),
        rules('deny', 'session', 'Bash(git push *)'),
      ),
    ]);
    await gate.call('Bash', { command: 'git commit' });
    expect(await gate.bash('git commit -m x')).toBe('runs');
    expect(await gate.bash('git push')).toBe('denied');
  });

  it('replaces and removes them', async () => {
    const gate = rig([
      updating(rules('allow', 'session', 'Bash(git *)', 'Bash(npm *)')),
      updating({ ...rules('allow', 'session', 'Bash(git *)'), type: 'removeRules' } as never),
      updating({ ...rules('allow', 'session', 'Bash(cargo *)'), type: 'replaceRules' } as never),
    ]);
    await gate.call('Bash', { command: 'git commit' });
    await gate.call('Bash', { command: 'frob' });
    expect(await gate.bash('npm test')).toBe('runs');
    expect(asked).toHaveLength(2);
    await gate.call('Bash', { command: 'git commit' });
    expect(await gate.bash('npm test')).toBe('asks');
    expect(await gate.bash('cargo test')).toBe('runs');
  });

  it('writes files, and is in force at once', async () => {
    const gate = rig([updating(rules('deny', 'localSettings', 'Bash(rm *)'))]);
    await gate.call('Bash', { command: 'git commit' });
    expect(localSettings()).toEqual({ permissions: { deny: ['Bash(rm *)'] } });
    expect(await gate.bash('rm a.txt')).toBe('denied');
  });

  it('refuses a restriction that cannot be honoured, applying nothing', async () => {
    const gate = rig([
      updating(rules('allow', 'session', 'Bash'), rules('deny', 'session', 'Bsh(rm *)')),
    ]);
    const verdict = await gate.call('Bash', { command: 'git commit' });
    expect(verdict).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('Bsh(rm *)'),
    });
    expect(await gate.bash('git commit')).toBe('asks');
  });

  it('leaves out a grant that cannot be understood, and says so', async () => {
    const gate = rig([updating(rules('allow', 'session', 'Bsh(ls *)', 'Bash(git *)'))]);
    expect(await runs(gate, 'Bash', { command: 'git commit' })).toBe(true);
    expect(told()).toContain('Bsh(ls *)');
    expect(await gate.bash('git commit')).toBe('runs');
  });

  it('changes the mode and the directories', async () => {
    const modes: string[] = [];
    const outside = path.join(project.home, 'docs');
    const gate = rig(
      [
        updating(
          { type: 'setMode', mode: 'plan', destination: 'session' },
          { type: 'addDirectories', directories: [outside], destination: 'localSettings' },
        ),
        updating({
          type: 'removeDirectories',
          directories: [outside],
          destination: 'localSettings',
        }),
      ],
      {},
      { setMode: (mode) => modes.push(mode) },
    );
    await gate.call('Bash', { command: 'git commit' });
    expect(modes).toEqual(['plan']);
    expect(await gate.outcome('Read', { file_path: `${outside}/x` })).toBe('runs');
    expect(localSettings()).toEqual({ permissions: { additionalDirectories: [outside] } });
    await gate.call('Bash', { command: 'git commit' });
    expect(await gate.outcome('Read', { file_path: `${outside}/x` })).toBe('asks');
    expect(localSettings()).toEqual({ permissions: { additionalDirectories: [] } });
  });

  it('tells when the mode may not be chosen', async () => {
    const gate = rig(
      [updating({ type: 'setMode', mode: 'bypassPermissions', destination: 'session' })],
      {},
      {
        setMode: () => {
          throw new Error('not armed');
        },
      },
    );
    expect(await runs(gate, 'Bash', { command: 'git commit' })).toBe(true);
    expect(told()).toContain('not armed');
  });

  it('stands in the receipt', async () => {
    const gate = rig([updating(rules('allow', 'session', 'Bash(git *)'))]);
    const { receipt } = await gate.call('Bash', { command: 'git commit' });
    expect(receipt.trace.slice(-2)).toMatchObject([
      { guard: 'asker', decision: 'allow' },
      { guard: 'answer', decision: 'pass', reason: 'added allow Bash(git *) (session)' },
    ]);
  });
});
