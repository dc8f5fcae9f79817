import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanHtml, textOf } from './html-clean.js';
import { htmlToMarkdown, MAX_HTML_CHARS, MAX_MARKDOWN_CHARS } from './html-to-markdown.js';

async function markdownOf(html: string): Promise<string> {
  return (await htmlToMarkdown(html, { baseUrl: 'https://site.example/docs/page' })).markdown;
}

describe('htmlToMarkdown', () => {
  it('keeps the structure of a page and drops what is not content', async () => {
    const page = await htmlToMarkdown(
      `<!doctype html><html><head><title>The &amp; page</title><style>p{color:red}</style>
       <script>if (a < b) document.write("<p>no</p>")</script></head>
       <body><nav><ul><li><a href="/">Home</a></li></ul></nav>
       <!-- a comment with <b>tags</b> -->
       <h1>Title</h1><p>Some <b>bold</b>, <em>soft</em> and <code>inline()</code> text.</p>
       <ul><li>one<li>two <ul><li>deep</ul></ul>
       <ol><li>first</li><li>second</li></ol>
       <blockquote><p>quoted</p></blockquote><hr><svg><text>no</text></svg>
       <button>Click</button><p>end</p></body></html>`,
      { baseUrl: 'https://site.example/' },
    );
    expect(page.title).toBe('The & page');
    expect(page.notes).toEqual([]);
    expect(page.markdown.replace(/ {2,}/g, ' ')).toBe(
      [
        '# Title',
        '',
        'Some **bold**, *soft* and `inline()` text.',
        '',
        '- one',
        '- two',
        ' - deep',
        '',
        '1. first',
        '2. second',
        '',
        '> quoted',
        '',
        '---',
        '',
        'end',
      ].join('\n'),
    );
  });

  it('makes links absolute and drops those that lead nowhere', async () => {
    const markdown = await markdownOf(
      `<a href="other?a=1&amp;b=2">rel</a> <a href="/root">root</a> <a href="//cdn.example/x">cdn</a>
       <a href="#part">part</a> <a href="javascript:alert(1)">js</a> <a name="x">anchor</a>
       <a href='https://else.example/'>abs</a> <img src="pic.png" alt="a picture"> <img src="x.png">
       <img alt="data" src="data:image/png;base64,AAAA">`,
    );
    expect(markdown).toBe(
      '[rel](https://site.example/docs/other?a=1&b=2) [root](https://site.example/root) ' +
        '[cdn](https://cdn.example/x) part js anchor [abs](https://else.example/) ' +
        '![a picture](https://site.example/docs/pic.png)',
    );
    expect(await markdownOf('<base href="https://b.example/x/"><a href="y">y</a>')).toBe(
      '[y](https://b.example/x/y)',
    );
  });

  it('keeps code as it is', async () => {
    const markdown = await markdownOf(
      `<p>Run:</p><pre><code class="language-ts">const a = <span class="k">b</span> &lt; c;

  if (a) {   }  // [x](y) _z_
</code></pre><pre class="lang-sh">one<br>two</pre><pre><div>line 1</div><div>line 2</div></pre>`,
    );
    expect(markdown).toBe(
      [
        'Run:',
        '',
        '```ts',
        'const a = b < c;',
        '',
        '  if (a) {   }  // [x](y) _z_',
        '```',
        '',
        '```sh',
        'one',
        'two',
        '```',
        '',
        '```',
        'line 1',
        'line 2',
        '```',
      ].join('\n'),
    );
  });

  it('turns data tables into rows, and tables that lay out a page into its content', async () => {
    expect(
      await markdownOf(
        `<table>
          <thead><tr><th>Name</th><th>Use</th></tr></thead>
          <tr><td>a<br>b<td><p>x | y</p></tr>
          <tr><td>c</td><td><a href="/d">d</a></td></tr>
        </table>`,
      ),
    ).toBe(
      [
        '| Name | Use |',
        '| --- | --- |',
        '| a b | x \\| y |',
        '| c | [d](https://site.example/d) |',
      ].join('\n'),
    );
    const layout = await markdownOf(
      `<table><tr><td><h2>Head</h2></td></tr><tr><td><table><tr><td>1</td><td>2</td></tr></table>
       <tr><td><p>text</p></table>`,
    );
    expect(layout).toBe('## Head\n\n| 1 | 2 |\n| --- | --- |\n\ntext');
    const gutter = await markdownOf(
      '<table><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>',
    );
    expect(gutter).toContain('```\na\nb\n```');
  });

  it('does not escape punctuation', async () => {
    expect(await markdownOf('<p>snake_case [x] 1. *y* # z</p>')).toBe('snake_case [x] 1. *y* # z');
  });

  it('shows the navigation when there is nothing else', async () => {
    expect(await markdownOf('<nav><a href="/a">A</a></nav>')).toBe('[A](https://site.example/a)');
  });

  it.each([
    ['', ''],
    ['   ', ''],
    ['plain words', 'plain words'],
    ['a < b and c > d', 'a < b and c > d'],
    ['<<<b>x</b><<', '<<**x**<<'],
    ['<p>unclosed', 'unclosed'],
    ['</p></div>stray', 'stray'],
    ['<b><i>crossed</b></i> text', '***crossed*** text'],
    ['text<!-- never closed', 'text'],
    ['text<script>never closed', 'text'],
    ['text<a href="never closed', 'text'],
    ['<p title="a > b">x</p>', 'x'],
    ['&lt;script&gt; &amp;amp; &#65;&eacute;', '<script> &amp; Aé'],
    ['<?php echo 1 ?><![CDATA[x]]>y', 'y'],
    ['<td>cell</td> outside', 'cell\n\noutside'],
  ])('reads %j', async (html, markdown) => {
    expect(await markdownOf(html)).toBe(markdown);
  });

  it('cuts input and output and says so', async () => {
    const page = await htmlToMarkdown(`<p>${'word '.repeat(600_000)}</p>`);
    expect(page.markdown.length).toBeLessThanOrEqual(MAX_MARKDOWN_CHARS);
    expect(page.notes).toHaveLength(2);
    expect(page.notes[0]).toContain(String(MAX_HTML_CHARS));
  });

  it('keeps the text of a page with too many elements, and says so', async () => {
    const page = await htmlToMarkdown(`${'<b>x</b> '.repeat(20_000)}<b>last</b>`);
    expect(page.markdown.endsWith('x** last')).toBe(true);
    expect(page.notes).toHaveLength(1);
  });

  const size = 400_000;
  it.each([
    ['deep nesting', '<div>'],
    ['deep formatting', '<b>'],
    ['formatting with differing attributes', '<b x=1><i y="2">'],
    ['open links', '<a href="/x">'],
    ['open tables', '<table><tr><td>'],
    ['text in tables', '<table>x'],
    ['open comments', '<!-- '],
    ['open tags', '<a '],
    ['open quotes', '<a href="'],
    ['angle brackets', '<'],
    ['closing tags', '</b></p></div>'],
    ['line breaks', 'x<br>'],
    ['paragraphs', '<p>a'],
    ['list items', '<ul><li>x'],
    ['blanks', ' \u00a0\t'],
    ['entities', '&amp;'],
    ['open scripts', '<script>'],
    ['definition lists', '<dl><dt>a<dd>b'],
    ['brackets', '[](*_`'],
  ])('is done in bounded time with 400 KB of %s', async (_name, unit) => {
    const html = unit.repeat(Math.ceil(size / unit.length));
    const page = await htmlToMarkdown(html);
    expect(page.markdown.length).toBeLessThanOrEqual(MAX_MARKDOWN_CHARS);
  });

  it('is done in bounded time with formatting that every paragraph would reopen', async () => {
    const open = Array.from({ length: 60_000 }, (_, n) => `<b x=${n}>`).join('');
    await htmlToMarkdown(open + '<p>x'.repeat(200_000));
    await htmlToMarkdown(`<pre>${' '.repeat(1_900_000)}</pre>`);
    await htmlToMarkdown(`${'<b>'.repeat(40)}${'a '.repeat(900_000)}`);
    await htmlToMarkdown(`<a ${'x '.repeat(900_000)}>y</a>`);
    await htmlToMarkdown(`<a x${' '.repeat(1_900_000)}>y</a>`);
  });

  it('never throws, and the cleaned page is balanced', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<p>',
        '</p>',
        '<b>',
        '</b>',
        '<table>',
        '<tr>',
        '<td>',
        '</table>',
        '<ul>',
        '<li>',
        '</ul>',
        '<a href="/x">',
        '</a>',
        '<pre>',
        '</pre>',
        '<nav>',
        '</nav>',
        '<div>',
        '</div>',
        '<script>',
        '</script>',
        '<!--',
        '-->',
        '<',
        '>',
        '"',
        '&lt;',
        'x',
        ' ',
        '<br>',
      ),
      fc.string({ maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const html = pieces.join('');
        await htmlToMarkdown(html);
        const open: string[] = [];
        for (const [, slash, name] of cleanHtml(html).html.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
          if (name === 'br' || name === 'hr' || name === 'img') continue;
          if (slash === '') open.push(name ?? '');
          else expect(open.pop()).toBe(name);
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('textOf', () => {
  it('gives a line to each block and decodes entities', () => {
    const { html } = cleanHtml('<h1>A &amp; B</h1><p>one<br>two</p><table><tr><td>1<td>2</table>');
    const lines = textOf(html).split('\n');
    expect(lines.map((line) => line.trim()).filter((line) => line !== '')).toEqual([
      'A & B',
      'one',
      'two',
      '1 | 2 |',
    ]);
  });
});
