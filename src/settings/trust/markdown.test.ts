import { describe, expect, it } from 'vitest';
import { agentItems, skillItems } from './markdown.js';

const brief = (drafts: ReturnType<typeof skillItems>): string[] =>
  drafts.map(({ kind, name, text, line }) => `${kind} | ${name} | ${text} | ${line}`);

describe('what a skill or command runs or allows', () => {
  it('is nothing for plain text and other fields', () => {
    const text = '---\nname: a\ndescription: "b: c"\nmetadata:\n  x: 1\n---\nUse `ls`! And `x`.\n';
    expect(brief(skillItems(text, 'a'))).toEqual([]);
    expect(brief(skillItems('no head\n---\nallowed-tools: Bash\n', 'a'))).toEqual([]);
  });

  it('is found behind the plainest of heads', () => {
    const head = (field: string): string => `---\nname: a\n${field}---\n`;
    const marks = ['!`id`', 'x!`id`', '```!\nid\n```', '~~~ !\nid\n~~~'];
    for (const mark of marks) {
      expect(skillItems(`${head('description: D.\n')}Text\n${mark}\n`, 'a'), mark).not.toEqual([]);
    }
    for (const name of ['allowed-tools', 'allowedTools', 'model', 'effort', 'hooks']) {
      expect(skillItems(`${head(`${name}: Bash\n`)}Text\n`, 'a'), name).not.toEqual([]);
    }
    for (const name of [
      'tools',
      'Permission_Mode',
      'memory',
      'hooks',
      'mcpServers',
      'portcullis',
    ]) {
      expect(agentItems(`${head(`${name}: Bash\n`)}Text\n`, 'a'), name).not.toEqual([]);
    }
    expect(skillItems(`${head('when_to_use: Always.\n')}Wow! No mark.\n`, 'a')).toEqual([]);
    expect(agentItems(`${head('model: opus\n')}Say !\`id\`.\n`, 'a')).toEqual([]);
  });

  it('is its granting fields, under any spelling', () => {
    const text = [
      '---',
      'description: d',
      'allowed-tools: Bash(touch *)',
      'Allowed_Tools:',
      '  - Read',
      '  - Edit',
      '"hooks":',
      '  Stop:',
      '  - hooks: []',
      '---',
    ].join('\r\n');
    expect(brief(skillItems(text, 's'))).toEqual([
      'skill grant | s, allowed-tools | Bash(touch *) | 3',
      'skill grant | s, Allowed_Tools |   - Read\n  - Edit | 4',
      'hook | s, hooks |   Stop:\n  - hooks: [] | 7',
    ]);
  });

  it('is shell in its text, wherever it stands', () => {
    const text =
      '---\na: b\n---\nOUT: !`touch A` END\n\n```!\ntouch B\n```\n- x!``touch `C` ``\n!`open end\n';
    expect(brief(skillItems(text, 's'))).toEqual([
      'skill shell | s | touch A | 4',
      'skill shell | s | touch B | 6',
      'skill shell | s | touch `C` | 9',
      'skill shell | s | open end | 10',
    ]);
  });

  it('is shell that stands behind another mark, or in the middle of what looks like a head', () => {
    expect(brief(skillItems('x!`a !`rm b` ', 's'))).toEqual([
      'skill shell | s | a ! | 1',
      'skill shell | s | rm b | 1',
    ]);
    const long = `---\ndescription: |\n  !\`touch A\`\n  ${'x'.repeat(300_000)}\n---\n`;
    expect(brief(skillItems(long, 's'))).toContain('skill shell | s | touch A | 3');
    const odd = '---\u00a0\nname: x\n!`touch A`\n---\u00a0\n';
    expect(brief(skillItems(odd, 's'))).toContain('skill shell | s | touch A | 3');
  });

  it.each([
    ['flow mapping', '{allowed-tools: Bash}'],
    ['explicit key', '? allowed-tools\n: Bash'],
    ['merge key', 'x: &a\n  hooks: 1\n<<: *a'],
    ['escaped key', '"allowed\\u002dtools": Bash'],
    ['anchored value', 'x: &a Bash'],
    ['indented keys', '  allowed-tools: Bash'],
    ['tag', 'x: !!str y'],
    ['no blank after the colon', 'allowed-tools:Bash'],
  ])('is a head it cannot take apart as a whole: %s', (_name, head) => {
    expect(skillItems(`---\n${head}\n---\n`, 's')).toMatchObject([
      { kind: 'unreadable', text: head.trim() },
    ]);
  });

  it.each([
    ['an empty line', 'command: "a\n  b"', 'command: "a\n\n  b"'],
    ['a blank at the end of a line', 'command: |\n  a \\\n  b', 'command: |\n  a \\ \n  b'],
    ['what looks like a comment', 'command: "a\n  b"', 'command: "a\n#x\n  b"'],
  ])('has another value with %s, which may change what runs', (_name, one, other) => {
    const value = (command: string) =>
      skillItems(`---\nhooks:\n  ${command}\nname: x\n---\n`, 's').map((draft) => draft.value);
    expect(value(one)).toHaveLength(1);
    expect(value(one)).not.toEqual(value(other));
    const agent = (command: string) =>
      agentItems(`---\nmcpServers:\n  ${command}\n---\n`, 's').map((draft) => draft.value);
    expect(agent(one)).not.toEqual(agent(other));
  });

  it('is not what holds back: a fence needs no trust', () => {
    const fence = 'disallowed-tools: Bash\nportcullis:\n  fence-tools: [Read]';
    expect(skillItems(`---\ndescription: d\n${fence}\n---\n`, 's')).toEqual([]);
  });

  it('is the model and the effort it asks for', () => {
    const drafts = skillItems('---\nmodel: opus\neffort: max\n---\n', 's');
    expect(drafts.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'skill grant opus',
      'skill grant max',
    ]);
  });

  it('is one thing that cannot be read where there are more commands than anybody reads', () => {
    const many = (mark: string): string => `${'!`.claude/x`\n'.repeat(300_000)}${mark}`;
    const [one, ...others] = skillItems(many('a'), 's');
    expect(others).toEqual([]);
    expect(one).toMatchObject({ kind: 'unreadable', pinned: false });
    expect(skillItems(many('b'), 's')[0]?.value).not.toBe(one?.value);
  });

  it('is found in one go, whatever the text is made of', () => {
    const unclosed = Array.from({ length: 1_900 }, (_, index) => `!${'`'.repeat(1_900 - index)}x`);
    expect(skillItems(`${unclosed.join('')}${' '.repeat(2_200_000)}`, 's')).toHaveLength(1);
    const wide = `---\na${' '.repeat(500_000)}b\n---\nx`;
    expect(skillItems(wide, 's')).toMatchObject([{ kind: 'unreadable' }]);
  });

  it('takes a head without an end for both head and text', () => {
    expect(skillItems('---\nname: x\n!`touch A`\n', 's').map(({ kind }) => kind)).toEqual([
      'unreadable',
      'skill shell',
    ]);
  });
});

describe('what an agent file runs or allows', () => {
  it('is hooks, servers, tools, mode and memory', () => {
    const text =
      '---\nname: a\ndescription: d\nmodel: x\npermissionMode: acceptEdits\ntools: Bash\ndisallowedTools: Edit\nmemory: user\nhooks:\n  Stop: []\nmcpServers:\n  - s: {}\n---\n!`not shell here`\n';
    expect(brief(agentItems(text, 'a'))).toEqual([
      'agent grant | a, permissionMode | acceptEdits | 5',
      'agent grant | a, tools | Bash | 6',
      'agent grant | a, memory | user | 8',
      'hook | a, hooks |   Stop: [] | 9',
      'MCP server | a, mcpServers |   - s: {} | 11',
    ]);
  });
});
