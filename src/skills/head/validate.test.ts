import { describe, expect, it } from 'vitest';
import { BUNDLED_SKILLS } from '../bundled/index.js';
import { validateSkill } from './validate.js';

const GOOD = 'name: deploy\ndescription: Deploys the service. Use when asked to release.';

async function findings(head: string, body = 'Do it.', files: readonly string[] = []) {
  const found = await validateSkill({
    text: `---\n${head}\n---\n${body}`,
    directoryName: 'deploy',
    exists: async (path) => files.includes(path),
    knownTools: ['Bash', 'Read'],
  });
  return found.map(({ severity, line, message }) => `${severity}:${line}: ${message}`);
}

describe('skills validate', () => {
  it.each([
    GOOD,
    `${GOOD}\nlicense: MIT\ncompatibility: any\nmetadata:\n  author: me\n  version: 1\nallowed-tools: Bash(git *) Read mcp__x__y`,
  ])('has nothing to say about a good skill', async (head) => {
    expect(await findings(head)).toEqual([]);
  });

  it.each([
    ['description: d', 'error:1: there is no name; write "name: deploy"'],
    [
      'name: other\ndescription: d',
      'error:2: the name "other" is not that of the directory, "deploy"',
    ],
    ['name: De--ploy\ndescription: d', 'error:2: the name "De--ploy" may hold'],
    [`name: ${'d'.repeat(65)}\ndescription: d`, 'error:2: the name is longer than 64'],
    ['name: deploy', 'error:1: there is no description'],
    ['name: deploy\ndescription: ""', 'error:3: there is no description'],
    [
      `name: deploy\ndescription: ${'d'.repeat(1_025)}`,
      'error:3: the description has 1025 characters',
    ],
    [`${GOOD}\ncompatibility: ${'d'.repeat(501)}`, 'error:4: compatibility'],
    [`${GOOD}\nmetadata: [a]`, 'error:4: metadata'],
    [`${GOOD}\nallowed-tools: 7`, 'error:4: allowed-tools is a text or a list of texts'],
    [
      `${GOOD}\nallowed-toolz: Bash`,
      'warning:4: "allowed-toolz" is not a field of a skill; did you mean allowed-tools?',
    ],
    [
      `${GOOD}\nallowed-tools: Bsh(x)`,
      'warning:undefined: allowed-tools names Bsh, which is no tool here; did you mean Bash?',
    ],
    [`${GOOD}\ndisallowed-tools: Bash(x`, 'error:4: a restriction cannot be read'],
    [`name: deploy\ndescription: a: b`, 'error:3: its head cannot be read as YAML'],
    [`${GOOD}\nuser-invocable: perhaps`, 'warning:4: "user-invocable" is neither'],
  ])('%s', async (head, expected) => {
    expect((await findings(head)).join('\n')).toContain(expected);
  });

  it('wants a head at all', async () => {
    const bare = { text: 'Just words.', directoryName: 'deploy', exists: async () => true };
    expect(await validateSkill(bare)).toEqual([
      expect.objectContaining({
        severity: 'error',
        line: 1,
        message: expect.stringContaining('no head'),
      }),
    ]);
  });

  it('counts characters, and takes letters of all scripts', async () => {
    const text = `---\nname: b-技能\ndescription: ${'😀'.repeat(1_000)}\n---\nText`;
    const skill = { text, directoryName: 'b-技能', exists: async () => true };
    expect(await validateSkill(skill)).toEqual([]);
  });

  it('wants a head that is closed', async () => {
    const text = '---\nname: deploy\ndescription: d\nText';
    const found = await validateSkill({ text, directoryName: 'deploy', exists: async () => true });
    expect(found[0]).toMatchObject({ severity: 'error', line: 1 });
  });

  it.each([
    ['Deploy $1.', 1],
    ['Deploy $ARGUMENTS[1].', 1],
    ['Deploy $0 to $1.', 0],
    ['Deploy $ARGUMENTS[0] to $1.', 0],
    ['Costs \\$1 or $10.', 0],
  ])('warns of arguments that are counted from 1: %s', async (body, count) => {
    expect((await findings(GOOD, body)).filter((one) => one.includes('$0'))).toHaveLength(count);
  });

  it('warns of files that are not there', async () => {
    const body = [
      'Read [locks](references/locks.md#top) and [more](./more.md).',
      'Run `scripts/check.sh`, see [site](https://example.com/x.md) and [above](#x).',
      `Also \${CLAUDE_SKILL_DIR}/data.json, [up](../other/x.md), [abs](/etc/passwd).`,
      '```',
      '[example](not-looked-at.md)',
      '```',
    ].join('\n');
    const found = await findings(GOOD, body, ['more.md']);
    expect(found).toEqual([
      'warning:5: references/locks.md is named here and does not exist',
      'warning:6: scripts/check.sh is named here and does not exist',
      'warning:7: data.json is named here and does not exist',
      "warning:7: ../other/x.md leads out of the skill's directory",
      'warning:7: /etc/passwd is a path of one machine',
    ]);
  });

  it('warns of long files', async () => {
    expect((await findings(GOOD, 'x\n'.repeat(600)))[0]).toContain('warning:501: it has 604 lines');
  });

  it.each(BUNDLED_SKILLS.map((skill) => [skill.name, skill] as const))(
    'the bundled %s is a good example',
    async (directoryName, { text, files }) => {
      const exists = async (path: string): Promise<boolean> => Object.hasOwn(files, path);
      expect(await validateSkill({ text, directoryName, exists })).toEqual([]);
      expect(text.split('\n').length).toBeLessThan(120);
      // A non-ASCII character anywhere would double the memory of every copy of the session's first
      // message, which contains the description.
      expect(text).toMatch(/^[\n -~]*$/);
    },
  );
});
