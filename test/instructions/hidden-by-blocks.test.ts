import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  definition,
  openAgentsSession,
} from '../agents/core-rig.js';
import { enforcing } from './rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}
const lastOf = (world: AgentsSession): string => JSON.stringify(world.server.requests.at(-1)?.body);
const deny = (...rules: string[]): string => enforcing({ deny: rules });

describe('an include that an enforced block keeps from being read', () => {
  it.each<[string, ProjectFiles, ProjectFiles]>([
    ['of the user', { 'CLAUDE.md': '@k.md' }, { '.claude/CLAUDE.md': deny('Read(k.md)') }],
    ['of the same file', { 'CLAUDE.md': `@k.md\n\n${deny('Read(k.md)')}` }, {}],
    ['that asks', { 'CLAUDE.md': `@k.md\n\n${enforcing({ ask: ['Read(k.md)'] })}` }, {}],
    ['of a later file', { 'CLAUDE.md': '@k.md', 'CLAUDE.local.md': deny('Read(k.md)') }, {}],
    [
      'of a file that is hidden itself',
      {
        'CLAUDE.md': '@k.md',
        'CLAUDE.local.md': '@b.md',
        'b.md': deny('Read(k.md)', 'Read(b.md)'),
      },
      {},
    ],
    [
      'in a file that is hidden',
      { 'CLAUDE.md': `@a.md\n\n${deny('Read(a.md)')}`, 'a.md': '@k.md' },
      {},
    ],
  ])('is not shown, and told: %s', async (_whose, files, home) => {
    const world = await opened({ files: { 'k.md': 'K_WORDS', ...files }, home, main: ['end'] });
    await world.say('go');
    expect(lastOf(world)).not.toContain('K_WORDS');
    expect(world.notices.join('\n')).toContain('a permission rule keeps it from being read');
  });

  it('leaves others to be shown, also where blocks speak of files', async () => {
    const files = { 'CLAUDE.md': `@k.md @i.md\n\n${deny('Edit(i.md)', 'Read(k.md)')}` };
    const world = await opened({
      files: { 'i.md': 'I_WORDS', 'k.md': 'K_WORDS', ...files },
      main: ['end'],
    });
    await world.say('go');
    expect(lastOf(world)).toContain('I_WORDS');
    expect(lastOf(world)).not.toContain('K_WORDS');
  });

  it('is not shown by a file that comes into play after the block was written', async () => {
    const files = {
      'CLAUDE.md': 'Words',
      'sub/CLAUDE.md': '@k.md',
      'sub/k.md': 'K_WORDS',
      'sub/f': 'f',
    };
    const reads = (file: string): Reply => ({ tool: 'Read', input: { file_path: file } });
    const world = await opened({
      files,
      main: ['one', () => reads(world.project.at('sub/f')), 'end'],
    });
    await world.say('go');
    writeFileSync(world.project.at('CLAUDE.md'), deny('Read(k.md)'));
    await world.say('go on');
    expect(lastOf(world)).toContain('@k.md');
    expect(lastOf(world)).not.toContain('K_WORDS');
  });

  it('is not shown with the nested file that has the block', async () => {
    const files = {
      'sub/CLAUDE.md': `@k.md\n\n${deny('Read(k.md)')}`,
      'sub/k.md': 'K_WORDS',
      'sub/f': 'f',
    };
    const world = await opened({
      files,
      main: [() => ({ tool: 'Read', input: { file_path: world.project.at('sub/f') } }), 'end'],
    });
    await world.say('go');
    expect(lastOf(world)).toContain('@k.md');
    expect(lastOf(world)).not.toContain('K_WORDS');
    expect(world.notices.join('\n')).toContain('a permission rule keeps it from being read');
  });
});

describe('an include that is kept from one agent only', () => {
  const FILES = {
    'sub/CLAUDE.md': '@k.md',
    'sub/k.md': 'K_WORDS',
    'sub/f': 'f',
    '.claude/agents/rev.md': definition('name: rev\ndescription: d'),
    '.claude/agents/fix.md': definition('name: fix\ndescription: d'),
  };
  const home = {
    '.claude/settings.json': {
      json: { portcullis: { agents: { rev: { deny: ['Read(k.md)'] } } } },
    },
  };
  it.each([
    ['rev', false],
    ['fix', true],
  ])('is shown to %s at its beginning: %s', async (type, isShown) => {
    const world = await opened({
      files: { ...FILES, 'CLAUDE.md': '@k.md', 'k.md': 'K_WORDS' },
      home,
      main: [agent('TASKW', { subagent_type: type }), 'end'],
      agents: { TASKW: ['ran'] },
    });
    await world.say('go');
    const first = world.server.requests.map(({ body }) => JSON.stringify(body))[1] ?? '';
    expect(first).toContain('TASKW');
    expect(first).toContain('@k.md');
    expect(first.includes('K_WORDS')).toBe(isShown);
  });

  it.each([
    ['rev', false],
    ['fix', true],
  ])('is shown to %s by the files it works with: %s', async (type, isShown) => {
    const world = await opened({
      files: FILES,
      home,
      main: [agent('TASKW', { subagent_type: type }), 'end'],
      agents: {
        TASKW: [() => ({ tool: 'Read', input: { file_path: world.project.at('sub/f') } }), 'ran'],
      },
    });
    await world.say('go');
    const shown = world.requests('@k.md').join('\n');
    expect(shown).toContain('TASKW');
    expect(shown.includes('K_WORDS')).toBe(isShown);
  });
});

describe('names of files that a nested block keeps from being read', () => {
  const FILES = {
    'sub/CLAUDE.md': deny('Read(secret.txt)'),
    'sub/secret.txt': 'x',
    'sub/deep/secret.txt': 'x',
    'sub/ok.txt': 'x',
    'top.txt': 'x',
  };

  it.each([{ pattern: '**/*.txt' }, { pattern: 'sub/*.txt' }])(
    'are left out of what Glob finds: %j',
    async (input) => {
      const world = await opened({ files: FILES, main: [{ tool: 'Glob', input }, 'end'] });
      await world.say('go');
      expect(world.result().text).toContain('ok.txt');
      expect(world.result().text).not.toContain('secret.txt');
      expect(world.result().text).not.toContain('left out');
    },
  );

  it('are left out of a directory that a prompt names', async () => {
    const world = await opened({ files: FILES, main: ['end'] });
    await world.say('see @sub/');
    expect(lastOf(world)).toContain('ok.txt');
    expect(lastOf(world)).not.toContain('secret.txt');
    expect(lastOf(world)).toContain('1 more left out');
  });

  it('are all left out where the block cannot be honoured', async () => {
    const files = { ...FILES, 'sub/CLAUDE.md': '```portcullis\n{"deny": [}\n```\n' };
    const world = await opened({
      files,
      main: [{ tool: 'Glob', input: { pattern: '**/*.txt' } }, 'end'],
    });
    await world.say('go');
    expect(world.result().text).toContain('top.txt');
    expect(world.result().text).not.toMatch(/ok\.txt|secret\.txt/);
  });
});
