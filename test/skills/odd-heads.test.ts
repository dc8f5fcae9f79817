import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRuleHead } from '../../src/context/instructions/rules.js';
import { parseYaml } from '../../src/lib/frontmatter/parse-yaml.js';
import { type ReadSkill, readSkill } from '../../src/skills/head/head.js';

/** A field, one of the ways to write it, and what it means. */
interface Written {
  readonly field: string;
  readonly text: string;
  readonly means: unknown;
  /** No YAML, and people write it all the same. */
  readonly odd?: boolean;
}

const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 24 })
  .map((text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu, '').trim())
  .filter((text) => text !== '');
/** Texts that need no quotes. */
const plain = fc
  .array(
    fc.constantFrom('Größe', '大きさ', 'naïve', 'a-b', "it's", 'x:y', 'C#', '🦀', 'e.g.', '(b)'),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => `Use ${parts.join(' ')}`);
const meant = fc.constantFrom(
  'Use when: asked',
  'Deploys: to: many',
  '@scope/pkg is used',
  '`code` first',
  '*.ts files',
  '%d percent',
  'a: b, c: d',
  '"quoted" and more',
);

const written =
  (field: string) =>
  (text: string, means: unknown, odd = false) => ({
    field,
    text,
    means,
    odd,
  });

/** One text in one of many ways. */
function textField(field: string): fc.Arbitrary<Written> {
  const as = written(field);
  const block = (mark: string, lines: readonly string[]): string =>
    `${field}: ${mark}\n${lines.map((line) => `  ${line}`).join('\n')}`;
  return fc.oneof(
    plain.map((text) => as(`${field}: ${text}`, text)),
    plain.map((text) => as(`${field}:\t${text}`, text)),
    plain.map((text) => as(`${field}:   ${text}  `, text)),
    plain.map((text) => as(`${field}: ${text} # why`, text)),
    plain.map((text) => as(`${field}:\n  ${text}`, text)),
    words.map((text) => as(`${field}: ${JSON.stringify(text)}`, text)),
    words.map((text) => as(`${field}: '${text.replaceAll("'", "''")}'`, text)),
    fc
      .tuple(fc.constantFrom('|', '|-', '|+'), fc.array(words, { minLength: 1, maxLength: 3 }))
      .map(([mark, lines]) => as(block(mark, lines), lines.join('\n'))),
    fc.constantFrom('>', '>-').chain((mark) => words.map((text) => as(block(mark, [text]), text))),
    fc.tuple(plain, plain).map(([one, two]) => as(block('>-', [one, two]), `${one} ${two}`)),
    meant.map((text) => as(`${field}: ${text}`, text, true)),
  );
}

const glob = fc.constantFrom(
  'src/*.ts',
  'docs/**',
  'a b/*.md',
  'größe/*.ts',
  'x/[ab].c',
  '/top.txt',
);
const bare = fc.constantFrom('src/x.ts', 'docs/**', 'größe/y.md');

function listField(field: string): fc.Arbitrary<Written> {
  const as = written(field);
  const items = (of: fc.Arbitrary<string>) => fc.array(of, { minLength: 1, maxLength: 4 });
  return fc.oneof(
    items(bare).map((list) => as(`${field}: ${list.join(', ')}`, list)),
    items(bare).map((list) => as(`${field}: [${list.join(', ')}]`, list)),
    items(glob).map((list) => as(`${field}: ${JSON.stringify(list)}`, list)),
    items(glob).map((list) =>
      as(`${field}:\n${list.map((one) => `  - "${one}"`).join('\n')}`, list),
    ),
    items(bare).map((list) => as(`${field}:\n${list.map((one) => `- ${one}`).join('\n')}`, list)),
    items(bare).map((list) =>
      as(`${field}:\n${list.map((one) => `    -   ${one}  `).join('\n')}`, list),
    ),
    fc.constant(as(`${field}: **/*.ts`, ['**/*.ts'], true)),
    fc.constant(as(`${field}: *.ts`, ['*.ts'], true)),
    fc.constant(as(`${field}:\n  - **/*.ts\n  - docs/**`, ['**/*.ts', 'docs/**'], true)),
    fc.constant(as(`${field}: [**/*.ts, *.md]`, ['**/*.ts', '*.md'], true)),
  );
}

const flagField = (field: string): fc.Arbitrary<Written> =>
  fc
    .constantFrom<[string, boolean]>(
      ['true', true],
      ['yes', true],
      ['On', true],
      ['"1"', true],
      ['off', false],
      ['No', false],
      ['0', false],
    )
    .map(([text, means]) => written(field)(`${field}: ${text}`, means));

const around = fc.record({
  start: fc.constantFrom('', '\uFEFF', '\n\n', '\uFEFF\n'),
  open: fc.constantFrom('---', '---  ', '---\t'),
  close: fc.constantFrom('---', '...', '--- '),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  comment: fc.boolean(),
  blank: fc.boolean(),
});

const fields = fc
  .tuple(
    textField('description'),
    textField('when_to_use'),
    listField('paths'),
    flagField('disable-model-invocation'),
  )
  .chain((all) => fc.shuffledSubarray(all, { minLength: 1 }));

const file = fc
  .tuple(fields, around)
  .map(([heads, { start, open, close, end, comment, blank }]) => {
    const lines = heads.flatMap(({ text }) => [
      ...(comment ? ['# a comment: with a colon'] : []),
      text,
      ...(blank ? [''] : []),
    ]);
    const text = `${start}${[open, ...lines, close, 'BODY'].join('\n')}`;
    return { heads, text: text.replaceAll('\n', end) };
  });

function fieldOf({ head }: ReadSkill, field: string): unknown {
  if (field === 'description') return head.description;
  if (field === 'when_to_use') return head.whenToUse;
  return field === 'paths' ? head.paths : head.disableModelInvocation;
}

describe('heads as people write them', () => {
  it('have their values, and a warning with a line where they are no YAML', async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ heads, text }) => {
        const read = await readSkill(text, { parseYaml });
        expect(read.body).toBe('BODY');
        expect(read.refusal).toBeUndefined();
        const isOdd = heads.some(({ odd }) => odd);
        for (const { field, means } of heads) {
          const isLost = read.problems.some(({ message }) => message.startsWith(`"${field}"`));
          // What only YAML can say is lost in a head that is none, and named.
          if (isOdd && isLost) continue;
          expect(fieldOf(read, field)).toEqual(means);
        }
        if (isOdd) {
          expect(read.problems[0]?.message).toContain('cannot be read as YAML');
          expect(read.problems[0]?.line).toBeGreaterThan(1);
        } else expect(read.problems).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  it.each(['description: Use when: asked', 'description: @x/y', 'description: `a` b'])(
    'means what it says without quotes: %s',
    async (line) => {
      const { head, problems } = await readSkill(`---\n${line}\npaths: **/*.ts\n---\n`, {
        parseYaml,
      });
      expect(head.description).toBe(line.slice('description: '.length));
      expect(head.paths).toEqual(['**/*.ts']);
      expect(problems).toHaveLength(1);
    },
  );

  it('a field that stands twice counts when both say the same, and is named', async () => {
    const twice = fc.tuple(textField('description'), textField('description'));
    await fc.assert(
      fc.asyncProperty(twice, async ([one, two]) => {
        const text = `---\n${one.text}\nuser-invocable: no\n${two.text}\n---\nBODY`;
        const { head, problems } = await readSkill(text, { parseYaml });
        expect([one.means, two.means, 'BODY']).toContain(head.description);
        expect(problems[0]?.message).toContain('cannot be read as YAML');
        expect(head.userInvocable).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('grants nothing by accident', async () => {
    const rules = fc.constantFrom(
      'Bash(git *), Read',
      '[Read]',
      '\n  - Read',
      '"Read"',
      '7',
      '{a: b}',
      '**',
    );
    await fc.assert(
      fc.asyncProperty(fields, rules, async (heads, value) => {
        const text = `---\n${heads.map((one) => one.text).join('\n')}\nallowed-tools: ${value}\n---\n`;
        const { head, problems } = await readSkill(text, { parseYaml });
        const isOdd = heads.some(({ odd }) => odd) || value === '**';
        if (value === '**') expect(head.allowedTools).toBeUndefined();
        if (isOdd || head.allowedTools === undefined) expect(problems.length).toBeGreaterThan(0);
        if (head.allowedTools !== undefined)
          expect(['Bash(git *)', 'Read']).toContain(head.allowedTools[0]);
        expect(head.keys).toContain('allowed-tools');
      }),
      { numRuns: 500 },
    );
  });

  it('of a megabyte are named, and bodies of a megabyte read', async () => {
    const big = 'x '.repeat(500_000);
    const long = await readSkill(`---\ndescription: d\nmetadata:\n  a: ${big}\n---\nBODY`, {
      parseYaml,
    });
    expect(long.problems[0]?.message).toContain('not closed');
    const read = await readSkill(`---\ndescription: |\n  d\n---\n${big}`, { parseYaml });
    expect(read).toMatchObject({ head: { description: 'd' }, problems: [], body: big });
    expect((await readRuleHead(`---\npaths: a/b\n---\n${big}`)).globs).toEqual(['a/b']);
  });
});

describe('heads of rules as people write them', () => {
  it('have their patterns, or apply always with a note', async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ heads, text }) => {
        const { body, globs, notes } = await readRuleHead(text);
        expect(body).toBe('BODY');
        const paths = heads.find(({ field }) => field === 'paths');
        const isOdd = heads.some(({ odd }) => odd);
        expect(notes.length > 0).toBe(isOdd);
        if (globs === undefined) expect(paths === undefined || isOdd).toBe(true);
        else expect(globs).toEqual(paths?.means);
      }),
      { numRuns: 1500 },
    );
  });
});
