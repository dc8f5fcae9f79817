import { describe, expect, it } from 'vitest';
import { parseLocatedJson } from '../../settings/files/json.js';
import { enforcedRules } from './enforced.js';

const file = { path: '/p/CLAUDE.md', source: 'project', root: '/p' } as const;
const read = (text: string) => enforcedRules({ ...file, text }, parseLocatedJson);
const block = (json: string, fence = '```portcullis'): string =>
  `# Rules\n\n${fence}\n${json}\n${fence.replace(/[^`~].*/, '')}\n\nText\n`;

describe('a block of enforced rules', () => {
  it('gives each rule with its place', () => {
    const { deny, ask, problems } = read(
      block(
        '{\n  "deny": [\n    "Bash(rm *)",\n    "Edit(/gen/**)"\n  ],\n  "ask": ["WebFetch"]\n}',
      ),
    );
    expect(deny).toEqual([
      {
        value: { text: 'Bash(rm *)', root: '/p' },
        source: 'project',
        file: '/p/CLAUDE.md',
        line: 6,
        trusted: false,
      },
      expect.objectContaining({ value: { text: 'Edit(/gen/**)', root: '/p' }, line: 7 }),
    ]);
    expect(ask).toEqual([
      expect.objectContaining({ value: { text: 'WebFetch', root: '/p' }, line: 9 }),
    ]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['as in settings', block('{"permissions": {"deny": ["Bash"]}, "$schema": "x"}')],
    ['with tildes', block('{"deny": ["Bash"]}', '~~~portcullis')],
    ['with more words', block('{"deny": ["Bash"]}', '```portcullis json')],
    ['in capitals', block('{"deny": ["Bash"]}', '````Portcullis')],
    ['in a list', '- x\n\n  ```portcullis\n  {"deny": ["Bash"]}\n  ```\n'],
    ['in a quote', '> ```portcullis\n> {"deny": ["Bash"]}\n> ```\n'],
    ['indented too far', 'x\n\n    ```portcullis\n    {"deny": ["Bash"]}\n    ```\n'],
    ['indented too far in a list', '-      ```portcullis\n       {"deny": ["Bash"]}\n       ```\n'],
    ['so in a numbered one', '1.      ```portcullis\n        {"deny": ["Bash"]}\n        ```\n'],
    ['so in a quote', '>      ```portcullis\n>      {"deny": ["Bash"]}\n>      ```\n'],
    ['with such a character within the marks', '`\u200b``portcullis\n{"deny": ["Bash"]}\n```\n'],
    ['with several there', '~\u2060~\u00ad~portcullis\n{"deny": ["Bash"]}\n~\u200b~~\n'],
    ['with one within its text', '```portcullis\n{"deny"\u200b: ["Ba\u200bsh"]}\n```\n'],
    [
      'behind a block in a list that the list ends',
      '- ~~~sh\n  ls\n\n```portcullis\n{"deny": ["Bash"]}\n```\n',
    ],
    ['never closed', '```portcullis\n{"deny": ["Bash"]}\n'],
    ['behind a wide blank', block('{"deny": ["Bash"]}', '```\u00a0portcullis')],
    ['behind a character that nobody sees', block('{"deny": ["Bash"]}', '```\u200bportcullis')],
    ['with such a character before the fence', '\u200b```portcullis\n{"deny": ["Bash"]}\n```\n'],
    ['behind a comment of its line', '<!-- x --> ```portcullis\n{"deny": ["Bash"]}\n```\n'],
    ['behind a comment that never ends', '<!-- x\n\n```portcullis\n{"deny": ["Bash"]}\n```'],
  ])('counts %s', (_how, text) => {
    const { deny, problems } = read(text);
    expect(deny.map(({ value }) => value.text)).toEqual(['Bash']);
    expect(problems).toEqual([]);
  });

  it.each([
    ['in a comment', '<!--\n```portcullis\n{"deny": ["Bash"]}\n```\n-->'],
    ['as an example', '````md\n```portcullis\n{"deny": ["Bash"]}\n```\n````'],
    ['as an example in tildes', '~~~\n```portcullis\n{"deny": ["Bash"]}\n```\n~~~'],
    ['as text', 'Write a block with `portcullis` behind the fence.'],
    ['as text with marks', '```portcullis``` is the word for it.'],
    ['as code of other marks', 'Write `` ```portcullis `` at the beginning of a line.'],
    ['as code of one mark', 'A block (` ```portcullis `) or `~~~portcullis` restricts.'],
    ['as code with rules', 'So: ```portcullis {"deny": ["Bash"]}``` on three lines.'],
    ['as code in a list', '- `portcullis`, then ```portcullis``` again, `x`'],
    ['as code in a quote', '>   ` ```portcullis`: the fence'],
    [
      'as an example within a line of it',
      '````md\nRules: ```portcullis\n{"deny": ["Bash"]}\n```\n````',
    ],
    ['with marks that mean nothing', '\\`\\`\\`portcullis begins a block.'],
    ['beside another unclosed block', 'The portcullis.\n\n~~~bash\nrun portcullis\n'],
    ['in another language', '```php\n{"deny": ["Bash"]}\n```'],
  ])('does not count %s', (_how, text) => {
    expect(read(text)).toEqual({ deny: [], ask: [], problems: [] });
  });

  it('cannot allow', () => {
    const { deny, problems } = read(block('{"deny": ["Bash"],\n "allow": ["Edit"]}'));
    expect(deny).toHaveLength(1);
    expect(problems).toEqual([
      expect.objectContaining({ severity: 'warning', line: 5, file: '/p/CLAUDE.md' }),
    ]);
  });

  it.each([
    ['broken JSON', block('{"deny": [\n"Bash",]}'), 5],
    ['a comment', block('{"deny": ["Bash"]} // x'), 4],
    ['nothing', block(''), 4],
    ['a list', block('["Bash"]'), 4],
    ['a wrong key', block('{\n"denny": ["Bash"]}'), 5],
    ['another setting', block('{"hooks": {}}'), 4],
    ['another permission', block('{"permissions": {"defaultMode": "plan"}}'), 4],
    ['a wrong list', block('{"deny": "Bash"}'), 4],
    ['wrong permissions', block('{"permissions": ["Bash"]}'), 4],
    ['a wrong rule', block('{"deny": ["Bash",\n 5]}'), 5],
    ['an empty rule', block('{"deny": [" "]}'), 4],
    ['a key that stands twice', block('{"deny": ["Bash"],\n"deny": []}'), 5],
    ['a prototype', block('{"__proto__": {"deny": []}}'), 4],
    ['a misspelt word', block('{"deny": ["Bash"]}', '```portculis'), 3],
    ['a word without its first letter', block('{"deny": ["Bash"]}', '```ortcullis'), 3],
    ['swapped letters', block('{"deny": ["Bash"]}', '```oprtcullis'), 3],
    [
      'letters that look alike',
      block('{"deny": ["Bash"]}', '```\u0440\u043ert\u0441ull\u0456\u0455'),
      3,
    ],
    ['wide letters', block('{"deny": ["Bash"]}', '```\uff50\uff4f\uff52\uff54\uff43\uff55llis'), 3],
    ['a second word', block('{"deny": ["Bash"]}', '```json portcullis'), 3],
    ['a word in braces', block('{"deny": ["Bash"]}', '```{.portcullis}'), 3],
    ['an open block before it', '```sh\nls\n\n```portcullis\n{"deny": ["Bash"]}\n```\n', 4],
    ['an open one in a list', '- ~~~\n  ls\n  ~~~~ portculis\n  {"deny": ["Bash"]}\n  ~~~\n', 3],
    ['an open one of another kind', '~~~sh\nls\n\n```portcullis\n{"deny": ["Bash"]}\n```\n', 4],
    ['a longer open one', '````sh\nls\n\n```portcullis\n{"deny": ["Bash"]}\n```\n', 4],
    ['an open one that a list ends', '- ~~~\n  ls\n  ```portcullis\n  {}\n  ```\n\nText', 3],
    ['what ends another wrongly', '    ```portcullis\n    {}\n```\n\n```portcullis\n{}\n```\n', 5],
    ['words before the fence', 'x\n\nRules: ```portcullis\n{"deny": ["Bash"]}\n', 3],
    ['a letter before it', 'x```portcullis\n{"deny": ["Bash"]}\n', 1],
    ['code before it', 'Use `x` and `y`: ~~~portcullis\n{"deny": ["Bash"]}\n', 1],
    ['a heading before it', '# R ```json portcullis\n{"deny": ["Bash"]}\n', 1],
    ['a line that only some see', 'x\u2028```portcullis\n{"deny": ["Bash"]}\n', 1],
    ['code behind it', '```portcullis `x`\n{"deny": ["Bash"]}\n', 1],
    ['all of it on one line', 'x\n\n```portcullis {"deny": ["Bash"]} ```\n', 3],
    ['a longer word', block('{"deny": ["Bash"]}', '```portcullisRules'), 3],
    ['a long one with it', block('{"deny": ["Bash"]}', '```theRulesOfMyPortcullisForAll'), 3],
    ['a misspelt word that is indented too far', 'x\n\n    ```portculis\n    {}\n    ```\n', 3],
  ])('is refused with %s, and the line is named', (_what, text, line) => {
    const fatal = read(text).problems.filter(({ severity }) => severity === 'fatal');
    expect(fatal.map((problem) => problem.line)).toEqual([line]);
    expect(fatal[0]).toMatchObject({ source: 'project', file: '/p/CLAUDE.md' });
  });

  it('is looked for in time with the length of a line', () => {
    const line = `${'` `` '.repeat(200_000)}\`\`\`portcullis`;
    expect(read(line).problems).toHaveLength(1);
    expect(read('`'.repeat(500_000)).problems).toEqual([]);
  });

  it('does not hide the block that follows it', () => {
    const two = `${block('{"deny": ["A"]}')}${block('{"ask": ["B"]}')}`;
    expect(read(two)).toMatchObject({
      deny: [{ value: { text: 'A' }, line: 4 }],
      ask: [{ value: { text: 'B' }, line: 11 }],
    });
  });

  it('stands on the line that its text stands on', () => {
    const text = block('{"deny": ["A"]}');
    const said = enforcedRules({ ...file, text, source: 'managed', line: 7 }, parseLocatedJson);
    expect(said.deny).toEqual([expect.objectContaining({ line: 7, trusted: true })]);
  });
});
