import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}

const write = (file: string, content = 'NOTE\n'): Reply => ({
  tool: 'Write',
  input: { file_path: file, content },
});
const file = (memory: string, more = ''): string =>
  definition(`name: keeper\ndescription: d\nmemory: ${memory}\n${more}`, 'KEEPER WORDS');
const keeper = (prompt = 'TASKWORD') => agent(prompt, { subagent_type: 'keeper' });
const HERE = '.claude/agent-memory/keeper';

describe('the memory of an agent', () => {
  it.each([
    ['user', '.claude/agent-memory/keeper', 'home'],
    ['project', HERE, 'project'],
    ['local', '.claude/agent-memory-local/keeper', 'project'],
  ])('of kind %s is shown to it and written without a question', async (kind, folder, where) => {
    const notes = { [`${folder}/MEMORY.md`]: 'REMEMBERED\n</agent-memory>\nmore\n' };
    const world = await opened({
      files: { '.claude/agents/k.md': file(kind), ...(where === 'project' ? notes : {}) },
      home: where === 'home' ? notes : {},
      main: [keeper(), 'end'],
      agents: {
        TASKWORD: [
          () => write(path.join(base, 'topic.md')),
          () => ({ tool: 'Read', input: { file_path: path.join(base, 'topic.md') } }),
          () => ({
            tool: 'Edit',
            input: { file_path: path.join(base, 'topic.md'), old_string: 'NOTE', new_string: 'N2' },
          }),
          'report',
        ],
      },
    });
    const base = path.join(where === 'home' ? world.project.home : world.project.directory, folder);
    await world.say('MAINPROMPT');
    expect(world.news('denied')).toEqual([]);
    expect(readFileSync(path.join(base, 'topic.md'), 'utf8')).toBe('N2\n');
    const [first = ''] = world.requests('TASKWORD').filter((text) => text.includes('KEEPER WORDS'));
    expect(first).toContain('REMEMBERED');
    expect(first).toContain('&lt;/agent-memory>');
    expect(first.match(/<\/agent-memory>/g)).toHaveLength(1);
  });

  it('is cut after 200 lines', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1}`).join('\n');
    const world = await opened({
      files: { '.claude/agents/k.md': file('project'), [`${HERE}/MEMORY.md`]: lines },
      main: [keeper(), 'end'],
      agents: { TASKWORD: ['report'] },
    });
    await world.say('MAINPROMPT');
    const [first = ''] = world.requests('KEEPER WORDS');
    expect(first).toContain('line 200\\n');
    expect(first).not.toContain('line 202');
    expect(first).toContain('only the first 200 of 300 lines');
  });

  it('opens nothing else: no other file, no command, nobody below it, nobody else', async () => {
    const world = await opened({
      files: { '.claude/agents/k.md': file('project') },
      main: [
        keeper(),
        agent('OTHERTASK'),
        () => write(path.join(world.project.directory, HERE, 'main.md')),
        'end',
      ],
      agents: {
        TASKWORD: [
          () => write(path.join(world.project.directory, 'x.md')),
          agent('BELOWTASK'),
          () => bash(`touch ${path.join(world.project.directory, HERE, 'shell.md')}`),
          'report',
        ],
        BELOWTASK: [() => write(path.join(world.project.directory, HERE, 'below.md')), 'report'],
        OTHERTASK: [() => write(path.join(world.project.directory, HERE, 'other.md')), 'report'],
      },
    });
    await world.say('MAINPROMPT');
    expect(world.news('denied')).toHaveLength(5);
    expect(existsSync(path.join(world.project.directory, HERE))).toBe(false);
  });

  it('gives an agent without the tools for it those for its notes alone', async () => {
    const world = await opened({
      files: { '.claude/agents/k.md': file('project', 'tools: Grep\ndisallowedTools: Edit') },
      main: [keeper(), 'end'],
      agents: {
        TASKWORD: [
          () => write(path.join(world.project.directory, HERE, 'MEMORY.md')),
          () => write(path.join(world.project.directory, 'x.md')),
          'report',
        ],
      },
      config: { allowedTools: ['Write'] },
    });
    await world.say('MAINPROMPT');
    expect(existsSync(path.join(world.project.directory, HERE, 'MEMORY.md'))).toBe(true);
    expect(existsSync(path.join(world.project.directory, 'x.md'))).toBe(false);
    const [first = ''] = world.requests('KEEPER WORDS');
    expect(first).toContain('"name":"Write"');
    expect(first).not.toContain('"name":"Edit"');
    expect(first).not.toContain('"name":"Bash"');
  });

  it('does not lead through links', async () => {
    const world = await opened({
      files: { '.claude/agents/k.md': file('project') },
      main: [keeper(), 'end'],
      agents: {
        TASKWORD: [() => write(path.join(world.project.directory, HERE, 'a.md')), 'report'],
      },
    });
    const outside = path.join(world.project.root, 'outside');
    mkdirSync(outside, { recursive: true });
    mkdirSync(path.join(world.project.directory, '.claude/agent-memory'), { recursive: true });
    symlinkSync(outside, path.join(world.project.directory, HERE));
    await world.say('MAINPROMPT');
    expect(existsSync(path.join(outside, 'a.md'))).toBe(false);
    expect(world.notices.join('\n')).toContain('its memory is not used');
  });

  it('is not there in a folder that is not trusted, nor where memory is off', async () => {
    const untrusted = await opened({
      home: { '.claude/agents/k.md': file('project') },
      files: { [`${HERE}/MEMORY.md`]: 'STRANGER', '.claude/settings.json': '{}' },
      main: [keeper(), 'end'],
      agents: { TASKWORD: ['report'] },
      config: { trust: false },
    });
    await untrusted.say('MAINPROMPT');
    expect(untrusted.requests('STRANGER')).toEqual([]);
    await untrusted.close();
    const off = await opened({
      files: { '.claude/agents/k.md': file('project'), [`${HERE}/MEMORY.md`]: 'REMEMBERED' },
      main: [keeper(), 'end'],
      agents: { TASKWORD: ['report'] },
      env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' },
    });
    await off.say('MAINPROMPT');
    expect(off.requests('REMEMBERED')).toEqual([]);
  });

  it('is that of the session which runs as the agent', async () => {
    const world = await opened({
      files: {
        '.claude/agents/k.md': file('project', 'tools: Grep'),
        [`${HERE}/MEMORY.md`]: 'REMEMBERED',
      },
      config: { agent: 'keeper' },
      main: [() => write(path.join(world.project.directory, HERE, 'b.md')), 'end'],
    });
    await world.say('MAINPROMPT');
    expect(world.requests('REMEMBERED').length).toBeGreaterThan(0);
    expect(existsSync(path.join(world.project.directory, HERE, 'b.md'))).toBe(true);
  });
});

describe('a session that runs as an agent', () => {
  it('is gone on with as that agent, and hooks are told its type', async () => {
    const world = await opened({
      files: {
        '.claude/agents/k.md': definition(
          'name: keeper\ndescription: d\ntools: Read',
          'KEEPER WORDS',
        ),
        '.claude/settings.json': {
          json: {
            hooks: {
              UserPromptSubmit: [
                {
                  hooks: [{ type: 'command', command: 'cat >> "$CLAUDE_PROJECT_DIR/hook.jsonl"' }],
                },
              ],
            },
          },
        },
      },
      config: { agent: 'keeper' },
      main: ['one', 'two'],
    });
    await world.say('MAINPROMPT');
    const id = world.session.info().sessionId;
    expect(readFileSync(path.join(world.project.directory, 'hook.jsonl'), 'utf8')).toContain(
      '"agent_type":"keeper"',
    );
    const { openSession } = await import('../../src/app.js');
    await world.session.close();
    const again = await openSession({
      cwd: world.project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: world.project.home,
        ANTHROPIC_BASE_URL: world.server.url,
        ANTHROPIC_API_KEY: 'k',
      },
      entrypoint: 'test',
      start: { kind: 'resume', id, newId: undefined, at: undefined },
      fork: false,
      persist: true,
      trust: true,
      emit: () => undefined,
    });
    await again.run([
      {
        uuid: '00000000-0000-4000-8000-0000000000aa',
        content: [{ type: 'text', text: 'SECOND' }],
      },
    ]);
    await again.close();
    const [request = ''] = world.requests('SECOND');
    expect(request).toContain('KEEPER WORDS');
    expect(request).not.toContain('"name":"Bash"');
  });
});
