import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../lib/frontmatter/parse-yaml.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import { DEFINITION_FIELDS } from './fields.js';
import { readDefinition } from './reader.js';
import { KNOWN_TOOLS } from './tools.js';

const file = (head: string, body = 'BODY'): string => `---\n${head}\n---\n${body}\n`;
const read = (head: string) => readDefinition(file(head), { parseYaml, knownTools: KNOWN_TOOLS });
/** The opening fence and these two fields are lines 1 to 3 of the file. */
const BASE = 'name: a\ndescription: d\n';
const fieldsOf = async (head: string) => {
  const { fields, findings } = await read(BASE + head);
  return { fields, errors: findings.filter(({ severity }) => severity === 'error'), findings };
};

describe('the head of an agent', () => {
  it('has every documented field', async () => {
    const { fields, findings, name, line } = await read(
      [
        '# comment',
        'name: reviewer',
        'description: Reviews code',
        'tools: Read, Bash(git log *), mcp__srv, Agent(a, b)',
        'disallowedTools: [Write, mcp__*]',
        'model: inherit',
        'permissionMode: plan',
        'maxTurns: 7',
        'skills: [one, two]',
        'mcpServers: [srv, {own: {command: x}}]',
        'hooks: {Stop: []}',
        'memory: project',
        'background: true',
        'effort: high',
        'isolation: worktree',
        'color: cyan',
        'initialPrompt: begin',
        'portcullis:',
        '  budget: {turns: 3, tokens: 100, usd: 0.5, seconds: 1.5, fan-out: 0}',
        '  asks: deny',
      ].join('\n'),
    );
    expect(findings).toEqual([]);
    expect([name, line]).toEqual(['reviewer', 3]);
    expect(fields).toEqual({
      name: 'reviewer',
      description: 'Reviews code',
      tools: ['Read', 'Bash(git log *)', 'mcp__srv', 'Agent(a, b)'],
      disallowedTools: ['Write', 'mcp__*'],
      model: 'inherit',
      permissionMode: 'plan',
      maxTurns: 7,
      skills: ['one', 'two'],
      mcpServers: [{ name: 'srv' }, { name: 'own', config: { command: 'x' } }],
      hooks: { Stop: [] },
      memory: 'project',
      background: true,
      effort: 'high',
      isolation: 'worktree',
      color: 'cyan',
      initialPrompt: 'begin',
      omitInstructions: false,
      foregroundOnly: false,
      workspace: { kind: 'worktree' },
      budget: { turns: 3, tokens: 100, usd: 0.5, seconds: 1.5, fanOut: 0 },
      asks: 'deny',
    });
  });

  it('says little by default', async () => {
    const { fields } = await read('name: a\ndescription: d');
    expect(fields).toEqual({
      name: 'a',
      description: 'd',
      disallowedTools: [],
      skills: [],
      mcpServers: [],
      background: false,
      omitInstructions: false,
      foregroundOnly: false,
      workspace: { kind: 'inherit' },
      budget: {},
      asks: 'bubble',
    });
  });

  it.each([
    ['tools: "*"', undefined],
    ['tools: Read, *', undefined],
    ['tools: []', []],
    ['tools: Read Grep', ['Read', 'Grep']],
    ['tools:\n  - Read\n  - Bash(git *)', ['Read', 'Bash(git *)']],
    ['tools: Read, Read', ['Read']],
    ['tools: NoSuchThing', ['NoSuchThing']],
  ])('lists tools: %j', async (head, expected) => {
    const { fields, errors } = await fieldsOf(head);
    expect(errors).toEqual([]);
    expect(fields?.tools).toEqual(expected);
  });

  it.each([
    ['workspace: inherit', { kind: 'inherit' }],
    ['workspace: scratch', { kind: 'scratch' }],
    ['workspace: ./packages/api/', { kind: 'directory', path: 'packages/api' }],
    ['workspace: {sub-directory: a/../b}', { kind: 'directory', path: 'b' }],
  ])('has a workspace: %j', async (line, expected) => {
    const { fields } = await fieldsOf(`portcullis:\n  ${line}`);
    expect(fields?.workspace).toEqual(expected);
  });

  it.each([
    ['tools:', 4, 'says nothing'],
    ['tools: Bash(git', 4, 'bracket'],
    ['tools: [{a: b}]', 4, 'not a text'],
    ['tools: "*, !Bash"', 4, 'no name of a tool'],
    ['disallowedTools: [Write, edit/editFiles]', 4, 'no name of a tool'],
    ['tools: 7', 4, 'neither'],
    ['disallowedTools: Bsh', 4, 'did you mean Bash'],
    ['disallowedTools: bash', 4, 'did you mean Bash'],
    ['disallowedTools: Shell', 4, 'did you mean Bash'],
    ['disallowedTools: Shell(rm *)', 4, 'did you mean Bash'],
    ['disallowedTools: BashTool', 4, 'did you mean Bash'],
    ['disallowedTools: read_file', 4, 'did you mean Read'],
    ['disallowedTools: mcp_github', 4, 'mcp__server'],
    ['disallowedTools: mcp-github', 4, 'mcp__server'],
    ['disallowedTools: mcp__', 4, 'mcp__server'],
    ['disallowedTools: MCP_github__x', 4, 'mcp__server'],
    ['disallowedTools: mcp__srv__', 4, 'Write mcp__srv for the whole server'],
    ['disallowedTools: [Write, mcp__my.srv__]', 4, 'Write mcp__my_srv for the whole server'],
    ['disallowedTools: mcp__srv__(x)', 4, 'Write mcp__srv for the whole server'],
    ['disallowedTools: mcp__*__', 4, 'ends before the name of the tool'],
    ['disallowedTools: mcp____tool', 4, 'names no MCP server'],
    ['disallowedTools: Frobnicate.Foo', 4, 'no tool can be called Frobnicate.Foo'],
    ["disallowedTools: ''", 4, 'says nothing'],
    ['disallowedTools:', 4, 'says nothing'],
    ["disallowedTools: [Bash, '']", 4, 'empty'],
    ['disallowedTools: Bash()', 4, 'parentheses name nothing'],
    ['tools: Bash()', 4, 'parentheses name nothing'],
    ['tools: "Read, Bash(  )"', 4, 'parentheses name nothing'],
    ['tools: [Read, "Agent()"]', 4, 'parentheses name nothing'],
    ['tools: [Read, "Task(a, )"]', 4, 'parentheses name nothing'],
    ['allowed-tools: Read', 4, 'called tools'],
    ['tools: Read\nTools: Write', 5, 'same field'],
    ['permissionMode: acceptEdit', 4, 'did you mean acceptEdits'],
    ['permissionMode:', 4, 'no mode'],
    ['maxTurns: 0', 4, 'whole number'],
    ['maxTurns: 1.5', 4, 'whole number'],
    ['maxTurns: many', 4, 'whole number'],
    ['memory: everywhere', 4, 'user, project, local'],
    ['isolation: remote', 4, 'worktree'],
    ['background: sometimes', 4, 'neither true nor false'],
    ['hooks: run', 4, 'no map'],
    ['hooks: {PreTolUse: []}', 4, 'there is no such event; did you mean PreToolUse?'],
    ['hooks: {PreToolUse: [{matcher: Bsh, hooks: []}]}', 4, 'Did you mean Bash?'],
    ['hooks:\n  PreToolUse:\n    - matcher: "\'Bash\'"', 6, 'matches no tool'],
    ['mcpServers: [{own: x}]', 4, 'no configuration'],
    ['mcpServers: [a, a]', 4, 'twice'],
    ['portcullis: on', 4, 'no map'],
    ['portcullis:\n  asks: perhaps', 5, 'bubble and deny'],
    ['portcullis:\n  asks: deny\n  bugdet: {}', 6, 'did you mean budget'],
    ['portcullis:\n  budget: {turn: 1}', 5, 'did you mean turns'],
    ['portcullis:\n  budget: {turns: 0}', 5, 'above 0'],
    ['portcullis:\n  budget: {usd: -1}', 5, 'above 0'],
    ['portcullis:\n  workspace: /etc', 5, 'inherit, worktree'],
    ['portcullis:\n  workspace: {directory: ../x}', 5, 'below'],
    ['portcullis:\n  workspace: {directory: /etc}', 5, 'below'],
    ['portcullis:\n  workspace: {directory: ~/x}', 5, 'below'],
    ['isolation: worktree\nportcullis:\n  workspace: scratch', 4, 'contradict'],
    ['background: true\nportcullis:\n  foreground-only: true', 4, 'exclude'],
  ])('is out of force with %j', async (head, line, words) => {
    const { fields, errors } = await fieldsOf(head);
    expect(fields).toBeUndefined();
    expect(errors).toContainEqual({
      severity: 'error',
      line,
      message: expect.stringContaining(words),
    });
  });

  it.each([
    ['colour: red', 'did you mean color'],
    ['color: black', 'knows red'],
    ['effort: extreme', 'knows low'],
    ['tools: Grep, Reed', 'did you mean Read'],
    ['tools: Read, edit/editFiles', 'gives nothing'],
    ['observer: x', 'no effect'],
    ['prompt: x', 'below the head'],
    ['permissionMode: auto', 'taken for default'],
    ['whatever: 1', 'not a field'],
  ])('is in force and warned about with %j', async (head, words) => {
    const { fields, findings } = await fieldsOf(head);
    expect(fields?.name).toBe('a');
    expect(findings).toEqual([
      { severity: 'warning', line: 4, message: expect.stringContaining(words) },
    ]);
  });

  it.each([
    'main',
    'Fork',
    'hook-agent',
    'a:b',
    '-a',
    'a  b',
    'a\tb',
    'a/b',
    'a#1',
    'a*',
    '..',
    'mcp__x',
    'a\u200bb',
  ])('cannot be called %j', async (name) => {
    const { fields, findings } = await read(`name: ${JSON.stringify(name)}\ndescription: d`);
    expect(fields).toBeUndefined();
    expect(findings).toMatchObject([{ severity: 'error', line: 2 }]);
  });

  it.each(['Code Reviewer', 'team-lead', 'QA', 'c.d'])('can be called %j', async (name) => {
    const { fields } = await read(`name: ${name}\ndescription: d`);
    expect(fields?.name).toBe(name);
  });

  it.each([
    ['tools: edit/editFiles, subagent-catalog:search', []],
    ['tools: [Shell, Frobnicate]', ['Shell', 'Frobnicate']],
  ])('whose every tool is unknown has none, and people are told: %j', async (head, tools) => {
    const { fields, findings } = await fieldsOf(head);
    expect(fields?.tools).toEqual(tools);
    expect(findings[0]).toMatchObject({ told: true, message: expect.stringContaining('no tools') });
  });

  it('loads with the tools that are known', async () => {
    const { fields, errors } = await fieldsOf('tools: [Read, "edit/editFiles", "a:b", Grep]');
    expect([fields?.tools, errors]).toEqual([['Read', 'Grep'], []]);
  });

  it('needs a description', async () => {
    const { fields, findings, name } = await read('name: a\ntools: Read');
    expect(fields).toBeUndefined();
    expect(name).toBe('a');
    expect(findings).toEqual([{ severity: 'error', line: 2, message: 'it has no description' }]);
  });

  it.each(['# About\n\ntext', '---\ndescription: d\ntools: Read\n---\nx', '', '---\n---\n'])(
    'is a document without a name: %j',
    async (text) => {
      const found = await readDefinition(text, { parseYaml, knownTools: [] });
      expect(found).toMatchObject({ isDocument: true, findings: [] });
    },
  );

  it('that is no YAML is read line by line, with a warning', async () => {
    const description =
      'Use when: asked. Examples: <example>Context: x. user: "Review this" assistant: "I will"</example>';
    const { fields, findings } = await read(
      `name: a\ndescription: ${description}\ntools: Read, Grep\nmodel: haiku\npermissionMode: plan`,
    );
    expect(fields).toMatchObject({
      description,
      tools: ['Read', 'Grep'],
      model: 'haiku',
      permissionMode: 'plan',
    });
    expect(findings).toMatchObject([{ severity: 'warning', line: 3 }]);
  });

  it.each([
    ['permissionMode: acceptEdits', true],
    ['permissionMode: bypassPermissions', true],
    ['hooks:\n  Stop:\n    - hooks: []', true],
    ['portcullis:\n  asks: deny', true],
    ['tools: "Read', false],
    ['  disallowedTools: Bash', false],
  ])('that is no YAML grants nothing and loses no limit: %j', async (head, inForce) => {
    const { fields } = await read(`name: a\ndescription: x: y\n${head}`);
    expect(fields !== undefined).toBe(inForce);
    expect(fields?.permissionMode).toBeUndefined();
  });

  it.each(['---\nname: a\ndescription: d\n', '---\nname: a\ntools: Read\nno end'])(
    'that is not closed is told: %j',
    async (text) => {
      const found = await readDefinition(text, { parseYaml, knownTools: [] });
      expect(found.isDocument).toBe(false);
      expect(found.fields).toBeUndefined();
      expect(found.findings).toMatchObject([{ severity: 'error' }]);
    },
  );

  it('never loses a limit without saying so, whatever is written', async () => {
    const value = fc.oneof(
      fc.string(),
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('Read', 'Read, Bash(git *)', '*', 'true', '3', 'plan'),
    );
    const entry = fc.tuple(fc.constantFrom(...DEFINITION_FIELDS), value);
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
        const written = Object.fromEntries(entries);
        const text = file(JSON.stringify({ description: 'd', ...written, name: 'a' }));
        const { fields, findings } = await readDefinition(text, {
          parseYaml,
          knownTools: KNOWN_TOOLS,
        });
        if (fields === undefined) {
          expect(findings.some(({ severity }) => severity === 'error')).toBe(true);
          return;
        }
        if ('tools' in written && fields.tools === undefined) {
          expect(JSON.stringify(written.tools)).toContain('*');
        }
        if ('maxTurns' in written) expect(fields.maxTurns).toBeGreaterThan(0);
        if ('permissionMode' in written) expect(fields.permissionMode).toBeDefined();
        if ('memory' in written) expect(fields.memory).toBe(written.memory);
      }),
      { numRuns: 300 },
    );
  });

  it('tells no more than a person reads, and always the error', async () => {
    const odd = Array.from({ length: 800 }, (_, at) => `descriptoon${at}: 1\n`).join('');
    const warned = await fieldsOf(odd);
    expect(warned.fields).toBeDefined();
    expect(warned.findings.length).toBe(21);
    expect(warned.findings.map(({ message }) => message)).toContain(
      '780 more like these are not listed',
    );
    const wrong = await fieldsOf(`${odd}maxTurns: 0`);
    expect(wrong.fields).toBeUndefined();
    expect(wrong.errors).toHaveLength(1);
  });

  it('is out of force when a list is longer than anybody writes', async () => {
    const names = (count: number, name: string) =>
      Array.from({ length: count }, (_, at) => `${name}${at}`).join(', ');
    const long = await fieldsOf(`tools: ${names(501, 'Zq')}`);
    expect(long.errors).toMatchObject([{ message: '"tools" has more than 500 entries' }]);
    const unknown = await fieldsOf(`tools: ${names(400, 'Zq')}`);
    expect(unknown.fields?.tools).toHaveLength(400);
    expect(unknown.findings).toHaveLength(12);
    const bans = await fieldsOf(`disallowedTools: ${names(51, 'Zqqqqqq')}`);
    expect(bans.errors).toMatchObject([{ message: expect.stringContaining('more than 50') }]);
    const servers = await fieldsOf(`mcpServers: [${names(201, 's')}]`);
    expect(servers.errors).toMatchObject([{ message: expect.stringContaining('200 servers') }]);
  });

  it('is told of a ban that takes nothing away', async () => {
    const odd = await fieldsOf('disallowedTools: [Write, Frobnicate, Zqq*]');
    expect(odd.fields?.disallowedTools).toEqual(['Write', 'Frobnicate', 'Zqq*']);
    expect(odd.findings).toEqual([
      { severity: 'warning', line: 4, message: expect.stringContaining('Frobnicate') },
      { severity: 'warning', line: 4, message: expect.stringContaining('Zqq*') },
    ]);
    expect((await fieldsOf('disallowedTools: [Web*, "*", mcp__*, mcp*, m*]')).findings).toEqual([]);
  });

  it.each([
    ['mcp__srv', 'mcp__srv__x'],
    ['mcp__srv__*', 'mcp__srv__x'],
    ['mcp__my.srv', 'mcp__my_srv__x'],
    ['mcp__srv__get.it', 'mcp__srv__get_it'],
    ['mcp___srv', 'mcp___srv__x'],
    ['mcp__srv__x__', 'mcp__srv__x__'],
  ])('has a ban of tools of servers that takes them away: %s', async (ban, tool) => {
    const { fields, findings } = await fieldsOf(`disallowedTools: [${ban}]`);
    expect(findings).toEqual([]);
    expect(createToolMatcher(fields?.disallowedTools ?? [])([tool])).toBe(true);
  });

  it.each(['mcp__srv__', 'mcp__my.srv', 'mcp____x'])(
    'is told of tools of servers that there cannot be: %s',
    async (name) => {
      const { fields, findings } = await fieldsOf(`tools: [Read, ${name}]`);
      expect(fields?.tools).toEqual(['Read', name]);
      expect(findings).toMatchObject([{ severity: 'warning', line: 4 }]);
    },
  );

  it('takes any text without throwing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const found = await readDefinition(file(`name: a\n${text}`), {
          parseYaml,
          knownTools: KNOWN_TOOLS,
        });
        const errors = found.findings.some(({ severity }) => severity === 'error');
        expect(found.isDocument || errors || found.fields !== undefined).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

it('hooks for a tool that there may be one day are only told, with the line of the matcher', async () => {
  const head = 'hooks:\n  PreToolUse:\n    - hooks: []\n    - matcher: Deployer\n      hooks: []';
  const { fields, errors, findings } = await fieldsOf(head);
  expect(fields?.hooks).toBeDefined();
  expect(errors).toEqual([]);
  expect(findings).toEqual([
    {
      severity: 'warning',
      line: 7,
      message: expect.stringContaining('names Deployer, and there is no such tool now') as string,
    },
  ]);
});

it('hooks at an event of another program are only told', async () => {
  const { fields, errors, findings } = await fieldsOf('hooks: {BeforeTool: [], Stop: []}');
  expect(fields?.hooks).toEqual({ BeforeTool: [], Stop: [] });
  expect(errors).toEqual([]);
  expect(findings.map(({ message }) => message)).toEqual([
    'its hooks at "BeforeTool" never run: an event of another program',
  ]);
});
