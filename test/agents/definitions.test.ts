import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentNotice } from '../../src/agents/definitions/definitions.js';
import { readHostAgents } from '../../src/agents/definitions/host.js';
import { agentText, openAgentWorld } from './definitions-rig.js';

const AT = '.claude/agents';

describe('where agents come from', () => {
  it('reads every Markdown file below agents, and its prompt when it is asked for', async () => {
    const world = openAgentWorld({
      files: {
        [`${AT}/one.md`]: agentText('one'),
        [`${AT}/deep/er/two.MD`]: agentText('two'),
        [`${AT}/notes.txt`]: agentText('three'),
        [`${AT}/.hidden/four.md`]: agentText('four'),
        [`${AT}/README.md`]: '# About these agents\n',
      },
    });
    expect(await world.names()).toEqual(['one', 'two']);
    const one = await world.book.find('one');
    expect(one).toMatchObject({
      source: 'project',
      file: world.project.at(`${AT}/one.md`),
      line: 2,
    });
    expect(await one?.prompt()).toBe('P_one');
    expect(await world.book.documents()).toEqual([
      { file: world.project.at(`${AT}/README.md`), source: 'project' },
    ]);
    expect(await world.book.problems()).toEqual([]);
  });

  it('has its own without any file', async () => {
    const { book } = openAgentWorld();
    expect((await book.list()).map(({ name }) => name)).toEqual([
      'Explore',
      'Plan',
      'claude',
      'general-purpose',
      'statusline-setup',
    ]);
    expect(await book.find('statusline-setup')).toMatchObject({ tools: ['Read', 'Edit'] });
    const explore = await book.find('explore');
    expect(explore).toMatchObject({ name: 'Explore', omitInstructions: true, oneShot: true });
    expect(explore?.disallowedTools).toEqual(expect.arrayContaining(['Edit', 'Write', 'Agent']));
    expect(await explore?.prompt()).toContain('change nothing');
  });

  it('reads nothing before something is asked for', async () => {
    const calls: string[] = [];
    const world = openAgentWorld({
      files: { [`${AT}/one.md`]: agentText('one', 'd', `# ${'x'.repeat(20_000)}\n`) },
      fs: (real) => ({
        ...real,
        stat(file) {
          calls.push('stat');
          return real.stat(file);
        },
      }),
    });
    expect(calls).toEqual([]);
    await world.book.list();
    expect(calls).not.toEqual([]);
  });

  it('goes by source: administrator, host, project, user, program', async () => {
    const host = readHostAgents({
      a: { description: 'host', prompt: 'p' },
      b: { description: 'host', prompt: 'p' },
    });
    if (!host.ok) throw new Error(host.error);
    const names = ['a', 'b', 'c', 'd', 'Explore'];
    const all = (source: string, count: number) =>
      Object.fromEntries(
        names.slice(0, count).map((name) => [`${AT}/${name}.md`, agentText(name, source)]),
      );
    const world = openAgentWorld({
      files: all('project', 3),
      home: { ...all('user', 5) },
      host: host.value,
    });
    mkdirSync(path.join(world.project.root, 'managed', AT), { recursive: true });
    writeFileSync(path.join(world.project.root, 'managed', AT, 'a.md'), agentText('a', 'managed'));
    expect(await Promise.all(names.map(world.description))).toEqual([
      'managed',
      'host',
      'project',
      'user',
      'user',
    ]);
    const hidden = await world.book.hidden();
    expect(hidden.filter(({ name }) => name === 'a').map(({ source }) => source)).toEqual([
      'flag',
      'project',
      'user',
    ]);
    expect(hidden).toContainEqual({
      name: 'Explore',
      source: 'builtin',
      place: 'built-in',
      reason: expect.stringContaining('Explore.md has the same name'),
    });
    expect(await world.book.problems()).toEqual([]);
  });

  it('takes the closest directory of a repository', async () => {
    const world = openAgentWorld({
      git: true,
      start: 'pkg/api',
      files: {
        [`pkg/api/${AT}/a.md`]: agentText('a', 'near'),
        [`${AT}/a.md`]: agentText('a', 'far'),
        [`pkg/${AT}/b.md`]: agentText('b', 'between'),
        [`other/${AT}/c.md`]: agentText('c'),
      },
    });
    expect(await world.names()).toEqual(['a', 'b']);
    expect(await world.description('a')).toBe('near');
  });

  it('looks into added directories, also one that is itself called .claude', async () => {
    const world = openAgentWorld({ added: ['one', 'two/.claude', 'three'] });
    const { root } = world.project;
    for (const [at, name] of [
      [`one/${AT}`, 'a'],
      [`two/${AT}`, 'b'],
      ['three/agents', 'c'],
    ] as const) {
      mkdirSync(path.join(root, at), { recursive: true });
      writeFileSync(path.join(root, at, 'x.md'), agentText(name));
    }
    expect(await world.names()).toEqual(['a', 'b']);
  });

  it.each([
    [['user'], ['u']],
    [['project'], ['p']],
    [['local'], []],
    [[], []],
  ])('reads only the sources that count: %j', async (sources, names) => {
    const world = openAgentWorld({
      files: { [`${AT}/p.md`]: agentText('p') },
      home: { [`${AT}/u.md`]: agentText('u') },
      sources,
    });
    expect(await world.names()).toEqual(names);
  });

  it('does not take the user’s own for a project’s in the home directory', async () => {
    const world = openAgentWorld({ home: { [`${AT}/u.md`]: agentText('u') } });
    const home = openAgentWorld({
      cwd: world.project.home,
      configDir: `${world.project.home}/.claude`,
    });
    expect((await home.book.find('u'))?.source).toBe('user');
  });

  it('has a place for plugins, which run nothing and set no mode', async () => {
    const world = openAgentWorld();
    const directory = path.join(world.project.root, 'plug');
    mkdirSync(path.join(directory, 'agents/sub'), { recursive: true });
    const more = 'permissionMode: acceptEdits\nhooks: {Stop: []}\nmcpServers: [x]\n';
    writeFileSync(path.join(directory, 'agents/sub/a.md'), agentText('a', 'd', more));
    const { book } = openAgentWorld({ plugins: [{ name: 'plug', directory, trusted: true }] });
    const found = await book.find('plug:sub:a');
    expect(found).toMatchObject({ name: 'plug:sub:a', source: 'plugin', mcpServers: [] });
    expect(found?.permissionMode).toBeUndefined();
    expect(found?.hooks).toBeUndefined();
  });
});

describe('files that are not whole', () => {
  const files = {
    [`${AT}/bad.md`]: agentText('general-purpose', 'd', 'tools: Bash(git\n'),
    [`${AT}/none.md`]: '---\nname: mute\ntools: Read\n---\nx',
    [`${AT}/fine.md`]: agentText('fine'),
  };

  it('are told with line and reason, and keep their name', async () => {
    const { book, names, project } = openAgentWorld({ files });
    expect(await names()).toEqual(['fine']);
    expect(await book.problems()).toEqual([
      {
        severity: 'error',
        source: 'project',
        place: project.at(`${AT}/bad.md`),
        name: 'general-purpose',
        line: 4,
        message: '"tools" does not close a bracket: Bash(git',
      },
      expect.objectContaining({ name: 'mute', line: 2, message: 'it has no description' }),
    ]);
    expect(await book.find('general-purpose')).toBeUndefined();
    expect(await book.resolve('general-purpose')).toEqual({
      ok: false,
      error: expect.stringMatching(/not in force: .*bad\.md: line 4: "tools" does not close/),
    });
  });

  it('are named once at the start', async () => {
    const { book } = openAgentWorld({ files });
    const notice = agentNotice(await book.problems());
    expect(notice).toMatch(
      /bad\.md:4: "tools".*none\.md:2: it has no description.*agents validate/,
    );
    expect(agentNotice([])).toBeUndefined();
  });

  it('are read again when they are corrected', async () => {
    const { book, project } = openAgentWorld({ files });
    expect(await book.find('mute')).toBeUndefined();
    project.write(`${AT}/none.md`, agentText('mute', 'now'));
    expect(await book.find('mute')).toMatchObject({ description: 'now' });
  });

  it('that cannot be read are told', async () => {
    const { messages, names } = openAgentWorld({
      files: {
        [`${AT}/bin.md`]: { base64: Buffer.from('---\nname: a\0\n---\n').toString('base64') },
        [`${AT}/dead.md`]: { symlink: './nowhere.md' },
        [`${AT}/throws.md`]: agentText('throws'),
      },
      fs: (real) => ({
        ...real,
        readWithStat: (file, options) =>
          file.endsWith('throws.md')
            ? Promise.reject(new Error('disk on fire'))
            : real.readWithStat(file, options),
      }),
    });
    expect(await names()).toEqual([]);
    expect(await messages('bin.md')).toEqual(['it is not a text']);
    expect(await messages('dead.md')).toEqual(['it is a link to nothing']);
    expect(await messages('throws.md')).toEqual(['it cannot be read: disk on fire']);
  });

  it('of one name in one tree: the first path is in force, and the other is told', async () => {
    const { description, messages, book } = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('x', 'first'), [`${AT}/b.md`]: agentText('X', 'second') },
    });
    expect(await description('X')).toBe('first');
    expect(await messages('b.md')).toEqual([expect.stringContaining('a.md has the same name')]);
    expect(await book.hidden()).toMatchObject([{ name: 'X', source: 'project' }]);
  });
});

describe('names', () => {
  it('are found whatever their case, and near ones are offered', async () => {
    const { book } = openAgentWorld({ files: { [`${AT}/r.md`]: agentText('reviewer') } });
    expect((await book.find('Reviewer'))?.name).toBe('reviewer');
    expect(await book.resolve('GENERAL-purpose')).toMatchObject({ ok: true });
    expect(await book.resolve('reviwer')).toEqual({
      ok: false,
      error:
        'there is no agent "reviwer"; did you mean reviewer? Available: Explore, Plan, claude, general-purpose, reviewer, statusline-setup',
    });
    expect(await book.find('__proto__')).toBeUndefined();
  });
});

describe('changes', () => {
  it('of a file are seen when it is looked up, others when asked for', async () => {
    const { book, project, names } = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('a', 'old') },
    });
    const old = await book.find('a');
    project.write(`${AT}/a.md`, agentText('a', 'newer'));
    project.write(`${AT}/b.md`, agentText('b'));
    // What was found is what is used: its text was judged together with its head.
    expect(await old?.prompt()).toBe('P_old');
    expect((await book.find('a'))?.description).toBe('newer');
    expect(await names()).toEqual(['a', 'b']);
    expect(await book.refresh()).toBe(false);
    rmSync(project.at(`${AT}/b.md`));
    expect(await book.refresh()).toBe(true);
    expect(await names()).toEqual(['a']);
  });

  it('of content change the hash, and nothing else does', async () => {
    const { book, project } = openAgentWorld({ files: { [`${AT}/a.md`]: agentText('a') } });
    const before = (await book.find('a'))?.contentHash();
    project.write(`${AT}/a.md`, agentText('a'));
    expect((await book.find('a'))?.contentHash()).toBe(before);
    project.write(`${AT}/a.md`, `${agentText('a')}more`);
    expect((await book.find('a'))?.contentHash()).not.toBe(before);
  });
});

describe('links', () => {
  it('inside of the project are followed, loops end, and one file is one agent', async () => {
    const { names, book } = openAgentWorld({
      files: {
        'shared/a.md': agentText('a'),
        [`${AT}/a.md`]: { symlink: '../../shared/a.md' },
        [`${AT}/z.md`]: { symlink: '../../shared/a.md' },
        [`${AT}/loop`]: { symlink: '.' },
      },
    });
    expect(await names()).toEqual(['a']);
    expect(await book.hidden()).toMatchObject([{ reason: expect.stringContaining('same file') }]);
  });

  it.each([
    [true, ['out']],
    [false, []],
  ])('out of the project need trust (%j)', async (trusted, expected) => {
    const world = openAgentWorld({ trusts: async () => trusted });
    const { root } = world.project;
    mkdirSync(world.project.at(AT), { recursive: true });
    writeFileSync(path.join(root, 'out.md'), agentText('out'));
    writeFileSync(path.join(root, 'key'), agentText('key'));
    symlinkSync(path.join(root, 'out.md'), world.project.at(`${AT}/out.md`));
    symlinkSync(path.join(root, 'key'), world.project.at(`${AT}/key.md`));
    expect(await world.names()).toEqual(expected);
    expect(await world.messages('key.md')).toEqual([expect.stringContaining('no Markdown')]);
    expect(await world.messages('out.md')).toHaveLength(trusted ? 0 : 1);
  });
});

describe('a folder that is not trusted', () => {
  const more =
    'tools: [Read, Bash]\nmodel: opus\nmaxTurns: 3\npermissionMode: acceptEdits\nmemory: user\nomitClaudeMd: true\n' +
    'hooks: {Stop: []}\nmcpServers: [named, {own: {command: x}}]\nportcullis: {asks: deny}\n';
  const files = { [`${AT}/a.md`]: agentText('a', 'd', more) };

  it('holds back what runs, allows or stays; what limits counts', async () => {
    const { book } = openAgentWorld({ files, trusts: async () => false });
    for (const found of [
      await book.find('a'),
      (await book.list()).find(({ name }) => name === 'a'),
    ]) {
      expect(found).toMatchObject({
        tools: ['Read', 'Bash'],
        model: 'opus',
        maxTurns: 3,
        asks: 'deny',
        mcpServers: [{ name: 'named' }],
        omitInstructions: false,
        trusted: false,
        heldBack: ['permissionMode', 'hooks', 'memory', 'mcpServers', 'omitClaudeMd'],
      });
      expect([found?.permissionMode, found?.hooks, found?.memory]).toEqual(Array(3));
    }
  });

  it('that is trusted has them all', async () => {
    const { book } = openAgentWorld({ files });
    const found = await book.find('a');
    expect(found).toMatchObject({ permissionMode: 'acceptEdits', memory: 'user', trusted: true });
    expect(found?.heldBack).toBeUndefined();
  });

  it('may set a mode that only holds back', async () => {
    const { book } = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('a', 'd', 'permissionMode: plan\n') },
      trusts: async () => false,
    });
    expect((await book.find('a'))?.permissionMode).toBe('plan');
  });

  it('is not trusted when nobody can tell', async () => {
    const { book } = openAgentWorld({
      files,
      trusts: () => Promise.reject(new Error('no answer')),
    });
    expect((await book.find('a'))?.trusted).toBe(false);
  });

  it('is asked about at each look, as it may have changed', async () => {
    let trusted = true;
    const { book } = openAgentWorld({ files, trusts: async () => trusted });
    expect((await book.find('a'))?.permissionMode).toBe('acceptEdits');
    trusted = false;
    expect((await book.find('a'))?.permissionMode).toBeUndefined();
  });

  it('is not asked about where nothing depends on it', async () => {
    let asked = 0;
    const { book } = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('a', 'd', 'tools: Read\n') },
      trusts: async () => ++asked > 0,
    });
    await book.list();
    expect(asked).toBe(0);
  });

  it('does not take the name of a user’s agent, however it is written', async () => {
    const world = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('Deployer', 'project') },
      home: { [`${AT}/a.md`]: agentText('deployer', 'user') },
      trusts: async () => false,
    });
    expect(await world.description('Deployer')).toBe('user');
    expect(await world.book.hidden()).toMatchObject([{ name: 'Deployer', source: 'project' }]);
    expect(await world.messages(`project/${AT}/a.md`)).toEqual([
      expect.stringContaining('not trusted'),
    ]);
  });

  it('may replace a built-in, which keeps its limits', async () => {
    const options = { files: { [`${AT}/e.md`]: agentText('Explore', 'project') } };
    const untrusted = openAgentWorld({ ...options, trusts: async () => false });
    const found = await untrusted.book.find('Explore');
    expect(found).toMatchObject({ description: 'project' });
    expect(found?.disallowedTools).toContain('Write');
    const trusted = openAgentWorld(options);
    expect((await trusted.book.find('Explore'))?.disallowedTools).toEqual([]);
  });
});

describe('an administrator’s agents', () => {
  it('that others may write do not count', async () => {
    const world = openAgentWorld({
      fs: (real) => ({
        ...real,
        stat: async (file) => {
          const stat = await real.stat(file);
          return stat === undefined || !file.endsWith('bad.md') ? stat : { ...stat, foreign: true };
        },
      }),
    });
    const directory = path.join(world.project.root, 'managed', AT);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, 'bad.md'), agentText('bad'));
    writeFileSync(path.join(directory, 'good.md'), agentText('good'));
    expect(await world.names()).toEqual(['good']);
    expect(await world.messages('bad.md')).toEqual([expect.stringContaining('others than')]);
  });
});

describe('many', () => {
  it('files are bounded, and it is told', async () => {
    const { book, messages } = openAgentWorld({
      files: { [`${AT}/x.md`]: agentText('x') },
      fs: (real) => ({
        ...real,
        list: async (directory) => {
          const found = await real.list(directory);
          if (!directory.endsWith('agents')) return found;
          const odd = { name: 'a.txt', kind: 'file' as const };
          return [...Array.from({ length: 5_000 }, () => odd), ...found];
        },
      }),
    });
    expect(await book.find('x')).toBeUndefined();
    expect(await messages('agents')).toEqual([expect.stringContaining('only the first')]);
  });
});
