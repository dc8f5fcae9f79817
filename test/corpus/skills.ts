import { expect } from 'vitest';
import { type CorpusRow, type CorpusTable, withHead } from './rows.js';

const NAMED = ['name: pdf-forms', 'description: Fills in PDF forms'];
/** Nothing but text: the model starts it unasked. */
const TEXT = { loads: true, asks: [], description: 'Fills in PDF forms' };

/** Fields that describe and that no reader here knows. */
const DESCRIBING: readonly (readonly string[])[] = [
  ['version: 0.1.0'],
  ['version: "1.2.3"', 'release_date: 2026-01-23'],
  ['author: Jo Doe <jo@example.org>'],
  ['authors:', '  - Jo', '  - Mia'],
  ['tags: [pdf, forms]'],
  ['tags: pdf, forms'],
  ['category: documents'],
  ['source: https://example.org/skills#pdf'],
  ['origin: community'],
  ['requires:', '  bins: [pdftk]', '  env: [PDF_KEY]'],
  ['dependencies: python>=3.8, pypdf'],
  ['homepage: https://example.org'],
  ['keywords:', '- pdf'],
  ['mcp: { server: docs }'],
  ['triggers: ["fill a form", "pdf"]'],
  ['priority: high', 'stage: beta'],
  ['icon: 📄', 'emoji: "📄"'],
  ['language: en', 'title: PDF Forms'],
  ['created: 2025-11-01', 'updated: 2026-02-03'],
  ['Use when: somebody has a form'],
  ['metadata:', '  author: me', '  version: "2"', '  tags: [a, b]'],
  ['license: MIT', 'compatibility: Needs Node 20'],
  ['risk: safe', 'date_added: "2026-02-27"'],
  ['globs: "*.pdf"', 'alwaysApply: false'],
];

/** Misspelt names of what restricts, and the right spelling. */
const NEARLY: readonly (readonly [string, string])[] = [
  ['disallowed-tool: Bash', 'write disallowed-tools'],
  ['disalowed-tools: [Bash]', 'write disallowed-tools'],
  ['dissallowed_tools: Bash', 'write disallowed-tools'],
  ['allowed_tools: Read', 'write allowed-tools'],
  ['allowedTools: [Read]', 'write allowed-tools'],
  ['allowed-tool: Read', 'write allowed-tools'],
  ['allow-tools: Read', 'write allowed-tools'],
  ['fence-tool: Read', 'write fence-tools'],
  ['fencetool: Read', 'write fence-tools'],
  ['hook: {}', 'write hooks'],
  ['portculis: {fence-tools: Read}', 'write portcullis'],
];

/** Heads that YAML takes in one of its many ways, or that it refuses and people write. */
const SHAPES: readonly CorpusRow[] = [
  {
    title: 'a description with a colon',
    text: withHead('name: x', 'description: Use when: a form is there'),
    reads: { loads: true, asks: [], description: 'Use when: a form is there' },
  },
  {
    title: 'a description with a colon beside a grant',
    text: withHead('description: Git: commits', 'allowed-tools: Bash(git:*), Read'),
    reads: { description: 'Git: commits', allowedTools: ['Bash(git:*)', 'Read'] },
  },
  {
    title: 'hooks beside a description with a colon',
    text: withHead(
      'description: Guard: all',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks:',
      '        - type: command',
      '          command: ./guard.sh',
    ),
    reads: { loads: true, hooks: { PreToolUse: [{ matcher: 'Bash' }] }, asks: ['sets hooks'] },
  },
  {
    title: 'a description that begins with a backtick',
    text: withHead('description: `pdf` forms'),
    reads: { description: '`pdf` forms' },
  },
  {
    title: 'a description that begins with an at sign',
    text: withHead('description: @scope/pdf is used'),
    reads: { description: '@scope/pdf is used' },
  },
  {
    title: 'a description with a quotation in front',
    text: withHead('description: "PDF" forms: all of them'),
    reads: { description: '"PDF" forms: all of them' },
  },
  {
    title: 'a folded description',
    text: withHead('description: >-', '  Fills in', '  PDF forms'),
    reads: TEXT,
  },
  {
    title: 'a description as a block',
    text: withHead('description: |', '  Fills in PDF forms'),
    reads: TEXT,
  },
  {
    title: 'a description that goes on in the next line',
    text: withHead('description: Fills in', '  PDF forms'),
    reads: TEXT,
  },
  { title: 'quotes', text: withHead(`description: 'Fills in PDF forms'`), reads: TEXT },
  { title: 'a comment', text: withHead('# about', ...NAMED, '# end'), reads: TEXT },
  { title: 'empty lines', text: withHead('', ...NAMED, ''), reads: TEXT },
  {
    title: 'a tab behind the colon',
    text: withHead('description:\tFills in PDF forms'),
    reads: TEXT,
  },
  { title: 'rulers with blanks', text: `---  \n${NAMED.join('\n')}\n--- \nDo it.\n`, reads: TEXT },
  {
    title: 'dots as the second ruler',
    text: `---\n${NAMED.join('\n')}\n...\nDo it.\n`,
    reads: TEXT,
  },
  { title: 'an empty line before the head', text: `\n${withHead(...NAMED)}`, reads: TEXT },
  { title: 'Windows line ends', text: withHead(...NAMED).replaceAll('\n', '\r\n'), reads: TEXT },
  { title: 'a byte order mark', text: `\uFEFF${withHead(...NAMED)}`, reads: TEXT },
  {
    title: 'capitals in names',
    text: withHead('Name: x', 'Description: Fills in PDF forms'),
    reads: TEXT,
  },
  {
    title: 'JSON as the head',
    text: withHead('{"description": "Fills in PDF forms"}'),
    reads: TEXT,
  },
  {
    title: 'a list with tabs',
    text: withHead(...NAMED, 'disallowed-tools:', '\t- Bash', '\t- Write'),
    reads: { loads: true, disallowedTools: ['Bash', 'Write'] },
  },
  {
    title: 'tools as text with commas',
    text: withHead(...NAMED, 'allowed-tools: Read, Bash(git add *), Grep'),
    reads: { allowedTools: ['Read', 'Bash(git add *)', 'Grep'], asks: ['sets allowed-tools'] },
  },
  {
    title: 'tools as text with blanks',
    text: withHead(...NAMED, 'allowed-tools: "Bash(python:*) Bash(npm:*) WebFetch"'),
    reads: { allowedTools: ['Bash(python:*)', 'Bash(npm:*)', 'WebFetch'] },
  },
  {
    title: 'tools as a list',
    text: withHead(...NAMED, 'allowed-tools:', '  - Read', '  - Bash(ls:*)'),
    reads: { allowedTools: ['Read', 'Bash(ls:*)'] },
  },
  {
    title: 'tools as a list in brackets',
    text: withHead(...NAMED, 'allowed-tools: [Read, "Bash(ls:*)"]'),
    reads: { allowedTools: ['Read', 'Bash(ls:*)'] },
  },
  {
    title: 'an empty grant',
    text: withHead(...NAMED, 'allowed-tools:'),
    reads: { loads: true, asks: [], allowedTools: undefined },
  },
  {
    title: 'a grant with a quote that is not closed grants nothing',
    text: withHead('description: a: b', 'allowed-tools: "Bash'),
    reads: { loads: true, allowedTools: undefined },
  },
  {
    title: 'a grant that points elsewhere grants nothing',
    text: withHead('x: &t [Bash]', 'allowed-tools: *t'),
    reads: { loads: true, allowedTools: undefined },
  },
  {
    title: 'a ban with a bracket that is not closed is refused',
    text: withHead(...NAMED, 'disallowed-tools: Bash(rm'),
    reads: { loads: false },
  },
  {
    title: 'two bans that differ are refused',
    text: withHead('disallowed-tools: Bash', 'disallowed-tools: Write'),
    reads: { loads: false },
  },
  {
    title: 'a ban below a description is refused',
    text: withHead('description: a: b', '  disallowed-tools: Bash'),
    reads: { loads: false },
  },
  {
    title: 'a ban without a blank behind the colon is refused',
    text: withHead('description: d', 'disallowed-tools:Bash'),
    reads: { loads: false },
  },
  {
    title: 'a ban in a block of code is refused',
    text: '```yaml\nname: x\ndisallowed-tools: Bash\n```\nDo it.\n',
    reads: { loads: false },
  },
  {
    title: 'a head that is not closed leaves a skill for people',
    text: '---\nname: x\ndescription: d\n\nDo it.\n',
    reads: { loads: true, disableModelInvocation: true },
  },
  { title: 'no head', text: 'Fills in PDF forms.\n', reads: { loads: true, asks: [] } },
  { title: 'an empty file', text: '', reads: { loads: true, asks: [] } },
  {
    title: 'who may call it, with a slip of the pen',
    text: withHead(...NAMED, 'disable-model-invocaton: true', 'user-invokable: false'),
    reads: { loads: true, disableModelInvocation: true, userInvocable: false },
  },
  {
    title: 'who may call it, in words',
    text: withHead(...NAMED, 'disable-model-invocation: yes', 'user-invocable: on'),
    reads: { disableModelInvocation: true, userInvocable: true },
  },
  {
    title: 'a command in the text asks',
    text: `${withHead(...NAMED)}!\`ls\`\n`,
    reads: { loads: true, asks: ['runs a command'] },
  },
  {
    title: 'a skill that runs as an agent asks',
    text: withHead(...NAMED, 'context: fork', 'agent: Explore'),
    reads: { context: 'fork', agent: 'Explore', asks: ['sets context, agent'] },
  },
  {
    title: 'model and effort ask for nothing',
    text: withHead(...NAMED, 'model: haiku', 'effort: low', 'color: blue'),
    reads: { ...TEXT, model: 'haiku', effort: 'low' },
  },
  {
    title: 'paths as text with commas',
    text: withHead(...NAMED, 'paths: "*.pdf, forms/**"'),
    reads: { ...TEXT, paths: ['*.pdf', 'forms/**'] },
  },
];

/** Files called `SKILL.md`. */
export const skills: CorpusTable = {
  kind: 'skill',
  rows: [
    { title: 'name and description', text: withHead(...NAMED), reads: { ...TEXT, notes: [] } },
    ...DESCRIBING.map((lines) => ({
      title: `describes only: ${lines[0]}`,
      text: withHead(...NAMED, ...lines),
      reads: TEXT,
    })),
    ...NEARLY.map(([line, words]) => ({
      title: `is refused with the right spelling: ${line}`,
      text: withHead(...NAMED, line),
      reads: { loads: false, refusal: expect.stringContaining(words) },
    })),
    ...SHAPES,
  ],
};
