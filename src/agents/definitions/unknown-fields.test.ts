import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../lib/frontmatter/parse-yaml.js';
import { readHostAgents } from './host.js';
import { readDefinition } from './reader.js';
import { KNOWN_TOOLS } from './tools.js';

const BASE = 'name: a\ndescription: d\n';
const read = (head: string, base = BASE) =>
  readDefinition(`---\n${base}${head}\n---\nBODY\n`, { parseYaml, knownTools: KNOWN_TOOLS });

describe('a field that there is not', () => {
  it.each([
    ['disallowedTool: Bash', 'called disallowedTools'],
    ['disalowed-tools: Bash', 'called disallowedTools'],
    ['denyTools: Bash', 'called disallowedTools'],
    ['blocked_tools: Bash', 'called disallowedTools'],
    ['tool: Read', 'called tools'],
    ['allowedTool: Read', 'called tools'],
    ['fence-tools: Read', 'called tools'],
    ['maxturn: 3', 'called maxTurns'],
    ['permisionMode: plan', 'called permissionMode'],
    ['isolaton: worktree', 'called isolation'],
    ['hook: {Stop: []}', 'called hooks'],
    ['portculis: {asks: deny}', 'called portcullis'],
    ['budget: {turns: 3}', 'below "portcullis:"'],
    ['workspace: scratch', 'below "portcullis:"'],
    ['asks: deny', 'below "portcullis:"'],
    ['foregroundOnly: true', 'below "portcullis:"'],
    ['portcullis.budget: {turns: 1}', 'below "portcullis:"'],
  ])('and was meant as a limit takes the definition out: %j', async (head, words) => {
    const { name, fields, findings } = await read(head);
    expect([name, fields]).toEqual(['a', undefined]);
    expect(findings).toContainEqual({
      severity: 'error',
      line: 4,
      message: expect.stringContaining(words),
    });
  });

  it('and holds what nobody sees is taken for the limit that it looks like', async () => {
    const { fields, findings } = await read('disallowed\u200bTools: Bash');
    expect(fields).toBeUndefined();
    expect(findings).toMatchObject([{ severity: 'error' }]);
  });

  const harmless =
    'colour version author tags category license metadata models temperature priority tools_required ' +
    'tooling toolset tool_count title role type id created updated domain expertise capabilities ' +
    'triggers examples language icon emoji max_tokens timeout dependencies permissions mode steps ' +
    'subagents proactive complexity location solution relation goals rules topics todos inputs ' +
    'output context status skill trools_x memory_size maxSteps permission isolated';

  it.each(harmless.split(' '))('and is called %s is only warned about', async (name) => {
    const { fields, findings } = await read(`${name}: x`);
    expect(fields?.name).toBe('a');
    expect(findings).toMatchObject([{ severity: 'warning', line: 4 }]);
  });

  it('is told as a limit behind however many others', async () => {
    const odd = Array.from({ length: 100 }, (_, at) => `whatever${at}: 1\n`).join('');
    expect((await read(odd)).fields).toBeDefined();
    expect((await read(`${odd}disallowedTool: Bash`)).fields).toBeUndefined();
  });

  it.each([{ disallowedTool: ['Bash'] }, { budget: { turns: 1 } }, { maxturn: 3 }])(
    'refuses the agents of a host when it was meant as a limit: %j',
    (more) => {
      const given = readHostAgents({ a: { description: 'd', prompt: 'p', ...more } });
      expect(given).toEqual({
        ok: false,
        error: expect.stringContaining('is not a field of an agent;'),
      });
    },
  );
});

describe('a head that is no YAML', () => {
  it.each([
    ['disallowedTools:\n-Bash', 4],
    ['disallowedTools: Read,\nBash', 5],
    ['disallowedTools = Bash', 4],
    ['disallowedTools; Bash', 4],
    ['disallowedTool = Bash', 4],
    ['disallowedTools\n  - Bash', 4],
    ['disallowedTools：Bash', 4],
    ['- disallowedTool: Bash', 4],
    ['* disallowedTools Bash', 4],
    ['permissionMode plan', 4],
    ['max_turns 3', 4],
    ['tools Read, Grep', 4],
    ['tools = Read', 4],
    ['tools\n  - Read', 4],
    ['isolation worktree', 4],
    ['portcullis\n  asks: deny', 4],
  ])('loses no limit: %j', async (head, line) => {
    const { name, fields, findings } = await read(head);
    expect([name, fields]).toEqual(['a', undefined]);
    const errors = findings.filter(({ severity }) => severity === 'error');
    expect(errors.map((one) => one.line)).toContain(line);
  });

  it.each([
    ['disallowedTools:\n\t- Bash', { disallowedTools: ['Bash'] }],
    ['disallowedTools:\n  - Read\n\t- Bash', { disallowedTools: ['Read', 'Bash'] }],
    ['tools:\n\t- Read', { tools: ['Read'] }],
    ['portcullis:\n\tasks: deny', { asks: 'deny' }],
    ['hooks:\n\tStop:\n\t\t- hooks: []', { hooks: { Stop: [{ hooks: [] }] } }],
  ])('keeps a limit that is indented with tabs: %j', async (head, expected) => {
    expect((await read(head)).fields).toMatchObject(expected);
  });

  it.each([
    'Examples:\n<example>\nContext: x\nuser: "Go"\n</example>\ntools: Read\nmodel: haiku',
    'It works with tools that others have.\nTools are not touched by it.\ntools: Read',
    'tools that others have are not touched.\nhooks are run, memory is kept\ntools: Read',
    'tools: Read\n\t# a comment',
  ])('is in force when it goes on at the left edge: %j', async (head) => {
    const { fields, findings } = await read(head, 'name: a\ndescription: Use when: asked\n');
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(fields?.tools).toEqual(['Read']);
  });
});
