import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../lib/frontmatter/parse-yaml.js';
import { readSkill } from './head.js';

const HEAD = '---\ndescription: d\ndisallowed-tools: Bash\n---\nBODY';
const refusalOf = async (text: string) => (await readSkill(text, { parseYaml })).refusal;

describe('a restriction in what was meant as a head', () => {
  it.each([
    ['behind a blank', ` ${HEAD}`, 3],
    ['behind a tab', `\n\t${HEAD}`, 4],
    ['behind a blank of another kind', `\u00a0${HEAD}`, 3],
    ['behind a zero-width space', `\u200b${HEAD}`, 3],
    ['behind two byte order marks', `\ufeff\ufeff${HEAD}`, 3],
    ['below a comment', `<!-- c -->\n${HEAD}`, 4],
    ['below a long comment', `<!--\nc\n\n-->\n\n${HEAD}`, 8],
    ['on the line of a comment', `<!-- c -->${HEAD}`, 3],
    ['below a title', `# Title\n\n${HEAD}`, 5],
    ['between longer rulers', HEAD.replaceAll('---', '----'), 3],
    ['between shorter rulers', HEAD.replaceAll('---', '--'), 3],
    ['between other dashes', HEAD.replaceAll('---', '—'), 3],
    ['with a word behind the ruler', HEAD.replace('---', '--- yaml'), 3],
    ['as TOML', '+++\ndisallowed-tools = ["Bash"]\n+++\nBODY', 2],
    ['in a block of code', `\`\`\`yaml\n${HEAD.replace('BODY', '```\nBODY')}`, 4],
    ['in a block of code without rulers', '~~~\ndisallowed-tools: Bash\n~~~\nBODY', 2],
    ['without its first ruler', HEAD.slice('---\n'.length), 2],
    ['with other breaks', ` ${HEAD.replaceAll('\n', '\r\n')}`, 3],
  ])('takes the skill out: %s', async (_, text, line) => {
    const refusal = await refusalOf(text);
    expect(refusal).toMatchObject({ line, message: expect.stringContaining('disallowed-tools') });
  });

  it.each([
    'disable-model-invocation: true',
    'Disallowed_Tools: Bash',
    'dissallowed-tools: Bash',
    'user-invocable: false',
    'portcullis:\n  fence-tools: []',
    'portcullis.fence-tools: []',
    '{description: d, "disallowed-tools": Bash}',
  ])('is found in any spelling: %s', async (field) => {
    expect(await refusalOf(` ---\n${field}\n---\n`)).toBeDefined();
  });

  it.each([
    ['nothing', ''],
    ['text alone', 'Do it without disallowed-tools: they are for others.'],
    ['other fields', ' ---\ndescription: d\nallowed-tools: Bash\n---\nBODY'],
    ['a ruler and text', '----\nText\n----\ndisallowed-tools: Bash'],
    ['an example further down', 'Write this:\n\n```yaml\n---\ndisallowed-tools: Bash\n---\n```'],
    ['an example below a title', '# Title\n\n```yaml\ndisallowed-tools: Bash\n```'],
    ['an example behind a first block', '```sh\nls\n```\n```yaml\ndisallowed-tools: Bash\n```'],
    ['words that are no field', 'Name: the skill\n\ndisallowed-tools: Bash is meant'],
    ['a comment alone', '<!-- disallowed-tools: Bash'],
    ['a head, and the same in the text', `---\ndescription: d\n---\n ${HEAD}`],
  ])('is not seen in %s', async (_, text) => {
    expect(await refusalOf(text)).toBeUndefined();
  });

  it('is looked for in little time, whatever the text is', async () => {
    for (const part of ['{a', ', "a" ', ' '.repeat(50), '-- ', '<!--', 'a.']) {
      expect(await refusalOf(`----\n${part.repeat(100_000)}`)).toBeUndefined();
    }
  });
});

describe('a restriction in a line of a head that YAML refuses', () => {
  it.each([
    'disallowed-tools = Bash',
    'disallowed-tools：Bash',
    'disallowed-tools Bash',
    '? disallowed-tools\n: Bash',
    '* disallowed-tools: Bash',
    '**fence-tools**: Bash',
    'hint: [a] [b]\n  disallowed-tools = Bash',
  ])('takes the skill out: %s', async (line) => {
    const text = `---\ndescription: d\n${line}\nbad: [a] [b]\n---\nBODY`;
    expect(await refusalOf(text)).toBeDefined();
  });

  it.each(['disable-model-invocation = true', 'user-invocable=false', 'user-invocable'])(
    'counts where it says who may call the skill: %s',
    async (line) => {
      const { head } = await readSkill(`---\ndescription: d\n${line}\n---\nB`, { parseYaml });
      expect([head.disableModelInvocation, head.userInvocable]).toContain(
        line.startsWith('disable'),
      );
    },
  );

  it('is none where a text goes on', async () => {
    const text = '---\ndescription: Use when: a\n  disallowed-tools are needed\n---\nBODY';
    expect(await refusalOf(text)).toBeUndefined();
  });
});

describe('another word for a restriction', () => {
  it.each(['denied-tools', 'blocked_tools', 'excludeTools', 'forbidden-tools'])(
    'takes the skill out: %s',
    async (name) => {
      const refusal = await refusalOf(`---\ndescription: d\n${name}: Bash\n---\nBODY`);
      expect(refusal?.message).toContain('write disallowed-tools');
    },
  );
});

describe('problems of a head', () => {
  it('are told up to twenty, with the number of the others', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `zz${i}: v`);
    const read = async (count: number) =>
      (await readSkill(`---\n${fields(count).join('\n')}\n---\n`, { parseYaml })).problems;
    expect(await read(20)).toHaveLength(20);
    const many = await read(1_000);
    expect(many).toHaveLength(21);
    expect(many.at(-1)?.message).toBe('and 980 more problems in its head');
  });
});
