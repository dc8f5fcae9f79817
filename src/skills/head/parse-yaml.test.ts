import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { MOST_YAML, parseYaml, yamlWithin } from '../../lib/frontmatter/parse-yaml.js';
import { readSkill } from './head.js';

const skill = (head: string): string => `---\n${head}\n---\nBODY`;

describe('heads that need a YAML library', () => {
  it('reads maps', async () => {
    const head = [
      'description: d',
      'metadata:',
      '  author: me',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks: [{type: command, command: ./guard.sh}]',
      'portcullis:',
      '  fence-tools: [Read, "Bash(git diff *)"]',
    ].join('\n');
    const read = await readSkill(skill(head), { parseYaml });
    expect(read.problems).toEqual([]);
    expect(read.head).toMatchObject({
      fenceTools: ['Read', 'Bash(git diff *)'],
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }],
      },
    });
  });

  it.each([
    'a: &a {fence-tools: Read}\nportcullis: *a',
    'disallowed-tools: !!binary aGk=',
    'disallowed-tools: !js x',
    'disallowed-tools: Read\ndisallowed-tools: Bash',
    'portcullis:\n  fence-tools: [Read',
    '"portcullis": {x: y}\n __proto__: {a: b}',
  ])('refuses what may mean something else: %j', async (head) => {
    const { refusal } = await readSkill(skill(head), { parseYaml });
    expect(refusal).toBeDefined();
  });

  it('does not blow up', async () => {
    const levels = 'abcdefgh'.split('');
    const bomb = levels.map((name, at) => {
      const before = levels[at - 1];
      const item = before === undefined ? 'x' : `*${before}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(',')}]`;
    });
    const { head, problems } = await readSkill(skill(bomb.join('\n')), { parseYaml });
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(head).length).toBeLessThan(1_000);
  });
});

describe('YAML that takes long', () => {
  it.each([
    ['a key twice', '{a: 1, b: {c: 1, c: 2}}'],
    ['a key twice, in two ways', '1: a\n"1": b'],
    ['a key that is a list', '? [a]\n: b'],
    ['more than a head needs', `a: ${'x'.repeat(MOST_YAML)}`],
  ])('or says two things is refused: %s', async (_what, text) => {
    await expect(parseYaml(text)).rejects.toThrow();
  });

  it('is read within its limit, however many keys there are', async () => {
    const keys = Array.from({ length: 3_000 }, (_, index) => `k${index}: 1`);
    expect(Object.keys((await parseYaml(keys.join('\n').slice(0, MOST_YAML))) ?? {}).length).toBe(
      keys.join('\n').slice(0, MOST_YAML).split('\n').length,
    );
  });

  it('is read up to a limit of all texts together', async () => {
    const within = yamlWithin(10);
    expect(await within.parse('a: 1')).toEqual({ a: 1 });
    expect(await within.parse('b: 1')).toEqual({ b: 1 });
    expect(() => within.parse('c: 1')).toThrow('all heads together');
    within.begin();
    expect(await within.parse('c: 1')).toEqual({ c: 1 });
  });
});

describe('heads of one-line texts', () => {
  const bits = [
    'a',
    'Z9',
    ' ',
    '  ',
    ': ',
    ':',
    '#',
    ' #',
    '"',
    "'",
    ', ',
    '[',
    '}',
    '*',
    '&',
    '!',
    '|',
    '-',
    '%',
    '@',
    '\\',
    '\t',
    '\u00a0',
    '\u2014',
    '\u3000',
    '\u2028',
    'true',
    'Null',
    'FALSE',
    '1',
    '.inf',
    '~',
    '---',
    '<<',
  ];
  const words = fc.array(fc.constantFrom(...bits), { maxLength: 6 }).map((all) => all.join(''));
  const line = fc.tuple(words, fc.constantFrom(': ', ':', ':  '), words).map((all) => all.join(''));
  const plain = fc
    .tuple(fc.constantFrom('name', 'a-b', 'true', 'x_1'), words)
    .map(([key, value]) => `${key}: a${value}`);

  it('mean what they mean to the YAML library', async () => {
    const heads = fc.array(fc.oneof(line, plain), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(heads, async (lines) => {
        const text = lines.join('\n');
        const read = await Promise.resolve(parseYaml(text)).catch(() => 'refused');
        const document = parseDocument(text, { schema: 'core', merge: false });
        const isYaml = document.errors.length + document.warnings.length === 0;
        if (!isYaml) expect(read).toBe('refused');
        else if (read !== 'refused') expect(read).toEqual(document.toJS({ maxAliasCount: 0 }));
      }),
      { numRuns: 3_000 },
    );
  });
});
