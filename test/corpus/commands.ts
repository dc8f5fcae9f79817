import { type CorpusTable, withHead } from './rows.js';

const COMMITS = { loads: true, description: 'Commits' };

/** Files of `.claude/commands`. */
export const commands: CorpusTable = {
  kind: 'command',
  rows: [
    {
      title: 'no head: the first line describes it',
      text: 'Fix the issue $ARGUMENTS.\n',
      reads: { loads: true, asks: [], description: 'Fix the issue $ARGUMENTS.' },
    },
    {
      title: 'a title as the first line',
      text: '# Fix an issue\n\nDo it.\n',
      reads: { loads: true, asks: [] },
    },
    {
      title: 'a grant',
      text: withHead('allowed-tools: Bash(git add:*), Bash(git status:*)', 'description: Commits'),
      reads: {
        ...COMMITS,
        allowedTools: ['Bash(git add:*)', 'Bash(git status:*)'],
        asks: ['sets allowed-tools'],
      },
    },
    {
      title: 'a hint of two words in brackets',
      text: withHead('argument-hint: [file] [mode]', 'description: Commits'),
      reads: { ...COMMITS, argumentHint: '[file] [mode]', asks: [] },
    },
    {
      title: 'a hint in brackets beside a grant',
      text: withHead(
        'description: Commits',
        'argument-hint: [file] [mode]',
        'allowed-tools: Bash(git *)',
      ),
      reads: { ...COMMITS, argumentHint: '[file] [mode]', allowedTools: ['Bash(git *)'] },
    },
    {
      title: 'a hint in brackets beside hooks',
      text: withHead(
        'argument-hint: [prompt] [direction]',
        'description: Commits',
        'hooks:',
        '  Stop:',
        '    - hooks:',
        '        - type: command',
        '          command: uv run check.py',
      ),
      reads: { ...COMMITS, hooks: { Stop: [{ hooks: [{ type: 'command' }] }] } },
    },
    {
      title: 'a hint in brackets beside a ban',
      text: withHead('argument-hint: [a] [b]', 'description: Commits', 'disallowed-tools: Write'),
      reads: { ...COMMITS, disallowedTools: ['Write'] },
    },
    {
      title: 'a hint in brackets beside a model',
      text: withHead('argument-hint: <file> [--fast]', 'description: Commits', 'model: opus'),
      reads: { ...COMMITS, argumentHint: '<file> [--fast]', model: 'opus' },
    },
    {
      title: 'a hint that is a list to YAML',
      text: withHead('argument-hint: [file]', 'description: Commits'),
      reads: { ...COMMITS, argumentHint: '[file]' },
    },
    {
      title: 'a hint with bars',
      text: withHead('argument-hint: add [tagId] | remove [tagId] | list', 'description: Commits'),
      reads: { ...COMMITS, argumentHint: 'add [tagId] | remove [tagId] | list' },
    },
    {
      title: 'a hint in quotes',
      text: withHead('argument-hint: "[file] [mode]"', 'description: Commits'),
      reads: { ...COMMITS, argumentHint: '[file] [mode]' },
    },
    {
      title: 'a hint with a flag and a colon',
      text: withHead('argument-hint: [--depth: n] [path]', 'description: Commits'),
      reads: { ...COMMITS, argumentHint: '[--depth: n] [path]' },
    },
    {
      title: 'a hint that opens a bracket only',
      text: withHead('argument-hint: [file', 'description: Commits', 'allowed-tools: Read'),
      reads: { ...COMMITS, allowedTools: ['Read'] },
    },
    {
      title: 'fields of other programs',
      text: withHead(
        'description: Commits',
        'mode: agent',
        'category: workflow',
        'complexity: basic',
        'mcp-servers: [sequential]',
        'personas: []',
      ),
      reads: { ...COMMITS, asks: [] },
    },
    {
      title: 'a name with a colon',
      text: withHead('name: sc:commit', 'description: Commits'),
      reads: { ...COMMITS, asks: [] },
    },
    {
      title: 'a name with a colon and a blank',
      text: withHead('name: sc: commit', 'description: Commits'),
      reads: { ...COMMITS, asks: [] },
    },
    {
      title: 'a colon in the description',
      text: withHead('description: Commits: all of it', 'allowed-tools: Bash(git commit:*)'),
      reads: { description: 'Commits: all of it', allowedTools: ['Bash(git commit:*)'] },
    },
    {
      title: 'a grant as a list with a command that has a colon and a blank',
      text: withHead('description: Commits', 'allowed-tools: Bash(git log: *), Read'),
      reads: { ...COMMITS, allowedTools: ['Bash(git log: *)', 'Read'] },
    },
    {
      title: 'Windows line ends with a grant',
      text: withHead('description: Commits', 'allowed-tools: Read').replaceAll('\n', '\r\n'),
      reads: { ...COMMITS, allowedTools: ['Read'] },
    },
    {
      title: 'commands in the text and the grant for them',
      text: `${withHead('description: Commits', 'argument-hint: [a] [b]', 'allowed-tools: Bash(git status:*)')}!\`git status\`\n`,
      reads: {
        ...COMMITS,
        allowedTools: ['Bash(git status:*)'],
        asks: ['sets allowed-tools', 'runs a command'],
      },
    },
    {
      title: 'paths mean nothing for a command',
      text: withHead('description: Commits', 'paths: "*.ts"'),
      reads: { ...COMMITS, paths: undefined },
    },
    {
      title: 'a ruler between paragraphs is no head',
      text: 'Commit it.\n\n---\n\nThen push.\n',
      reads: { loads: true, description: 'Commit it.' },
    },
    {
      title: 'text between two rulers is no head',
      text: '---\nCommit it.\n---\nThen push.\n',
      reads: { loads: true },
    },
    {
      title: 'two models',
      text: withHead('description: Commits', 'model: opus', 'model: haiku'),
      reads: { ...COMMITS, model: undefined },
    },
  ],
};
