import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';
import { run } from './worlds.js';

const SETTINGS = '.claude/settings.json';
const json = (value: unknown): string => JSON.stringify(value, null, 2);
const touch = { tool: 'Bash', input: { command: 'touch made' } } as const;
const guard = { type: 'command', command: 'exit 2' };

/** What holds back nothing, as people write it. Each holds a restriction that must bite or stop the run. */
const INERT: Readonly<Record<string, { text: string; line: number; says: string }>> = {
  'a misspelt key': {
    text: '{\n  "permisions": {"deny": ["Bash(touch:*)"]}\n}',
    line: 2,
    says: 'Did you mean permissions?',
  },
  'a trailing comma': {
    text: '{\n  "permissions": {\n    "deny": ["Bash(touch:*)"],\n  }\n}',
    line: 4,
    says: 'there is a trailing comma before }',
  },
  'a comment': {
    text: '{\n  // no touching\n  "permissions": {"deny": ["Bash(touch:*)"]}\n}',
    line: 2,
    says: 'there is a comment, and JSON has no comments',
  },
  'a cut-off file': {
    text: '{"permissions": {\n  "deny": ["Bash(touch:*)"]',
    line: 2,
    says: 'the text ends too early',
  },
  'a mistyped tool': {
    text: '{"permissions": {"deny": [\n  "Bsh(touch:*)"]}}',
    line: 2,
    says: 'Did you mean Bash?',
  },
  'a malformed rule': {
    text: '{"permissions": {"deny": [\n  "Bash(touch:*"]}}',
    line: 2,
    says: 'parenthesis',
  },
  'a text for a list': {
    text: '{"permissions": {\n"deny": "Bash(touch:*)"}}',
    line: 2,
    says: 'must be a list of strings',
  },
  'a misspelt list': {
    text: '{"permissions": {\n"denny": ["Bash(touch:*)"]}}',
    line: 2,
    says: 'Did you mean deny?',
  },
  'a list at the top': {
    text: '{\n\n"disallowedTools": ["Bash"]}',
    line: 3,
    says: 'Write the rules into permissions.deny.',
  },
  'a key that stands twice': {
    text: '{"permissions": {"deny": ["Bash(touch:*)"]},\n"permissions": {}}',
    line: 2,
    says: 'occurs twice',
  },
  'one wrong value beside a deny rule': {
    text: '{"permissions": {"deny": ["Bash(touch:*)"],\n"defaultMode": "nonsense"}}',
    line: 2,
    says: '`permissions.defaultMode` must be one of',
  },
  'a misspelt hook event': {
    text: json({ hooks: { PreTooluse: [{ matcher: 'Bash', hooks: [guard] }] } }),
    line: 3,
    says: 'Did you mean PreToolUse?',
  },
  'a hook without its group': {
    text: json({ hooks: { PreToolUse: [guard] } }),
    line: 4,
    says: 'is a hook without its group',
  },
  'a mistyped matcher': {
    text: json({ hooks: { PreToolUse: [{ matcher: 'Bsh', hooks: [guard] }] } }),
    line: 5,
    says: 'Did you mean Bash?',
  },
  'a misspelt sandbox key': {
    text: json({ sandbox: { filesystem: { denyread: ['/'] } } }),
    line: 4,
    says: 'Did you mean denyRead?',
  },
};

const SDK_INPUT = [
  { type: 'control_request', request_id: 'r1', request: { subtype: 'initialize' } },
  { type: 'user', message: { role: 'user', content: 'go' } },
];

describe.concurrent('a restriction that cannot hold stops the start', () => {
  for (const [name, { text, line, says }] of Object.entries(INERT)) {
    const world = { files: { [SETTINGS]: text }, script: [touch, 'done'] } satisfies Scenario;
    const args = ['--trust', '--allowedTools', 'Bash'];

    it(`${name}, headless`, async () => {
      const done = await run({ ...world, args, format: 'text' });
      const at = `${done.project.at(SETTINGS)}:${line}: `;
      expect(done).toMatchObject({ exitCode: 3, stdout: '', requests: [] });
      expect(done.stderr).toContain(at);
      expect(done.stderr).toContain(says);
      expect(done.project.exists('made')).toBe(false);
    });

    it(`${name}, driven by an SDK`, async () => {
      const done = await run({ ...world, args, stdin: SDK_INPUT });
      expect(done).toMatchObject({ exitCode: 1, requests: [] });
      expect(done.result).toMatchObject({ subtype: 'error_during_execution', is_error: true });
      const errors = String(done.result?.errors);
      expect(errors).toContain(`${done.project.at(SETTINGS)}:${line}: `);
      expect(errors).toContain(says);
    });
  }

  it('in the user’s settings and on the command line too', async () => {
    const text = '{"permisions": {}}';
    const ofUser = await run({ home: { [SETTINGS]: text }, format: 'json', script: [] });
    expect(ofUser.exitCode).toBe(3);
    const ofFlag = await run({ args: ['--settings', text], format: 'text', script: [] });
    expect(ofFlag).toMatchObject({ exitCode: 3 });
    const ofHost = await run({ args: ['--managed-settings', '{,'], format: 'text', script: [] });
    expect(ofHost).toMatchObject({ exitCode: 3 });
    expect(ofHost.stderr).toContain('--managed-settings:1: ');
  });
});

describe.concurrent('what can be understood is made to work', () => {
  const refused = async (
    settings: unknown,
    extra: Partial<Scenario> = {},
  ): Promise<ScenarioRun> => {
    const done = await run({
      files: { [SETTINGS]: json(settings) },
      args: ['--trust', '--allowedTools', 'Bash', 'Write'],
      script: [touch, { tool: 'Write', input: { file_path: 'x.txt', content: 'x' } }, 'done'],
      ...extra,
    });
    return done;
  };

  it.each([
    ['a rule in lower case', { permissions: { deny: ['bash(touch:*)'] } }, 'made'],
    ['a path rule for Write', { permissions: { deny: ['Write(**/x.txt)'] } }, 'x.txt'],
    [
      'a hook with its tool in lower case',
      { hooks: { PreToolUse: [{ matcher: 'bash', hooks: [guard] }] } },
      'made',
    ],
  ])('%s', async (_name, settings, file) => {
    for (const mode of [{}, { stdin: SDK_INPUT }]) {
      const done = await refused(settings, mode);
      expect(done.result).toMatchObject({ permission_denials: [{}] });
      expect(done.project.exists(file)).toBe(false);
      expect(done.project.exists('made') || done.project.exists('x.txt')).toBe(true);
    }
  });

  it('settings of the repository’s root, from a directory below it', async () => {
    const files = { [SETTINGS]: json({ permissions: { deny: ['Bash(touch *)'] } }), 'a/b/c': '' };
    const world = await run({ files, git: true, script: ['hi'] });
    const done = await run({
      world: world.world,
      cwd: world.project.at('a/b'),
      args: ['--allowedTools', 'Bash'],
      script: [touch, 'done'],
    });
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.toolResult(0).text).toContain(`${done.project.at(SETTINGS)}:4`);
  });
});

describe.concurrent('what only grants or pleases', () => {
  it('warns and goes on', async () => {
    const settings = { permissions: { alow: ['Bash'] }, spelling: 1, modl: 'x', theme: 'dark' };
    const done = await run({
      files: { [SETTINGS]: json(settings) },
      format: 'text',
      script: ['hi'],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
    expect(done.stderr).toContain('Did you mean allow?');
    expect(done.stderr).toContain('Did you mean model?');
    expect(done.stderr).toContain('`spelling` is not a setting and has no effect.');
    expect(done.stderr).not.toContain('theme');
  });

  it('and so does everything else where its user says so, but not where a project does', async () => {
    const world = {
      files: { [SETTINGS]: json({ permisions: {} }) },
      format: 'text',
      script: ['hi'],
    } satisfies Scenario;
    const lenient = json({ portcullis: { strict: false } });
    const done = await run({ ...world, home: { [SETTINGS]: lenient } });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
    expect(done.stderr).toContain('Did you mean permissions?');
    expect(done.stderr).toContain(
      `one restriction is not in force, and the start goes on because \`portcullis.strict\` is false (${done.project.home}/.claude/settings.json:3)`,
    );
    const own = await run({
      ...world,
      files: { [SETTINGS]: json({ permisions: {}, portcullis: { strict: false } }) },
    });
    expect(own.exitCode).toBe(3);
  });
});

describe.concurrent('settings that change during a session', () => {
  /** While the model answers for the first time, somebody writes `later` into the settings. */
  const change = (first: string, later: string, scenario: Scenario): Promise<ScenarioRun> => {
    const project = makeTempProject({ files: { [SETTINGS]: first } });
    const meanwhile = () => {
      project.write(SETTINGS, later);
      return { tool: 'Bash', input: { command: 'pwd' } };
    };
    return run({
      world: { project, remove: () => project.remove() },
      ...scenario,
      script: [meanwhile, ...(scenario.script ?? [])],
    });
  };
  const args = ['--allowedTools', 'Bash'];
  const noTouching = json({ permissions: { deny: ['Bash(touch *)'] } });

  it('hold from the next turn on', async () => {
    const done = await change('{}', noTouching, { args, script: [touch, 'done'] });
    expect(done.toolResult(0)).toMatchObject({ isError: false });
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.toolResult(1).text).toContain(`${done.project.at(SETTINGS)}:4`);
    const told = done.frames.filter((frame) => String(frame.content).includes('in force'));
    expect(told).toMatchObject([{ content: expect.stringContaining(done.project.at(SETTINGS)) }]);
  });

  it('change nothing when they cannot be honoured, and every turn says so', async () => {
    const script = [touch, touch, 'done'];
    const broken = '{"permissions": {"deny": [],}}';
    const done = await change(noTouching, broken, { args, format: 'text', script });
    expect(done.project.exists('made')).toBe(false);
    const told = done.stderr.split('\n').filter((line) => line.includes('stay in force'));
    expect(told).toHaveLength(3);
  });

  it('that no longer allow bypassPermissions end it', async () => {
    const noBypass = json({ permissions: { disableBypassPermissionsMode: 'disable' } });
    const done = await change('{}', noBypass, {
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
      script: [touch, 'done'],
    });
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.project.exists('made')).toBe(false);
  });

  it('do not grant anew what nobody has trusted', async () => {
    const grants = json({ permissions: { allow: ['Bash'] } });
    const done = await change('{}', grants, { args: ['--trust'], script: [touch, 'done'] });
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.project.exists('made')).toBe(false);
  });
});

const MANAGED = '/etc/claude-code';
const canMount =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt']).status === 0;
const itMounted = canMount ? it : it.skip;
/** The program with an administrator's settings of its own: those in the home's `managed`. */
const administered = [
  'unshare',
  '-m',
  'sh',
  '-c',
  `set -e; cp -a /etc "$TMPDIR/etc"; rm -rf "$TMPDIR/etc/claude-code"; cp -a "$HOME/managed" "$TMPDIR/etc/claude-code"; mount --bind "$TMPDIR/etc" /etc; exec "$@"`,
  'sh',
  ...PROGRAM,
];

describe('an administrator', () => {
  itMounted(
    `keeps granting to himself, denials of others stay${canMount ? '' : ' (skipped: needs unshare -m)'}`,
    async () => {
      const done = await run(
        {
          home: {
            'managed/managed-settings.json': json({ allowManagedPermissionRulesOnly: true }),
            'managed/managed-settings.d/10.json': json({
              permissions: { allow: ['Bash(mkdir *)'] },
            }),
            [SETTINGS]: json({ permissions: { deny: ['Bash(echo *)'], allow: ['Bash(touch *)'] } }),
          },
          args: ['--allowedTools', 'Bash(touch *)'],
          script: [
            { tool: 'Bash', input: { command: 'mkdir d' } },
            touch,
            { tool: 'Bash', input: { command: 'echo hi' } },
            'done',
          ],
        },
        administered,
      );
      expect([0, 1, 2].map((call) => done.toolResult(call).isError)).toEqual([false, true, true]);
    },
  );

  itMounted('is not overruled by a user who takes it less strictly', async () => {
    const done = await run(
      {
        home: {
          'managed/managed-settings.json': json({ permisions: {} }),
          [SETTINGS]: json({ portcullis: { strict: false } }),
        },
        format: 'text',
        script: ['hi'],
      },
      administered,
    );
    expect(done.exitCode).toBe(3);
    expect(done.stderr).toContain(`${MANAGED}/managed-settings.json:2: `);
  });
});

describe('portcullis config', () => {
  const files = {
    [SETTINGS]: json({
      model: 'from-project',
      permissions: { allow: ['Read'], deny: ['Bash(rm *)'] },
      env: { API_TOKEN: 'hush' },
    }),
  };
  const home = {
    [SETTINGS]: json({ model: 'from-user', permissions: { deny: ['Bash(curl *)'] } }),
  };

  async function config(scenario: Scenario, ...args: string[]) {
    const { project } = await run({ ...scenario, format: 'text', script: ['hi'] });
    const [command = '', ...first] = PROGRAM;
    const env = { PATH: process.env.PATH, HOME: project.home };
    const done = spawnSync(command, [...first, 'config', ...args], {
      cwd: project.directory,
      env,
      encoding: 'utf8',
    });
    return { ...done, project };
  }

  it('shows each value with its place, and what it shadows', async () => {
    const { stdout, status, project } = await config({ files, home });
    const at = project.at(SETTINGS);
    const users = path.join(project.home, SETTINGS);
    expect(status).toBe(0);
    expect(stdout).toContain(`"from-project"  (project, ${at}:2)`);
    expect(stdout).toContain(
      `"from-user"  (user, ${users}:2, shadowed by a stronger or stricter one)`,
    );
    expect(stdout).toContain(`"Bash(curl *)"  (user, ${users}:5)`);
    expect(stdout).toContain(`"Read"  (project, ${at}:5, not in force: the folder is not trusted)`);
    expect(stdout).toContain(`project  ${at}: read, not trusted`);
    expect(stdout).toContain(`local    ${project.at('.claude/settings.local.json')}: not there`);
    expect(stdout).toContain(`managed  ${MANAGED}/managed-settings.json: `);
    expect(stdout).not.toContain('hush');
  });

  it('is data on request', async () => {
    const { stdout } = await config({ files, home }, '--json', '--trust');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ starts: true, trusted: true, strict: true });
    const entry = report.settings.find(({ key }: { key: string }) => key === 'permissions.allow');
    expect(entry).toMatchObject({
      merge: 'list',
      values: [{ value: 'Read', standing: 'in force', source: 'project', line: 5 }],
    });
  });

  it('names what a session would refuse, rules included', async () => {
    const scenario = { files: { [SETTINGS]: json({ permissions: { deny: ['Bsh(x)'] } }) } };
    const { stdout, status, project } = await config(scenario);
    expect(status).toBe(3);
    expect(stdout).toContain(`refuses: ${project.at(SETTINGS)}:4: `);
    expect(stdout).toContain('A session would not start with these settings.');
  });

  it('explains one key', async () => {
    const { stdout, project } = await config({ files, home }, 'explain', 'model');
    expect(stdout).toBe(
      [
        'model',
        '  the strongest source decides',
        '  a fault in it only warns',
        '  model',
        `    "from-project"  (project, ${project.at(SETTINGS)}:2)`,
        `    "from-user"  (user, ${path.join(project.home, SETTINGS)}:2, shadowed by a stronger or stricter one)`,
        '',
      ].join('\n'),
    );
    rmSync(project.at(SETTINGS));
    const unset = await config({}, 'explain', 'permissions.deny');
    expect(unset.stdout).toContain('not set in any file');
    const wrong = await config({}, 'explain', 'permissions.dney');
    expect(wrong).toMatchObject({ status: 2 });
    expect(wrong.stderr).toContain('did you mean permissions.deny?');
  });

  it('understands only itself', async () => {
    expect(await config({}, 'explian', 'model')).toMatchObject({ status: 2 });
  });
});
