import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PortcullisError } from '../../src/errors.js';
import { hasPassed, scoreOf } from '../../src/project/skills-score.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { type CommandRun, runPortcullis } from '../support/run-command.js';
import { oneSkill, skillText } from './rig.js';

const cwd = process.cwd();
let project: TempProject | undefined;
beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(ANTHROPIC|OPENAI|PORTCULLIS|CLAUDE|SLASH)/.test(name)) vi.stubEnv(name, undefined);
  }
});
afterEach(() => {
  process.chdir(cwd);
  vi.unstubAllEnvs();
  project?.remove();
});

function enter(options: { files?: ProjectFiles; home?: ProjectFiles; git?: boolean }): TempProject {
  project = makeTempProject(options);
  process.chdir(project.directory);
  vi.stubEnv('HOME', project.home);
  vi.stubEnv('TMPDIR', project.root);
  return project;
}

function skills(...argv: readonly string[]): Promise<CommandRun> {
  return runPortcullis('skills', ...argv);
}

const GRANTING = skillText('name: grants\ndescription: Grants.\nallowed-tools: Bash(touch *)');

describe('portcullis skills', () => {
  it('lists what it can do', async () => {
    expect((await skills()).code).toBe(2);
    expect((await skills('--help')).text).toContain('validate');
    await expect(skills('lst')).rejects.toThrow('no subcommand');
  });
});

describe('portcullis skills and agents with bad input', () => {
  it.each(['skills', 'agents'])('%s list names it', async (name) => {
    enter({});
    await expect(runPortcullis(name, 'list', '--add-dir', 'gone')).rejects.toThrow(
      '--add-dir: "gone" is not a directory',
    );
    const { warned } = await runPortcullis(name, 'list', '--settings', 'gone.json');
    expect(warned).toContain('gone.json');
    expect(warned).toContain('no session starts here');
  });

  it('agents list says that the file of --agents cannot be read', async () => {
    enter({});
    await expect(runPortcullis('agents', 'list', '--agents', 'gone.json')).rejects.toThrow(
      '--agents: ENOENT',
    );
  });
});

describe('portcullis skills ledger', () => {
  const lines = (...records: readonly object[]): ProjectFiles => ({
    '.portcullis/skill-ledger.jsonl': records.map((one) => `${JSON.stringify(one)}\n`).join(''),
  });
  const bundled = {
    name: 'write-a-skill',
    file: 'bundled:write-a-skill',
    offered: 5,
    taken: 2,
    model: 3,
    person: 1,
    shortened: 2,
    leftOut: { room: 4 },
    last: '2030-01-02',
  };
  const rare = { name: 'rare', file: '/p/rare/SKILL.md', offered: 1, last: '2030-01-01' };

  it('shows how often each was offered, chosen and skipped', async () => {
    enter({ home: lines(bundled, rare) });
    const { text, code } = await skills('ledger');
    expect(code).toBe(0);
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['offered', 'by model', 'by people', 'skipped', 'last', 'skill'],
      [
        '5',
        '3',
        '1',
        '3',
        '2030-01-02',
        'write-a-skill',
        'bundled:write-a-skill; shortened in 2; left out of 4: no room in the list',
      ],
      ['1', '0', '0', '1', '2030-01-01', 'rare', '/p/rare/SKILL.md'],
      [''],
    ]);
    expect((await skills('ledger', '/rare')).text).not.toContain('write-a-skill');
    expect((await skills('ledger', 'other')).text).toContain(
      'No session has recorded the skill other yet',
    );
    expect((await skills('ledger', '--help')).text).toContain('portcullis skills ledger');
  });

  it('answers in JSON', async () => {
    enter({ home: lines(bundled) });
    expect((await skills('ledger', '--json')).json()).toEqual({
      skills: [
        {
          name: 'write-a-skill',
          file: 'bundled:write-a-skill',
          offered: 5,
          chosen: { model: 3, person: 1 },
          skipped: 3,
          shortened: 2,
          leftOut: { room: 4, people: 0, settings: 0, file: 0 },
          last: '2030-01-02',
        },
      ],
    });
  });

  it('stands in the list of skills, too', async () => {
    enter({ home: lines(bundled, rare) });
    expect((await skills('list')).text).toContain(
      'so far: offered in 5 sessions; chosen 3 × by the model, 1 × by people; skipped in 3',
    );
    const report = (await skills('list', '--json')).json();
    expect(report.skills).toContainEqual(
      expect.objectContaining({
        name: 'write-a-skill',
        ledger: expect.objectContaining({ offered: 5, skipped: 3 }),
      }),
    );
  });

  it('says that it is broken instead of showing half of it', async () => {
    enter({ home: { '.portcullis/skill-ledger.jsonl': `${JSON.stringify(rare)}\n{"name"` } });
    await expect(skills('ledger')).rejects.toThrow('line 2 is not a record of a skill');
    expect((await skills('list')).text).toContain('write-a-skill');
    await expect(skills('ledger', 'a', 'b')).rejects.toThrow('too many arguments');
  });
});

describe('portcullis skills list', () => {
  it('shows what was found, from where, and why not in force', async () => {
    enter({
      git: true,
      home: { ...oneSkill('mine', 'My own') },
      files: {
        ...oneSkill('mine', 'Theirs'),
        '.claude/skills/grants/SKILL.md': GRANTING,
        '.claude/skills/wait/SKILL.md': skillText('paths: "*.py"'),
        '.claude/commands/cmd.md': skillText('disable-model-invocation: true'),
        'pkg/.claude/skills/deep/SKILL.md': 'Deep.',
        'out/.claude/skills/junk/SKILL.md': 'Junk.',
        '.gitignore': 'out/\n',
      },
    });
    const { text, code } = await skills('list');
    expect(code).toBe(0);
    expect(text).toContain('mine  (user)');
    expect(text).toContain('grants Bash(touch *) (held back: the folder is not trusted)');
    expect(text).toContain('waits for a file: *.py');
    expect(text).toContain('cmd  (project command)');
    expect(text).toContain('only people start it');
    expect(text).toMatch(
      /Not in force\n {2}mine {2}\.claude\/skills\/mine\/SKILL\.md\n.*has the same name/,
    );
    expect(text).toContain('write-a-skill  (bundled)');
    expect(text).not.toContain('deep');
    expect((await skills('list', '--touch', 'pkg/f')).text).toContain('deep  (nested)');
    expect((await skills('list', '--touch', 'out/f')).text).toContain('git ignores it');
    expect((await skills('list', '--trust')).text).not.toContain('held back');
  });

  it('answers in JSON', async () => {
    enter({ files: { ...oneSkill('a'), '.claude/skills/b/x.md': 'x' } });
    const report = (await skills('list', '--json')).json();
    expect(report).toMatchObject({
      trusted: false,
      skills: [{ name: 'a', origin: 'project', shown: 'whole', dormant: false }, {}, {}, {}],
      skipped: [{ name: 'b' }],
      listing: { cut: [] },
    });
  });

  it('goes by the settings, and says what was cut', async () => {
    enter({
      home: {
        '.claude/settings.json': {
          json: { skillOverrides: { off: 'off' }, disableBundledSkills: true },
        },
      },
      files: {
        ...oneSkill('off'),
        ...oneSkill('a', 'word '.repeat(60)),
        ...oneSkill('b', 'word '.repeat(60)),
      },
    });
    vi.stubEnv('SLASH_COMMAND_TOOL_CHAR_BUDGET', '300');
    const { text } = await skills('list');
    expect(text).toContain('skillOverrides has it off');
    expect(text).toContain('Note: the list of skills is too long');
    expect(text).not.toContain('bundled');
    await expect(skills('list', 'x')).rejects.toThrow('too many arguments');
    await expect(skills('list', '--window', 'x')).rejects.toThrow('--window: "x" is not a number');
  });
});

describe('portcullis skills show', () => {
  it('shows head, text and files, and runs nothing', async () => {
    const { directory } = enter({
      files: {
        '.claude/skills/a/SKILL.md': skillText(
          'description: "A\\u202e"',
          'OUT !`touch made`\n\u001b[31m',
        ),
        '.claude/skills/a/scripts/x.sh': 'x',
      },
    });
    const { text } = await skills('show', '/a');
    expect(text).toContain('description: A\\u202e');
    expect(text).toContain('  SKILL.md\n  scripts/x.sh\n');
    expect(text).toContain('  OUT !`touch made`\n  \\u001b[31m');
    expect((await skills('show', 'a', '--json')).json()).toMatchObject({ name: 'a', bodyLine: 4 });
    expect(execFileSync('ls', [directory], { encoding: 'utf8' })).toBe('');
  });

  it('shows bundled skills with their files, and leaves none behind', async () => {
    const { root } = enter({});
    const { text } = await skills('show', 'write-a-hook');
    expect(text).toContain('examples.md');
    expect(readdirSync(root).filter((name) => name.startsWith('portcullis-skills-'))).toEqual([]);
  });

  it('says why one is not there', async () => {
    enter({ files: { ...oneSkill('deploy'), '.claude/skills/flat/x': '' } });
    await expect(skills('show', 'deplyo')).rejects.toMatchObject({
      remedy: 'did you mean deploy?',
    });
    await expect(skills('show', 'flat')).rejects.toThrow('is not in force: there is no SKILL.md');
    await expect(skills('show')).rejects.toThrow("missing required argument 'name'");
  });
});

describe('portcullis skills validate', () => {
  it('names file and line, and ends with 1 on errors', async () => {
    const { at } = enter({
      files: {
        '.claude/skills/good/SKILL.md': skillText('name: good\ndescription: d\nmetadata:\n  a: b'),
        '.claude/skills/bad/SKILL.md': skillText(
          'name: Bad\ndescription: d\ncolour: red',
          'See [x](x.md).',
        ),
        '.claude/skills/low/skill.md': 'x',
      },
    });
    const { code, text } = await skills('validate');
    expect(code).toBe(1);
    expect(text.split('\n')).toEqual([
      expect.stringContaining('.claude/skills/bad/SKILL.md:2: error: the name "Bad"'),
      expect.stringContaining('.claude/skills/bad/SKILL.md:4: warning: "colour" is not a field'),
      expect.stringContaining('.claude/skills/bad/SKILL.md:6: warning: x.md is named here'),
      '2 skills, 1 errors, 2 warnings',
      '',
    ]);
    expect((await skills('validate', '.claude/skills/good')).code).toBe(0);
    expect((await skills('validate', '.claude/skills/low')).text).toContain(
      'must be called SKILL.md',
    );
    expect((await skills('validate', '--json', at('.claude/skills/good/SKILL.md'))).text).toContain(
      '"findings": []',
    );
    await expect(skills('validate', 'nowhere')).rejects.toThrow('nothing at nowhere');
    await expect(skills('validate', '.')).rejects.toThrow('no skill at .');
  });
});

describe('portcullis skills test', () => {
  const files = {
    ...oneSkill('deploy', 'Deploys the service'),
    ...oneSkill('review', 'Reviews code'),
  };
  const table = [
    '- prompt: Please ship it',
    '  skill: deploy',
    '- prompt: Look over my change',
    '  skill: review',
    '- prompt: What is 2 + 2?',
    '  skill: none',
  ].join('\n');
  const script = (replies: readonly unknown[]): void => {
    const file = path.join(project?.root ?? '', 'script.json');
    writeFileSync(file, JSON.stringify(replies));
    vi.stubEnv('PORTCULLIS_SCRIPT', file);
  };
  const call = (skill: string, when: string) => ({ tool: 'Skill', input: { skill }, when });

  it('passes when the model takes what is expected, and nothing where nothing is', async () => {
    enter({ files: { ...files, 'tests.yaml': table } });
    script([
      call('deploy', 'ship it'),
      call('/review', 'Look over'),
      { text: 'Four.', when: '2 + 2' },
    ]);
    const { code, text } = await skills('test', 'tests.yaml');
    expect(text).toContain('3 of 3 as expected');
    expect(text).toContain('recall 100 %, precision 100 %');
    expect(text).toContain('deploy: offered 3, expected 1, chosen 1, skipped 0, wrongly 0');
    expect(code).toBe(0);
  });

  it('shows what was missed and what was taken wrongly', async () => {
    enter({ files: { ...files, 'tests.yaml': table } });
    const replies = [
      { text: 'Shipped.', when: 'ship it' },
      call('review', 'Look over'),
      call('deploy', '2 + 2'),
    ];
    script(replies);
    const { code, text } = await skills('test', 'tests.yaml');
    expect(code).toBe(1);
    expect(text).toContain(
      'tests.yaml:1: Please ship it\n  expected deploy, chosen none, skipped deploy\n',
    );
    expect(text).toContain('tests.yaml:5: What is 2 + 2?\n  expected none, chosen deploy\n');
    expect(text).toContain('recall 50 %, precision 50 %');
    expect(text).toContain('deploy: offered 3, expected 1, chosen 1, skipped 1, wrongly 1');
    script(replies);
    expect((await skills('test', 'tests.yaml', '--min-recall', '0.5')).code).toBe(0);
    script(replies);
    const report = (await skills('test', 'tests.yaml', '--min-precision=0.9', '--json')).json();
    expect(report).toMatchObject({ good: false, passed: 1, trials: 3, precision: 0.5 });
  });

  it('asks as often as it is told to', async () => {
    enter({ files: { ...files, 'tests.json': [{ prompt: 'ship', skill: 'deploy' }] } });
    script([call('deploy', 'ship'), 'no', call('deploy', 'ship')]);
    const report = (await skills('test', 'tests.json', '--runs', '3', '--json')).json();
    expect(report).toMatchObject({ trials: 3, passed: 2, recall: 2 / 3, precision: 1 });
  });

  it('wakes skills that wait for a file', async () => {
    enter({
      files: {
        '.claude/skills/py/SKILL.md': skillText('description: Python\npaths: "*.py"'),
        'tests.yaml': '- prompt: go\n  skill: py\n  touch: a.py\n- prompt: other\n  skill: none\n',
        'dormant.yaml': '- prompt: go\n  skill: py\n',
      },
    });
    script([call('py', 'go'), 'ok']);
    expect((await skills('test', 'tests.yaml')).code).toBe(0);
    await expect(skills('test', 'dormant.yaml')).rejects.toThrow(
      'dormant.yaml:1: the skill py is not shown',
    );
  });

  it('a model that does not answer has not passed', async () => {
    enter({ files: { ...files, 'tests.yaml': '- prompt: x\n  skill: none\n' } });
    script([{ error: { status: 400, message: 'broken' } }]);
    const { code, text } = await skills('test', 'tests.yaml', '--min-recall', '0');
    expect(code).toBe(1);
    expect(text).toContain('broken');
  });

  it.each([
    ['- prompt: x\n', 'there is no "skill"'],
    ['- skill: x\n', 'there is no "prompt"'],
    ['- prompt: x\n  skil: y\n', 'did you mean skill?'],
    ['- prompt: x\n  skill: nosuch\n', 'the skill nosuch does not exist'],
    ['- prompt: x\n  skill: deplo\n', 'did you mean deploy?'],
    ['', 'no test in it'],
    ['[1]', '1: the entry is not an object'],
    ['[{"prompt": "x"}]', 'there is no "skill"'],
  ])('refuses a table that is not clear: %j', async (text, message) => {
    enter({ files: { ...files, 'tests.yaml': text } });
    script(['never asked']);
    await expect(skills('test', 'tests.yaml')).rejects.toThrow(message);
  });

  it('refuses what it does not understand', async () => {
    enter({ files });
    await expect(skills('test')).rejects.toBeInstanceOf(PortcullisError);
    await expect(skills('test', 'x', '--runs', '0')).rejects.toThrow('--runs');
    await expect(skills('test', 'nowhere.yaml')).rejects.toThrow('cannot be read');
  });

  it('counts several skills at once as wrong', () => {
    const test = { line: 1, prompt: 'x', skill: 'a' };
    const trial = {
      test,
      chosen: ['a', 'b'],
      listing: { text: '', shown: [], cut: [], hidden: [] },
    };
    expect(hasPassed(trial)).toBe(false);
    expect(scoreOf([trial])).toMatchObject({ recall: 1, precision: 0.5, passed: 0 });
  });
});
