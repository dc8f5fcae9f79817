import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadFrontmatter, readFrontmatter } from './frontmatter.js';

const head = (...lines: readonly string[]): string => `---\n${lines.join('\n')}\n---\nBody\n`;
const fieldsOf = (...lines: readonly string[]) => {
  const { fields, how } = readFrontmatter(head(...lines));
  return { ...fields, how };
};

describe('a head that is read without a library', () => {
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
  ])('%j', (lines, expected) => {
    expect(fieldsOf(...lines)).toEqual({ ...expected, how: 'yaml' });
  });

  it('says where the body begins', () => {
    expect(readFrontmatter('---\na: 1\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 4 });
    expect(readFrontmatter('---\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 3 });
    expect(readFrontmatter('---\n\n---\nBody')).toMatchObject({ body: 'Body', bodyLine: 4 });
    expect(readFrontmatter('\n---\na: 1\n...\nBody')).toMatchObject({ body: 'Body', bodyLine: 5 });
    expect(readFrontmatter('---\na: 1\n---')).toMatchObject({ body: '', bodyLine: 4 });
  });

  it('takes a byte order mark and the line ends of Windows', () => {
    const read = readFrontmatter('\uFEFF---\r\na: x\r\nb:\r\n  - y\r\n---\r\nOne\r\nTwo');
    expect(read).toEqual({
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
  ])('%j', (text) => {
    expect(readFrontmatter(text)).toEqual({ fields: {}, body: text, bodyLine: 1, how: 'none' });
  });

  it('is one whose head is never closed, or holds text between two rulers', () => {
    expect(readFrontmatter('---\npaths: src/**\nText')).toMatchObject({
      fields: {},
      body: '---\npaths: src/**\nText',
      how: 'none',
      problem: { line: 1, message: 'the head is not closed' },
    });
    const ruled = '---\nWelcome to this project.\n---\nText';
    expect(readFrontmatter(ruled)).toMatchObject({
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
    ['paths:\n  a:\n    b: c', {}],
    ['paths: a\npaths: b', {}],
    ['name: a: b\nname: a: b', { name: 'a: b' }],
  ])('is read line by line: %j', (text, expected) => {
    const { fields, how, problem } = readFrontmatter(head(text));
    expect({ fields, how }).toEqual({ fields: expected, how: 'lines' });
    expect(problem?.line).toBeGreaterThan(1);
  });

  it('gives its known fields only', () => {
    const text = head('description: a: b', 'other: x');
    expect(readFrontmatter(text, { known: ['description'] }).fields).toEqual({
      description: 'a: b',
    });
  });

  it('reaches no prototype', () => {
    const { fields } = readFrontmatter(head('__proto__: x', 'constructor: y', 'a: b: c'));
    expect(Object.keys(fields)).toEqual(['constructor', 'a']);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });
});

describe('with a YAML library', () => {
  const nested = head('a:', '  b: c');

  it('asks it only for what is not simple', async () => {
    let asked = 0;
    const parseYaml = () => {
      asked++;
      return { a: { b: 'c' } };
    };
    expect(await loadFrontmatter(head('a: x'), { parseYaml })).toMatchObject({ how: 'yaml' });
    expect(asked).toBe(0);
    expect(await loadFrontmatter(nested, { parseYaml })).toEqual({
      fields: { a: { b: 'c' } },
      body: 'Body\n',
      bodyLine: 5,
      how: 'yaml',
    });
  });

  it('falls back to lines, and names the line that the library names', async () => {
    const parseYaml = () => {
      throw Object.assign(new Error('bad mapping\nmore'), { linePos: [{ line: 2, col: 1 }] });
    };
    const text = head('a: x', 'description: Use when: y');
    expect(await loadFrontmatter(text, { parseYaml, known: ['description'] })).toMatchObject({
      fields: { description: 'Use when: y' },
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

  it('does without one', async () => {
    expect(await loadFrontmatter(nested)).toMatchObject({ fields: {}, how: 'lines' });
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
          const read = readFrontmatter(text);
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
  ])('is read in good time: %s', (_what, text) => {
    // Would not end for a long time if it took more than a few looks at each character.
    expect(readFrontmatter(text).bodyLine).toBeGreaterThan(0);
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
