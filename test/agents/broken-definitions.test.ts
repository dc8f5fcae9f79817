import { afterEach, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { type CommandRun, runPortcullis } from '../support/run-command.js';
import { type AgentsSession, agent, definition, openAgentsSession } from './core-rig.js';
import { agentText, openAgentWorld } from './definitions-rig.js';

const AT = '.claude/agents';
const HEAD = '---\nname: a\ndescription: x\ndisallowedTools: Bash\n';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

describe('a file that cannot be read', () => {
  it.each([
    ['a head that is not closed', 'f.md', HEAD],
    ['a head that is too long', 'f.md', `${HEAD}foo: ${'z'.repeat(400_000)}\n---\np`],
    ['too many bytes', 'f.md', `${HEAD}---\n${'y'.repeat(5 << 20)}`],
    ['what is not a text', 'f.md', `${HEAD}color: \0\n---\np`],
    ['two names', 'f.md', '---\nname: "a" # first\nname: b\ndescription: x\n---\np'],
    ['a name that is empty', 'a.md', '---\nname:\ndescription: x\n---\np'],
    ['neither text nor a name', 'A.md', '\0\0'],
  ])('keeps its name with %s', async (_what, file, text) => {
    const { book, names } = openAgentWorld({
      files: { [`${AT}/${file}`]: text },
      home: { [`${AT}/a.md`]: agentText('a', 'users') },
    });
    expect(await names()).toEqual([]);
    expect(await book.resolve('a')).toEqual({
      ok: false,
      error: expect.stringMatching(/^the agent "a" is not in force: .*\.md: ./i),
    });
    expect(await book.problems()).toContainEqual(
      expect.objectContaining({ severity: 'error', name: expect.stringMatching(/^a$/i) }),
    );
  });

  it('keeps its name when it cannot be opened, and has it when it can', async () => {
    let isBroken = true;
    const { book, description } = openAgentWorld({
      files: { [`${AT}/a.md`]: agentText('a', 'mine') },
      home: { [`${AT}/a.md`]: agentText('a', 'users') },
      fs: (real) => ({
        ...real,
        readWithStat: (file, options) =>
          isBroken && !file.includes('home')
            ? Promise.reject(new Error('disk on fire'))
            : real.readWithStat(file, options),
      }),
    });
    expect(await book.resolve('a')).toMatchObject({ ok: false });
    isBroken = false;
    expect(await description('a')).toBe('mine');
  });

  it('does not take the name of a user in a folder that is not trusted', async () => {
    const { description } = openAgentWorld({
      files: { [`${AT}/a.md`]: HEAD },
      home: { [`${AT}/a.md`]: agentText('a', 'users') },
      trusts: async () => false,
    });
    expect(await description('a')).toBe('users');
  });

  it('is text for people where nothing in it looks like a name', async () => {
    const { book } = openAgentWorld({ files: { [`${AT}/a.md`]: '---\nSome text\n' } });
    expect(await book.documents()).toHaveLength(1);
    expect(await book.problems()).toEqual([]);
  });
});

describe('a session with definitions that are wrong', () => {
  it('says so once, in one line, as a notice', async () => {
    open = await openAgentsSession({
      files: { [`${AT}/a.md`]: definition('name: a\ndescription: d\nmaxTurns: many') },
      main: [agent('TASKWORD', { subagent_type: 'general-purpose' }), 'one', 'two'],
      agents: { TASKWORD: ['done'] },
    });
    await open.say('go');
    await open.say('again');
    const told = open.notices.filter((text) => text.includes('not in force'));
    expect(told).toEqual([expect.stringMatching(/a\.md:4: "maxTurns" is not a whole number.*$/)]);
  });

  it('says nothing where all are right', async () => {
    open = await openAgentsSession({
      files: { [`${AT}/a.md`]: definition('name: a\ndescription: d\nwhatever: 1') },
      main: ['one'],
    });
    await open.say('go');
    expect(open.notices).toEqual([]);
  });
});

describe('types that a definition names by the older name of the tool', () => {
  it.each([
    ['tools: Task(Explore, Plan)', 'Explore', true],
    ['tools: Task(Explore, Plan)', 'general-purpose', false],
    ['disallowedTools: Task(Plan, general-purpose)', 'general-purpose', false],
  ])('%s: %s is started: %s', async (head, type, isStarted) => {
    open = await openAgentsSession({
      files: { [`${AT}/a.md`]: definition(`name: a\ndescription: d\n${head}`) },
      main: [agent('OUTERWORD', { subagent_type: 'a' }), 'end'],
      agents: {
        INNERWORD: ['done'],
        OUTERWORD: [agent('INNERWORD', { subagent_type: type }), 'over'],
      },
    });
    await open.say('start');
    const started = open.news('task_started').map((one) => JSON.stringify(one));
    expect(started).toHaveLength(isStarted ? 2 : 1);
  });
});

describe('portcullis agents, of limits that nobody can be held to', () => {
  let project: TempProject | undefined;
  const before = { cwd: process.cwd(), home: process.env.HOME };
  afterEach(() => {
    process.chdir(before.cwd);
    process.env.HOME = before.home;
    project?.remove();
  });

  async function said(argv: readonly string[], head: string): Promise<CommandRun> {
    project = makeTempProject({ files: { [`${AT}/a.md`]: agentText('a', 'd', `${head}\n`) } });
    process.chdir(project.directory);
    process.env.HOME = project.home;
    return await runPortcullis('agents', ...argv);
  }

  it.each([
    'disallowedTools: WebFetch(foo)',
    'tools: Grep(x), WebFetch(foo)',
    'disallowedTools: mcp__github(x)',
  ])('%s: is an error', async (head) => {
    const words = /a\.md:2: error: ".*" of the agent a cannot be kept/;
    for (const argv of [[], [AT]]) {
      const { code, text } = await said(['validate', ...argv], head);
      expect(text).toMatch(words);
      expect(code).toBe(1);
    }
    expect((await said(['list'], head)).text).toMatch(words);
    expect((await said(['show', 'a'], head)).text).toContain('cannot be started: "');
    expect((await said(['show', 'a', '--json'], head)).text).toContain('"problems": [');
  });

  it('are none where all can be kept', async () => {
    const head = 'tools: Bash(git *), Task(Explore, Plan)\ndisallowedTools: WebFetch(domain:a.b)';
    expect(await said(['validate'], head)).toMatchObject({ code: 0 });
    expect((await said(['show', 'a', '--json'], head)).text).not.toContain('problems');
  });
});
