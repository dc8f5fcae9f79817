import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { oneSkill, skillText } from './rig.js';
import {
  openSkillSession,
  type SkillSession,
  type SkillSessionOptions,
  skill,
} from './session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function start(options: SkillSessionOptions): Promise<SkillSession> {
  open = await openSkillSession(options);
  return open;
}

const settings = (value: unknown) => ({ '.claude/settings.json': { json: value } });
const skillFile = (name: string, head: string, body = 'BODY') => ({
  [`.claude/skills/${name}/SKILL.md`]: skillText(head, body),
});

describe('model and effort of a skill', () => {
  const files = {
    ...settings({ permissions: { allow: ['Skill', 'Bash(echo *)'] } }),
    ...skillFile(
      'small',
      'description: d\nmodel: haiku\neffort: low',
      'EFFORT $' + '{CLAUDE_EFFORT}',
    ),
    ...skillFile('same', 'description: d\nmodel: inherit\neffort: max'),
    ...skillFile('odd', 'description: d\neffort: enormous'),
  };
  const OPUS = 'claude-opus-5-5';
  const HAIKU = 'claude-haiku-5-5';

  it('hold for the rest of the turn in which a person types it', async () => {
    const echo = { tool: 'Bash', input: { command: 'echo x' } };
    const session = await start({ files, script: [echo, 'one', 'two', 'three'] });
    await session.say('/small');
    expect(session.shown()).toContain('EFFORT low');
    expect(session.session.info().model).toBe(OPUS);
    await session.say('two');
    await session.say('/same');
    expect(session.asked()).toEqual([
      `${HAIKU} low`,
      `${HAIKU} low`,
      `${OPUS} undefined`,
      `${OPUS} max`,
    ]);
  });

  it('when the model starts it: the effort alone, to the end of the turn', async () => {
    const session = await start({
      files,
      script: [skill('small'), 'one', skill('odd'), 'two'],
      config: { effort: 'high' },
    });
    await session.say('go');
    await session.say('again');
    expect(session.asked()).toEqual([
      `${OPUS} high`,
      `${OPUS} low`,
      `${OPUS} high`,
      `${OPUS} high`,
    ]);
  });

  it('are left as they are where the model cannot be used, and that is told', async () => {
    const session = await start({
      files: skillFile('dear', 'description: d\nmodel: mystery'),
      script: ['one'],
      config: { maxBudgetUsd: 1 },
    });
    await session.say('/dear');
    expect(session.asked()).toEqual([`${OPUS} undefined`]);
    expect(session.notices.join()).toContain('skill dear: a budget in dollars cannot be kept');
  });

  it('are asked of the hooks that guard the model', async () => {
    const no = `echo '{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"deny","permissionDecisionReason":"too small"}}'`;
    const guard = { hooks: [{ type: 'command', command: no }] };
    const session = await start({
      files: { ...files, ...settings({ hooks: { PreModelSwitch: [guard] } }) },
      script: ['one'],
    });
    await session.say('/small');
    expect(session.asked()).toEqual([`${OPUS} low`]);
    expect(session.notices.join()).toContain('too small');
  });
});

describe('receipts of what a skill grants', () => {
  it('name the file and the line', async () => {
    const touch = (name: string) => ({ tool: 'Bash', input: { command: `touch ${name}` } });
    const session = await start({
      files: {
        ...settings({ permissions: { allow: ['Skill'] } }),
        ...skillFile(
          'grants',
          'description: d\nallowed-tools: Bash(touch *)\ndisallowed-tools:\n  - Write',
        ),
      },
      script: [
        skill('grants'),
        touch('a'),
        { tool: 'Write', input: { file_path: 'b', content: '' } },
        'end',
      ],
    });
    await session.say('go');
    const file = session.project.at('.claude/skills/grants/SKILL.md');
    const [, bash, write] = session.receipts;
    expect(JSON.stringify(bash?.trace)).toContain(`Bash(touch *) (${file}:3)`);
    expect(write?.decision).toBe('deny');
    expect(JSON.stringify(write?.trace)).toContain(`Write (${file}:4)`);
  });
});

describe('files of bundled skills', () => {
  it('are read without asking, and nothing else beside them', async () => {
    const seen: string[] = [];
    const directoryIn = (text: string): string =>
      /Base directory for this skill: ([^\n"\\]+)/.exec(text)?.[1] ?? 'none';
    const read = (file: (directory: string) => string) => (view: { all: string }) => {
      const target = file(directoryIn(view.all));
      seen.push(target);
      return { tool: 'Read', input: { file_path: target } };
    };
    const session = await start({
      script: [
        skill('write-a-skill'),
        (view) => read((at) => path.join(at, 'template.md'))({ all: JSON.stringify(view) }),
        (view) => read((at) => `${path.dirname(at)}-other/x`)({ all: JSON.stringify(view) }),
        (view) => read((at) => path.join(at, '../../x'))({ all: JSON.stringify(view) }),
        (view) => ({
          tool: 'Write',
          input: { file_path: path.join(directoryIn(JSON.stringify(view)), 'n'), content: '' },
        }),
        'end',
      ],
    });
    await session.say('go');
    expect(existsSync(seen[0] ?? '')).toBe(true);
    const decided = session.receipts.map(({ tool, decision, decidedBy }) =>
      `${tool} ${decision} ${decision === 'allow' ? decidedBy : ''}`.trim(),
    );
    expect(decided).toEqual([
      'Skill allow plain skills',
      'Read allow bundled skill files',
      'Read deny',
      'Read deny',
      'Write deny',
    ]);
  });
});

describe('settings about skills', () => {
  const files = { ...oneSkill('aa', 'S_AA'), ...oneSkill('bb', 'S_BB'), ...oneSkill('cc', 'S_CC') };

  it('skillOverrides, disableBundledSkills', async () => {
    const session = await start({
      files: {
        ...files,
        ...settings({
          skillOverrides: { aa: 'off', bb: 'name-only' },
          disableBundledSkills: true,
        }),
      },
      script: ['one'],
    });
    await session.say('go');
    expect(session.shown()).toContain('- bb\\n- cc: S_CC');
    expect(session.shown()).not.toMatch(/S_AA|S_BB|write-a-skill/);
    expect(session.notices).toEqual([]);
  });

  it('skillListingMaxDescChars, skillListingBudgetFraction', async () => {
    const long = {
      ...oneSkill('aa', 'word '.repeat(400)),
      ...settings({ skillListingMaxDescChars: 60 }),
    };
    const session = await start({ files: long, script: ['one'] });
    await session.say('go');
    const line = /- aa: [^\\]*/.exec(session.shown())?.[0] ?? '';
    expect(line.length).toBeLessThanOrEqual(60);
    expect(session.notices.join()).toContain('shortened description: aa');
    await session.close();
    const narrow = await start({
      files: { ...files, ...settings({ skillListingBudgetFraction: 0.0001 }) },
      script: ['one'],
    });
    await narrow.say('go');
    expect(narrow.notices.join()).toContain('too long for its budget');
    expect(narrow.shown()).not.toContain('S_AA');
  });

  it('disableSkillShellExecution, also when it is set later', async () => {
    const session = await start({
      files: {
        ...settings({ permissions: { allow: ['Skill', 'Bash'] } }),
        ...skillFile('run', 'description: d', 'OUT !`echo RAN-$((1+1))` END'),
      },
      script: ['one', 'two', 'three'],
    });
    await session.say('/run');
    expect(session.shown()).toContain('OUT RAN-2 END');
    session.project.write(
      '.claude/settings.json',
      JSON.stringify({ disableSkillShellExecution: true }),
    );
    await session.say('two');
    await session.say('/run');
    expect(session.shown()).toContain('OUT [not run');
  });
});

describe('skills that change during a session', () => {
  const guarded = (command: string) => ({
    hooks: { ConfigChange: [{ matcher: 'skills', hooks: [{ type: 'command', command }] }] },
  });

  it('are told with the next prompt', async () => {
    const session = await start({
      files: oneSkill('aa', 'S_OLD'),
      script: ['one', 'two', 'three'],
    });
    await session.say('go');
    session.project.write('.claude/skills/aa/SKILL.md', skillText('description: S_NEW', 'B'));
    session.project.write('.claude/skills/bb/SKILL.md', skillText('description: S_BB', 'B'));
    await session.say('on');
    expect(session.shown()).toMatch(/have changed[^"]*- aa: S_NEW\\n- bb: S_BB/);
    rmSync(session.project.at('.claude/skills/bb'), { recursive: true });
    await session.say('on');
    expect(session.shown()).toContain('These skills are gone: bb');
  });

  it('are told within the share of the window that the list has, also those of a folder', async () => {
    const many = (prefix: string) =>
      Array.from({ length: 150 }, (_, n) => {
        const text = skillText(`description: ${prefix}${n} ${'x'.repeat(1_400)}`, 'B');
        return [`${prefix}${n}/SKILL.md`, text] as const;
      });
    const nested = Object.fromEntries(
      many('n').map(([name, text]) => [`sub/.claude/skills/${name}`, text]),
    );
    const session = await start({
      files: { 'sub/a.txt': 'a', ...nested },
      script: [{ tool: 'Read', input: { file_path: 'sub/a.txt' } }, 'one', 'two', 'three'],
    });
    await session.say('go');
    const told = session.shown().split('These skills can be started now:')[1] ?? '';
    expect(told.slice(0, 50_000)).toContain('- n149');
    expect(told.length).toBeLessThan(60_000);
    for (const [name, text] of many('m')) session.project.write(`.claude/skills/${name}`, text);
    await session.say('on');
    const changed = session.shown().split('The skills have changed')[1] ?? '';
    expect(changed).toContain('- m149');
    expect(changed.length).toBeLessThan(60_000);
    expect(session.notices.filter((text) => text.includes('too long for its budget'))).toHaveLength(
      2,
    );
    rmSync(session.project.at('.claude/skills'), { recursive: true });
    await session.say('on');
    expect(session.shown()).toMatch(/These skills are gone: m0, [^"]* and 50 more/);
  });

  it('stay as they were where a ConfigChange hook says no', async () => {
    const session = await start({
      files: { ...oneSkill('aa', 'S_OLD'), ...settings(guarded('cat >> log; exit 2')) },
      script: ['one', skill('aa'), 'two', skill('bb'), 'three'],
    });
    await session.say('go');
    session.project.write(
      '.claude/skills/aa/SKILL.md',
      skillText('description: S_NEW', 'NEW BODY'),
    );
    session.project.write('.claude/skills/bb/SKILL.md', skillText('description: S_BB', 'B'));
    await session.say('on');
    expect(session.shown()).toContain('B_S_OLD');
    expect(session.shown()).not.toMatch(/S_NEW|NEW BODY|S_BB/);
    const log = session.project.read('log');
    expect(log).toContain('"source":"skills"');
    expect(log.match(/skills\/aa\/SKILL\.md/g)).toHaveLength(1);
    await session.say('again');
    expect(session.shown()).toContain('Unknown skill: bb');
    expect(session.notices.filter((text) => text.includes('is not taken over'))).toHaveLength(2);
  });

  it('are looked for again when a SessionStart hook says so', async () => {
    const made = `mkdir -p .claude/skills/made && printf 'S_MADE' > .claude/skills/made/SKILL.md && echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","reloadSkills":true}}'`;
    const session = await start({
      files: settings({
        hooks: { SessionStart: [{ hooks: [{ type: 'command', command: made }] }] },
      }),
      script: ['one'],
    });
    await session.say('go');
    expect(session.shown()).toContain('- made: S_MADE');
  });
});

describe('a typed skill whose prompt goes no further', () => {
  const block = (text: string) => `grep -q '${text}' && { echo no >&2; exit 2; }; exit 0`;
  const hooks = (command: string) => ({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] },
  });

  it('leaves nothing in force and is not taken for said', async () => {
    const touch = { tool: 'Bash', input: { command: 'touch made' } };
    const session = await start({
      files: {
        ...settings(hooks(block('STOP'))),
        ...skillFile(
          'sk',
          'description: d\nallowed-tools: Bash(touch *)\nmodel: haiku',
          'TEXT OF SK',
        ),
      },
      script: [touch, 'one', 'two'],
    });
    expect(await session.say('/sk STOP')).toContain('blocked by a hook');
    expect(session.asked()).toEqual([]);
    await session.say('go on');
    expect(session.project.exists('made')).toBe(false);
    await session.say('/sk go');
    expect(session.shown()).toContain('TEXT OF SK');
    expect(session.asked().at(-1)).toContain('haiku');
  });

  it('takes back those that stand before one that is refused', async () => {
    const session = await start({
      files: {
        ...skillFile('sk', 'description: d', 'TEXT OF SK'),
        ...skillFile('bad', 'description: d', 'x !`touch made`'),
      },
      script: ['one'],
    });
    expect(await session.say('/sk /bad')).toContain('/bad: The skill bad was not started');
    await session.say('/sk');
    expect(session.shown()).toContain('TEXT OF SK');
    expect(session.notices.filter((text) => text.startsWith('/bad'))).toHaveLength(1);
  });
});
