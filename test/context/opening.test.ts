import path from 'node:path';
import { expect, it } from 'vitest';
import {
  createFirstMessages,
  type FirstMessagesParts,
} from '../../src/context/prompt/first-messages.js';
import { bookWorld, type Files } from './book-rig.js';

function rig(files: Files) {
  const world = bookWorld(files);
  const notices: string[] = [];
  const open = (more: Partial<FirstMessagesParts> = {}) =>
    createFirstMessages({
      book: world.book(),
      facts: {
        cwd: path.join(world.root, 'project'),
        additionalDirectories: [],
        platform: 'linux',
        date: '2026-01-01',
        gitBranch: 'main',
        model: 'm',
      },
      resumedFrom: undefined,
      emit: (news) => {
        if (news.type === 'notice') notices.push(news.text);
      },
      uuid: () => 'id',
      ...more,
    });
  return { world, notices, open };
}

const textsOf = (opening: Awaited<ReturnType<typeof createFirstMessages>>) =>
  opening.messages.flatMap(({ content }) =>
    content.map((block) => (block.type === 'text' ? block.text : '')),
  );

it('a new session begins with facts and instructions, each in a block of its own', async () => {
  const { world, open, notices } = rig({
    'project/CLAUDE.md': 'ROOT',
    'home/.claude/CLAUDE.md': 'USER',
  });
  const opening = await open();
  expect(opening.messages).toHaveLength(1);
  const [facts, instructions] = textsOf(opening);
  expect(facts).toContain('Git branch: main');
  expect(instructions).toMatch(/USER[\s\S]*ROOT/);
  expect(opening.paths).toEqual([
    path.join(world.root, 'home/.claude/CLAUDE.md'),
    world.at('CLAUDE.md'),
  ]);
  expect(opening.loaded.map(({ loadReason }) => loadReason)).toEqual([
    'session_start',
    'session_start',
  ]);
  expect(notices).toEqual([]);
});

it('without instructions it begins with the facts', async () => {
  const opening = await rig({}).open();
  expect(textsOf(opening)).toHaveLength(1);
  expect(opening.loaded).toEqual([]);
});

it('what was left out or changed is told', async () => {
  const { world, open, notices } = rig({
    'project/CLAUDE.md': 'ROOT\u200b @../outside/x.md @gone.md',
    'outside/x.md': 'X',
    'project/CLAUDE.local.md': { link: '/dev/zero' },
  });
  await open();
  expect(notices).toEqual([
    expect.stringContaining(
      `${world.root}/outside/x.md, which ${world.at('CLAUDE.md')} includes, was not read: it is outside`,
    ),
    `${world.at('CLAUDE.local.md')} was not read: it is no regular file`,
    `${world.at('CLAUDE.md')}: 1 invisible characters were taken out`,
  ]);
});

it('takes the session’s own book', async () => {
  const { world, open } = rig({ 'managed/CLAUDE.md': 'MANAGED', 'project/CLAUDE.md': 'ROOT' });
  const claudeMd = { value: 'SETTING', source: 'managed', file: '/m.json', trusted: true } as const;
  const opening = await open({ book: world.book({ settings: { claudeMd } }) });
  expect(textsOf(opening)[1]).toMatch(/MANAGED[\s\S]*SETTING[\s\S]*ROOT/);
  expect(opening.paths).not.toContain('/m.json');
  expect(opening.loaded).toHaveLength(3);
});

it('a resumed session says only that it moved', async () => {
  const { world, open } = rig({ 'project/CLAUDE.md': 'ROOT' });
  const cwd = path.join(world.root, 'project');
  expect((await open({ resumedFrom: { cwd } })).messages).toEqual([]);
  expect((await open({ resumedFrom: { cwd: undefined } })).messages).toEqual([]);
  const moved = await open({ resumedFrom: { cwd: '/elsewhere' } });
  expect(textsOf(moved)).toEqual([expect.stringContaining('continues in another environment')]);
  expect(moved.paths).toEqual([]);
});
