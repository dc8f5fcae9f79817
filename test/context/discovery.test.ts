import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { projectSlug } from '../../src/platform/fs/paths.js';
import { bookWorld } from './book-rig.js';

const ALL = {
  'managed/CLAUDE.md': 'MANAGED',
  'managed/.claude/rules/m.md': 'MANAGED_RULE',
  'home/.claude/CLAUDE.md': 'USER',
  'home/.claude/rules/deep/u.md': 'USER_RULE',
  'CLAUDE.md': 'ABOVE',
  'project/CLAUDE.md': 'ROOT',
  'project/.claude/CLAUDE.md': 'ROOT_DOT',
  'project/.claude/rules/r.md': 'ROOT_RULE',
  'project/CLAUDE.local.md': 'ROOT_LOCAL',
  'project/pkg/CLAUDE.md': 'PKG',
  'project/pkg/CLAUDE.local.md': 'PKG_LOCAL',
  'project/pkg/a/x': 'x',
};

describe('instructions from the start', () => {
  it('stand broad before specific, local beside their directory', async () => {
    const { book, texts } = bookWorld(ALL, { git: true });
    const found = await book({
      cwd: 'pkg/a',
      settings: { claudeMd: { value: 'SETTING', source: 'managed', trusted: true } },
    }).open();
    expect(texts(found)).toEqual(
      `MANAGED SETTING MANAGED_RULE USER USER_RULE ABOVE ROOT ROOT_DOT ROOT_RULE ROOT_LOCAL PKG PKG_LOCAL`.split(
        ' ',
      ),
    );
    expect(found.files.map(({ memoryType }) => memoryType[0]).join('')).toBe('MMMUUPPPPLPL');
    expect(new Set(found.files.map(({ loadReason }) => loadReason))).toEqual(
      new Set(['session_start']),
    );
    expect(found.skipped).toEqual([]);
  });

  it.each([
    [[], 'MANAGED MANAGED_RULE'],
    [['user'], 'MANAGED MANAGED_RULE USER USER_RULE'],
    [['project'], 'MANAGED MANAGED_RULE ABOVE ROOT ROOT_DOT ROOT_RULE'],
    [['local'], 'MANAGED MANAGED_RULE ROOT_LOCAL'],
  ])('follow the sources %j', async (sources, expected) => {
    const { book, texts } = bookWorld(ALL);
    expect(texts(await book({ sources }).open()).join(' ')).toBe(expected);
  });

  it('are left out by a variable, but not those of an administrator', async () => {
    const { book, texts } = bookWorld(ALL);
    const found = await book({ env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1' } }).open();
    expect(texts(found)).toEqual(['MANAGED', 'MANAGED_RULE']);
  });

  it('are the user’s once, also when the project lies in his home', async () => {
    const { root, book, texts } = bookWorld({
      'home/CLAUDE.md': 'HOME_TOP',
      'home/.claude/CLAUDE.md': 'USER',
      'home/proj/CLAUDE.md': 'PROJECT',
    });
    const cwd = path.relative(path.join(root, 'project'), path.join(root, 'home/proj'));
    expect(texts(await book({ cwd }).open())).toEqual(['USER', 'HOME_TOP', 'PROJECT']);
    expect(texts(await book({ cwd, sources: ['project'] }).open())).toEqual([
      'HOME_TOP',
      'PROJECT',
    ]);
  });

  it('leave out what settings exclude, except an administrator’s', async () => {
    const { root, book, texts, skipped } = bookWorld({
      ...ALL,
      'project/.claude/rules/x.md': 'X',
      'project/.claude/rules/y.md': 'Y',
    });
    const from = (source: 'user' | 'project', ...values: string[]) =>
      values.map((value) => ({ value, source, trusted: source === 'user' }));
    const found = await book({
      settings: {
        excludes: [
          ...from('user', '**/rules/x.md', `${root}/project/CLAUDE.local.md`, '**/managed/**'),
          ...from('project', '**/CLAUDE.md', '**/home/**'),
        ],
      },
    }).open();
    // A project's settings do not take away what its user wrote.
    expect(texts(found)).toEqual([
      'MANAGED',
      'MANAGED_RULE',
      'USER',
      'USER_RULE',
      'ROOT_RULE',
      'Y',
    ]);
    expect(skipped(found)).toContain('project/.claude/rules/x.md: excluded');
  });

  it('of added directories count when a variable says so', async () => {
    const { root, book, texts } = bookWorld({
      'project/CLAUDE.md': 'ROOT',
      'outside/CLAUDE.md': 'ADDED',
      'outside/.claude/rules/r.md': 'ADDED_RULE',
    });
    const additionalDirectories = [path.join(root, 'outside')];
    expect(texts(await book({ additionalDirectories }).open())).toEqual(['ROOT']);
    const env = { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' };
    const found = await book({ additionalDirectories, env }).open();
    expect(texts(found)).toEqual(['ROOT', 'ADDED', 'ADDED_RULE']);
  });
});

describe('AGENTS.md', () => {
  const agents = {
    'project/AGENTS.md': 'AGENTS',
    'project/.claude/AGENTS.md': 'DOT_AGENTS',
    'project/.claude/rules/r.md': 'RULE',
    'home/.claude/CLAUDE.md': 'USER',
  };

  it('is read where there is no CLAUDE.md on the way; the user’s and rules do not count', async () => {
    const { book, texts } = bookWorld(agents);
    expect(texts(await book().open())).toEqual(['USER', 'AGENTS', 'DOT_AGENTS', 'RULE']);
  });

  it.each([
    'project/CLAUDE.md',
    'project/.claude/CLAUDE.md',
    'project/CLAUDE.local.md',
    'CLAUDE.md',
  ])('is not read beside %s', async (name) => {
    const { book, texts } = bookWorld({ ...agents, [name]: 'CLAUDE' });
    const shown = texts(await book().open());
    expect(shown).toContain('CLAUDE');
    expect(shown).not.toContain('AGENTS');
  });

  it('is read beside a directory of that name or an excluded file', async () => {
    const { book, texts, root } = bookWorld(agents);
    mkdirSync(path.join(root, 'project/CLAUDE.md'));
    expect(texts(await book().open())).toContain('AGENTS');
    const other = bookWorld({ ...agents, 'project/CLAUDE.md': 'CLAUDE' });
    const excludes = [{ value: '**/project/CLAUDE.md', source: 'user', trusted: true } as const];
    expect(texts(await other.book({ settings: { excludes } }).open())).toContain('AGENTS');
  });

  it.each([
    ['claude-md', 'USER ROOT RULE'],
    ['claude-md-and-agents-md', 'USER ROOT AGENTS DOT_AGENTS RULE'],
    ['managed-only', 'MANAGED'],
  ] as const)('follows the mode %s', async (agentsMode, expected) => {
    const { book, texts } = bookWorld({
      ...agents,
      'project/CLAUDE.md': 'ROOT',
      'managed/CLAUDE.md': 'MANAGED',
    });
    const shown = texts(await book({ settings: { agentsMode } }).open());
    expect(
      shown.filter((text) => text !== 'MANAGED' || agentsMode === 'managed-only').join(' '),
    ).toBe(expected);
  });

  it('is shown once, by path and by content', async () => {
    const { book, texts } = bookWorld({
      'project/AGENTS.md': 'SAME',
      'project/CLAUDE.md': { link: 'AGENTS.md' },
      'project/.claude/AGENTS.md': 'SAME\n',
    });
    const settings = { agentsMode: 'claude-md-and-agents-md' } as const;
    expect(texts(await book({ settings }).open())).toEqual(['SAME']);
  });
});

describe('memory', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => `- MEM_${n + 1}.`).join('\n');
  const place = (root: string, directory = path.join(root, 'project')) =>
    `home/.claude/projects/${projectSlug(directory)}/memory/MEMORY.md`;

  it('shows its first 200 lines last, with a note, and follows no includes', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'ROOT', 'project/x.md': 'X' });
    world.write({ [place(world.root)]: `@${world.root}/project/x.md\n${lines(260)}` });
    const { files } = await world.book().open();
    const memory = files.at(-1);
    expect(files).toHaveLength(2);
    expect(memory).toMatchObject({ scope: 'memory', memoryType: 'User', kind: 'memory' });
    expect(memory?.text.split('\n')).toHaveLength(200);
    expect(memory?.text).toContain('MEM_199.');
    expect(memory?.notes).toEqual(['only the first 200 of 261 lines are shown; keep it shorter']);
  });

  it('shows no more than 25 KB', async () => {
    const world = bookWorld();
    world.write({ [place(world.root)]: `${'x'.repeat(1000)}\n`.repeat(100) });
    const [memory] = (await world.book().open()).files;
    expect(memory?.text.length).toBeLessThanOrEqual(25 * 1024);
    expect(memory?.notes).toHaveLength(1);
  });

  it.each([
    [{}, {}, true],
    [{ CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' }, {}, false],
    [{}, { autoMemory: false }, false],
    [{ CLAUDE_CODE_DISABLE_AUTO_MEMORY: '0' }, { autoMemory: false }, true],
  ])('is switched by %j and %j', async (env, settings, expected) => {
    const world = bookWorld();
    world.write({ [place(world.root)]: 'MEM' });
    expect(world.texts(await world.book({ env, settings }).open()).length > 0).toBe(expected);
  });

  it('is the user’s, and lies where he says', async () => {
    const world = bookWorld({ 'home/notes/MEMORY.md': 'NOTES' });
    world.write({ [place(world.root)]: 'MEM' });
    expect(world.texts(await world.book({ sources: ['project', 'local'] }).open())).toEqual([]);
    const at = (autoMemoryDirectory: string) =>
      world.book({ settings: { autoMemoryDirectory } }).open();
    expect(world.texts(await at('~/notes'))).toEqual(['NOTES']);
    expect((await at('notes')).skipped).toEqual([expect.objectContaining({ warn: true })]);
  });

  it('is shared by the worktrees of a repository, and by nobody else', async () => {
    const world = bookWorld({ 'project/a': 'a' }, { git: true });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...args], {
        cwd: world.at('.'),
        stdio: 'ignore',
      });
    git('add', '-A');
    git('commit', '-qm', 'x');
    git('worktree', 'add', '-q', '../tree');
    world.write({ [place(world.root)]: 'MEM' });
    expect(world.texts(await world.book({ cwd: '../tree' }).open())).toEqual(['MEM']);
    // A stranger's `.git` file that names the same repository.
    world.write({ 'stranger/.git': `gitdir: {ROOT}/project/.git/worktrees/tree\n` });
    expect(world.texts(await world.book({ cwd: '../stranger' }).open())).toEqual([]);
  });

  it('of the team needs a setting and trust, and stands last', async () => {
    const world = bookWorld({ 'project/.claude/team-memory/MEMORY.md': lines(201) });
    world.write({ [place(world.root)]: 'MEM' });
    const open = (teamMemory: boolean, trusted: boolean) =>
      world.book({ settings: { teamMemory }, trusted }).open();
    expect(world.texts(await open(false, true))).toEqual(['MEM']);
    expect(world.texts(await open(true, false))).toEqual(['MEM']);
    const { files } = await open(true, true);
    expect(files.map(({ scope }) => scope)).toEqual(['memory', 'team']);
    expect(files[1]?.notes).toHaveLength(1);
    expect(files[1]?.memoryType).toBe('Project');
  });
});

describe('what is no ordinary instruction file', () => {
  it('shows nothing: empty, lower case, a directory', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': ' \n', 'project/sub/claude.md': 'LOWER' });
    mkdirSync(world.at('.claude/CLAUDE.md'), { recursive: true });
    const found = await world.book({ cwd: 'sub' }).open();
    expect(world.texts(found)).toEqual([]);
    expect(found.skipped.filter(({ warn }) => warn)).toEqual([]);
    expect(world.skipped(await world.book().open())).toEqual([
      'project/.claude/CLAUDE.md: not regular',
    ]);
  });

  it.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file]), 'not regular'],
    ['a huge file', (file: string) => execFileSync('truncate', ['-s', '5M', file]), 'too large'],
    ['a device', (file: string) => execFileSync('ln', ['-s', '/dev/zero', file]), 'not regular'],
    ['a loop of links', (file: string) => execFileSync('ln', ['-s', file, file]), 'unreadable'],
  ])('is skipped with a note: %s', async (_what, make, kind) => {
    const world = bookWorld({ 'project/CLAUDE.local.md': 'LOCAL' });
    make(world.at('CLAUDE.md'));
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['LOCAL']);
    expect(world.skipped(found)).toEqual([`project/CLAUDE.md: ${kind}`]);
    expect(found.skipped[0]?.warn).toBe(true);
  });

  it('is skipped with a note when it cannot be read', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'ROOT' });
    chmodSync(world.at('CLAUDE.md'), 0);
    const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    // The administrator may read everything; so a disk that refuses is put in its place.
    const fs = { ...nodeFileSystem, readBytes: () => Promise.reject(denied) };
    expect(world.skipped(await world.book({ fs }).open())).toEqual([
      'project/CLAUDE.md: unreadable',
    ]);
  });

  it('is replaced in part when it is no UTF-8, and skipped when it is not a text', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': new Uint8Array([0x48, 0x69, 0xff]),
      'project/CLAUDE.local.md': new Uint8Array([0x48, 0, 0x69, 0]),
    });
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['Hi\ufffd']);
    expect(found.files[0]?.notes).toHaveLength(1);
    expect(world.skipped(found)).toEqual(['project/CLAUDE.local.md: not text']);
  });

  it('loses comments, byte order mark and characters that nobody sees', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': '\uFEFFTOP\r\n<!-- a -->\r\nUse tabs.\u{e0061}\u200b evil\r\n',
    });
    const { files } = await world.book().open();
    expect(files[0]).toMatchObject({
      text: 'TOP\nUse tabs. evil\n',
      notes: ['2 invisible characters were taken out'],
    });
  });
});

describe('links', () => {
  it('inside of the project are followed', async () => {
    const world = bookWorld({
      'project/docs/a.md': 'A',
      'project/CLAUDE.md': { link: 'docs/a.md' },
    });
    expect(world.texts(await world.book().open())).toEqual(['A']);
  });

  it.each([
    ['CLAUDE.md', '../outside/key'],
    ['CLAUDE.md', '../outside/notes.md'],
    ['CLAUDE.local.md', '../outside/notes.md'],
    ['CLAUDE.md', '../home/.claude/credentials.json'],
    ['.claude/rules', '../../outside'],
    ['.claude', '../outside/dot'],
  ])('out of the project need an approval: %s to %s', async (name, link) => {
    const world = bookWorld({
      'outside/key': 'SECRET',
      'outside/notes.md': 'SECRET',
      'outside/dot/CLAUDE.md': 'SECRET',
      'home/.claude/credentials.json': 'SECRET',
      [`project/${name}`]: { link },
    });
    const refused = await world.book().open();
    expect(world.texts(refused)).toEqual([]);
    expect(refused.skipped.length).toBeGreaterThan(0);
    const { realPath } = refused.skipped[0] ?? {};
    const asked: string[][] = [];
    const approvals = {
      answerTo: async (project: string, real: string) => {
        asked.push([project, real]);
        return real === realPath ? ('approve' as const) : undefined;
      },
    };
    expect(world.texts(await world.book({ approvals }).open())).toEqual(['SECRET']);
    expect(asked[0]).toEqual([path.join(world.root, 'project'), realPath]);
  });

  it('of the user lead where he likes', async () => {
    const world = bookWorld({
      'outside/mine.md': 'MINE',
      'home/.claude/CLAUDE.md': { link: '../../outside/mine.md' },
    });
    expect(world.texts(await world.book().open())).toEqual(['MINE']);
  });

  it('do not show what a rule hides', async () => {
    const world = bookWorld({ 'project/.env': 'SECRET', 'project/CLAUDE.md': { link: '.env' } });
    const isHidden = async (file: string) => file.endsWith('.env');
    const found = await world.book({ isHidden }).open();
    expect(world.skipped(found)).toEqual(['project/CLAUDE.md: hidden']);
  });

  it('of others above the project are not followed, nor are their files', async () => {
    const world = bookWorld({ 'CLAUDE.md': 'ABOVE', 'project/CLAUDE.md': 'ROOT' });
    chmodSync(path.join(world.root, 'CLAUDE.md'), 0o666);
    chmodSync(world.at('CLAUDE.md'), 0o666);
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['ROOT']);
    expect(world.skipped(found)).toEqual(['CLAUDE.md: foreign']);
  });

  it('make no project of a home under version control', async () => {
    const world = bookWorld({
      'home/.git/HEAD': 'ref: refs/heads/main\n',
      'home/.ssh/id': 'SECRET',
      'home/proj/CLAUDE.md': 'W @../.ssh/id',
    });
    const found = await world.book({ cwd: '../home/proj' }).open();
    expect(world.texts(found)).toEqual(['W @../.ssh/id']);
    expect(world.skipped(found)).toEqual(['home/.ssh/id: external']);
  });
});
