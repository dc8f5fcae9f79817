import { expect } from 'vitest';
import { type CorpusTable, withHead } from './rows.js';

const NAMED = ['name: reviewer', 'description: Reviews changes'];
const REVIEWER = { loads: true, name: 'reviewer', description: 'Reviews changes', errors: [] };
const EXAMPLES =
  'Use this agent when: asked. Examples: <example>Context: x. user: "Go" assistant: "I will"</example>';

/** Files of `.claude/agents`. */
export const agents: CorpusTable = {
  kind: 'agent',
  rows: [
    {
      title: 'name and description',
      text: withHead(...NAMED),
      reads: { ...REVIEWER, warnings: [] },
    },
    ...[
      ['version: 1.0.0'],
      ['author: me', 'tags: [review]'],
      ['category: quality', 'priority: 1'],
      ['examples:', '  - a', '  - b'],
      ['capabilities: ["review", "refactor"]'],
      ['icon: 🔍', 'display_name: Reviewer'],
      ['temperature: 0.1', 'mode: subagent'],
      ['when_to_use: after a change'],
      ['metadata:', '  team: core'],
    ].map((lines) => ({
      title: `describes only: ${lines[0]}`,
      text: withHead(...NAMED, ...lines),
      reads: REVIEWER,
    })),
    ...[
      ['disallowedTool: Bash', 'disallowedTools'],
      ['disallowed_tool: Bash', 'disallowedTools'],
      ['allowed_tools: Read', 'tools'],
      ['allowed-tools: Read', 'tools'],
      ['tool: Read', 'tools'],
      ['fence-tool: Read', 'tools'],
      ['denyTools: Bash', 'disallowedTools'],
      ['maxturn: 3', 'maxTurns'],
      ['permision-mode: plan', 'permissionMode'],
      ['hook: {}', 'hooks'],
    ].map(([line = '', field = '']) => ({
      title: `is refused with the right spelling: ${line}`,
      text: withHead(...NAMED, line),
      reads: { loads: false, errors: [expect.stringContaining(`called ${field}`)] },
    })),
    {
      title: 'tools as text with commas',
      text: withHead(...NAMED, 'tools: Read, Grep, Bash(git diff *)'),
      reads: { ...REVIEWER, tools: ['Read', 'Grep', 'Bash(git diff *)'], warnings: [] },
    },
    {
      title: 'tools as a list',
      text: withHead(...NAMED, 'tools:', '  - Read', '  - mcp__docs__search'),
      reads: { ...REVIEWER, tools: ['Read', 'mcp__docs__search'], warnings: [] },
    },
    {
      title: 'tools as a list in brackets with quotes',
      text: withHead(...NAMED, 'tools: ["Read", "Grep"]'),
      reads: { ...REVIEWER, tools: ['Read', 'Grep'] },
    },
    {
      title: 'tools with tabs',
      text: withHead(...NAMED, 'tools:', '\t- Read', '\t- Grep'),
      reads: { ...REVIEWER, tools: ['Read', 'Grep'] },
    },
    {
      title: 'all tools',
      text: withHead(...NAMED, 'tools: "*"'),
      reads: { ...REVIEWER, tools: undefined },
    },
    {
      title: 'all tools without quotes',
      text: withHead(...NAMED, 'tools: *'),
      reads: { ...REVIEWER, tools: undefined },
    },
    { title: 'no tools', text: withHead(...NAMED, 'tools: []'), reads: { ...REVIEWER, tools: [] } },
    {
      title: 'tools of an editor among ours',
      text: withHead(...NAMED, 'tools: Read, edit/editFiles, search/codebase, Grep'),
      reads: { ...REVIEWER, tools: ['Read', 'Grep'] },
    },
    {
      title: 'a tool with a namespace',
      text: withHead(...NAMED, 'tools: Read, subagent-catalog:search'),
      reads: { ...REVIEWER, tools: ['Read'] },
    },
    {
      title: 'a list of unknown tools leaves none and says so',
      text: withHead(...NAMED, 'tools: [edit/editFiles, "search/codebase"]'),
      reads: {
        ...REVIEWER,
        tools: [],
        warnings: expect.arrayContaining([expect.stringContaining('no tools')]),
      },
    },
    {
      title: 'tools with a negation beside all are refused',
      text: withHead(...NAMED, 'tools: "*, !Bash"'),
      reads: { loads: false },
    },
    {
      title: 'an empty list of tools is refused',
      text: withHead(...NAMED, 'tools:'),
      reads: { loads: false },
    },
    {
      title: 'a bracket that is not closed is refused',
      text: withHead(...NAMED, 'tools: Bash(git'),
      reads: { loads: false },
    },
    {
      title: 'bans',
      text: withHead(...NAMED, 'disallowedTools: Write, Edit'),
      reads: { ...REVIEWER, disallowedTools: ['Write', 'Edit'] },
    },
    {
      title: 'bans with hyphens in the name',
      text: withHead(...NAMED, 'disallowed-tools: [Write]'),
      reads: { ...REVIEWER, disallowedTools: ['Write'] },
    },
    {
      title: 'a ban of what is no tool is refused',
      text: withHead(...NAMED, 'disallowedTools: Write, edit/editFiles'),
      reads: { loads: false },
    },
    {
      title: 'a description with colons and tags',
      text: withHead('name: reviewer', `description: ${EXAMPLES}`, 'tools: Read', 'model: sonnet'),
      reads: { loads: true, description: EXAMPLES, tools: ['Read'], model: 'sonnet', errors: [] },
    },
    {
      title: 'a description with line breaks as \\n in quotes',
      text: withHead('name: reviewer', 'description: "Reviews\\n\\nchanges"'),
      reads: { loads: true, description: 'Reviews\n\nchanges' },
    },
    {
      title: 'a description that goes on at the left edge',
      text: withHead(
        'name: reviewer',
        'description: Reviews changes: all',
        'Examples:',
        '<example>',
        'user: "Go"',
        '</example>',
        'tools: Read',
      ),
      reads: { loads: true, tools: ['Read'], errors: [] },
    },
    {
      title: 'hooks beside a description with a colon',
      text: withHead(
        'name: reviewer',
        'description: Reviews: changes',
        'hooks:',
        '  PreToolUse:',
        '    - matcher: Bash',
        '      hooks: [{ type: command, command: ./guard.sh }]',
      ),
      reads: { loads: true, hooks: { PreToolUse: [{ matcher: 'Bash' }] }, errors: [] },
    },
    {
      title: 'a mode that widens does not count beside a description with a colon',
      text: withHead('name: reviewer', 'description: a: b', 'permissionMode: acceptEdits'),
      reads: { loads: true, permissionMode: undefined },
    },
    {
      title: 'a ban below a description is refused',
      text: withHead('name: reviewer', 'description: a: b', '  disallowedTools: Bash'),
      reads: { loads: false },
    },
    {
      title: 'a limit with an equals sign is refused',
      text: withHead(...NAMED, 'maxTurns = 3'),
      reads: { loads: false },
    },
    {
      title: 'a name with blanks and capitals',
      text: withHead('name: Code Reviewer', 'description: Reviews changes'),
      reads: { loads: true, name: 'Code Reviewer', errors: [] },
    },
    {
      title: 'a name in capitals',
      text: withHead('name: QA-Expert', 'description: d'),
      reads: { loads: true, name: 'QA-Expert' },
    },
    {
      title: 'a lead of a team',
      text: withHead('name: team-lead', 'description: d'),
      reads: { loads: true, name: 'team-lead' },
    },
    {
      title: 'a name that is ours is refused',
      text: withHead('name: main', 'description: d'),
      reads: { loads: false },
    },
    { title: 'no head', text: '# Reviewer\n\nYou review.\n', reads: { isDocument: true } },
    {
      title: 'Windows line ends and a byte order mark',
      text: `\uFEFF${withHead(...NAMED, 'tools: Read').replaceAll('\n', '\r\n')}`,
      reads: { ...REVIEWER, tools: ['Read'] },
    },
    {
      title: 'a model by its full name and a color',
      text: withHead(...NAMED, 'model: claude-sonnet-4-5', 'color: purple'),
      reads: { ...REVIEWER, model: 'claude-sonnet-4-5', color: 'purple' },
    },
    {
      title: 'a color that there is not',
      text: withHead(...NAMED, 'color: magenta'),
      reads: REVIEWER,
    },
    {
      title: 'skills as text with commas',
      text: withHead(...NAMED, 'skills: pdf-forms, tables'),
      reads: { ...REVIEWER, skills: ['pdf-forms', 'tables'] },
    },
  ],
};
