import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadFrontmatter } from './frontmatter.js';
import { splitFile } from './head-text.js';

const head = (...lines: readonly string[]): string => `---\n${lines.join('\n')}\n---\nBody\n`;
const fieldsOf = async (...lines: readonly string[]) => {
  const { fields, how } = await loadFrontmatter(head(...lines));
  return { ...fields, how };
};

describe('a head that is YAML', () => {
  it.each([
    [['name: x', 'count: 3', 'on: true'], { name: 'x', count: 3, on: true }],
    [['a: ~', 'b:', 'c: null', 'd: yes'], { a: null, b: null, c: null, d: 'yes' }],
    [['a: 1.50', 'b: -2', 'c: 1e3', 'd: 1.2.3'], { a: 1.5, b: -2, c: 1000, d: '1.2.3' }],
    [["a: [x, \"y, z\", 'it''s', 4]"], { a: ['x', 'y, z', "it's", 4] }],
    [['a: []', 'b: [x,]'], { a: [], b: ['x'] }],
    [['a:', '  - src/**', '  - "*.ts" # note', 'b: 1'], { a: ['src/**', '*.ts'], b: 1 }],
    [['a:', '- x', '', '# note', '- y'], { a: ['x', 'y'] }],
    [['a: src/a.txt, src/b.txt'], { a: 'src/a.txt, src/b.txt' }],
    [['a: src/*.{ts,tsx} # note'], { a: 'src/*.{ts,tsx}' }],
    [['a: "q\\n\\u00e9"', "b: 'it''s'"], { a: 'q\né', b: "it's" }],
    [['a: |', '  one', '    two', '', '  three', 'b: 1'], { a: 'one\n  two\n\nthree\n', b: 1 }],
    [['a: >-', '  one', '  two', '', '  three'], { a: 'one two\nthree' }],
    [['a: one', '  two', '  three'], { a: 'one two three' }],
    [['# note', '', 'a: x # note', 'b: http://x/#y'], { a: 'x', b: 'http://x/#y' }],
    [['a: C# and F#'], { a: 'C# and F#' }],
    [[''], {}],
  ])('%j', async (lines, expected) => {
    expect(await fieldsOf(...lines)).toEqual({ ...expected, how: 'yaml' });
  });

  it('says where the body begins', () => {
    expect(splitFile('---\na: 1\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 4 });
    expect(splitFile('---\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 3 });
    expect(splitFile('---\n\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 4 });
    expect(splitFile('\n---\na: 1\n...\nBody')).toMatchObject({ body: 'Body', bodyLine: 5 });
    expect(splitFile('---\na: 1\n---')).toMatchObject({ body: '', bodyLine: 4 });
  });

  it('takes a byte order mark and the line ends of Windows', async () => {
    const read = await loadFrontmatter('\uFEFF---\r\na: x\r\nb:\r\n  - y\r\n---\r\nOne\r\nTwo');
    expect(read).toMatchObject({
      fields: { a: 'x', b: ['y'] },
      body: 'One\nTwo',
      bodyLine: 6,
      how: 'yaml',
    });
  });
});

describe('a file without a head', () => {
  it.each([
    'Body',
    '',
    '--- x\na: 1\n---\n',
    '----\na: 1\n----\n',
    ' ---\na: 1\n---\n',
    '---js\nprocess.exit()\n---\n',
    'Text\n---\na: 1\n---\n',
  ])('%j', async (text) => {
    const read = await loadFrontmatter(text);
    expect(read).toMatchObject({ fields: {}, body: text, bodyLine: 1, how: 'none' });
    expect(read.problem).toBeUndefined();
  });

  it('is one whose head is never closed, or holds text between two rulers', async () => {
    expect(await loadFrontmatter('---\npaths: src/**\nText')).toMatchObject({
      fields: {},
      body: '---\npaths: src/**\nText',
      how: 'none',
      problem: { line: 1, message: 'the head is not closed' },
    });
    const ruled = '---\nWelcome to this project.\n---\nText';
    expect(await loadFrontmatter(ruled)).toMatchObject({
      body: ruled,
      how: 'none',
      problem: { line: 2 },
    });
  });
});

describe('a head that is no YAML', () => {
  it.each([
    ['description: Use when: it rains', { description: 'Use when: it rains' }],
    ['paths: **/*.ts', { paths: '**/*.ts' }],
    ['paths: [**/*.ts, "a,b"]', { paths: ['**/*.ts', 'a,b'] }],
    ['paths:\n  - **/*.ts\n  - src/**', { paths: ['**/*.ts', 'src/**'] }],
    ['paths: {src,lib}/**', { paths: '{src,lib}/**' }],
    ['argument-hint: [a] [b]', { 'argument-hint': '[a] [b]' }],
    ['name: @x', { name: '@x' }],
    ['description: "Quick" and simple: yes', { description: '"Quick" and simple: yes' }],
    ['paths: "src/**', {}],
    ['paths: [unclosed', {}],
    ['\tpaths: src/**', {}],
    ['paths:\n\t- src/**\n\t- lib/**', { paths: ['src/**', 'lib/**'] }],
    ['a: b: c\nhooks:\n  Stop:\n    - hooks: []', { a: 'b: c', hooks: { Stop: [{ hooks: [] }] } }],
    ['a: b: c\ntools: &t [Bash]\nallowed-tools: *t', { a: 'b: c', tools: ['Bash'] }],
    ['paths: a\npaths: b', {}],
    ['name: a: b\nname: a: b', { name: 'a: b' }],
  ])('is read field by field: %j', async (text, expected) => {
    const { fields, how, problem } = await loadFrontmatter(head(text));
    expect({ fields, how }).toEqual({ fields: expected, how: 'lines' });
    expect(problem?.line).toBeGreaterThan(1);
  });

  it('names what could not be read, and not what was', async () => {
    const text = head(
      'a: b: c',
      '  tools: Read',
      'hooks:',
      '  Stop:',
      '    - hooks: []',
      'no field',
    );
    const { unclear, doubtful } = await loadFrontmatter(text);
    expect([...unclear]).toEqual([['tools', 3]]);
    expect(doubtful.map(({ line, below }) => [line, below])).toEqual([
      [7, 'hooks'],
      [3, 'a'],
    ]);
  });

  it('reaches no prototype', async () => {
    const { fields } = await loadFrontmatter(head('__proto__: x', 'constructor: y', 'a: b: c'));
    expect(Object.keys(fields)).toEqual(['constructor', 'a']);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });
});

describe('with a YAML library', () => {
  const nested = head('a:', '  b: c');

  it('takes what it says', async () => {
    const parseYaml = () => ({ a: { b: 'c' } });
    expect(await loadFrontmatter(nested, { parseYaml })).toMatchObject({
      fields: { a: { b: 'c' } },
      bodyLine: 5,
      how: 'yaml',
    });
  });

  it('falls back to lines, and names the line that the library names', async () => {
    const parseYaml = () => {
      throw Object.assign(new Error('bad mapping\nmore'), { linePos: [{ line: 2, col: 1 }] });
    };
    const text = head('a: x', 'description: Use when: y');
    expect(await loadFrontmatter(text, { parseYaml })).toMatchObject({
      fields: { a: 'x', description: 'Use when: y' },
      problem: { line: 3, message: 'bad mapping' },
      how: 'lines',
    });
  });

  it.each([
    ['a text', 'just text'],
    ['a list', [1]],
    ['something that refers to itself', selfish()],
    ['something very deep', deep(100)],
    ['a date', { a: new Date(0) }],
    ['a map', new Map([['a', 1]])],
    ['a prototype', JSON.parse('{"__proto__": {"x": 1}}')],
    ['a function', { a: () => 1 }],
  ])('takes no %s from it', async (_what, value) => {
    const read = await loadFrontmatter(nested, { parseYaml: () => value });
    expect(read).toMatchObject({ fields: {}, how: 'lines' });
    expect(read.problem?.message).not.toBe('');
  });
});

describe('whatever the text', () => {
  const piece = fc.oneof(
    fc.constantFrom('---', '\n', '\r\n', ': ', '- ', '  ', '\t', '#', '"', "'", '[', ']', '|', '>'),
    fc.constantFrom('paths', 'name', '__proto__', '*', '&a', '{', '}', ',', '\\', '\uFEFF', '...'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
  );
  const texts = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));

  it('never throws, and loses nothing behind the head', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          texts.map((text) => `---\n${text}`),
        ),
        (text) => {
          const read = splitFile(text);
          expect(read.bodyLine).toBeGreaterThanOrEqual(1);
          const lines = text
            .replace(/^\uFEFF/, '')
            .replace(/\r\n?/g, '\n')
            .split('\n');
          expect(read.body).toBe(lines.slice(read.bodyLine - 1).join('\n'));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['blanks', `---\na: x${' '.repeat(200_000)}y\n${' '.repeat(200_000)}\n---\n`],
    ['a megabyte of text', `---\na: 1\n---\n${'text\n'.repeat(200_000)}`],
    ['a head of a megabyte', `---\n${'a: 1\n'.repeat(200_000)}---\n`],
    ['quotes', `---\na: ${`'`.repeat(100_000)}x\n---\n`],
    ['brackets', `---\na: ${'['.repeat(100_000)}\n---\n`],
    ['empty lines', `${'\n'.repeat(1_000_000)}---\n`],
  ])('is read in good time: %s', async (_what, text) => {
    // Would not end for a long time if it took more than a few looks at each character.
    expect((await loadFrontmatter(text)).bodyLine).toBeGreaterThan(0);
  });
});

function selfish(): unknown {
  const list: unknown[] = [];
  list.push(list, list);
  return { list };
}

function deep(levels: number): unknown {
  return levels === 0 ? 'x' : { a: deep(levels - 1) };
}
