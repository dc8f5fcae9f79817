// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of skills are what is tested
import { afterEach, describe, expect, it } from 'vitest';
import {
  bookOf,
  type RigOptions,
  type SkillRig,
  skillOf,
  skillRig,
} from '../../../test/skills/invoke-rig.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { Skill, SkillHead } from '../skill.js';
import { createSkillGrants, type SkillGrant } from './grant.js';

const agent = (path: string): AgentRef => ({ ...MAIN_AGENT, id: path, path });
const CHILD = agent('main/helper#1');

let rig: SkillRig | undefined;
afterEach(() => rig?.project.remove());

const open = (options: RigOptions = {}): SkillRig => {
  rig = skillRig(bookOf(), options);
  return rig;
};

const outcomes = async (
  { judge }: SkillRig,
  calls: Readonly<Record<string, readonly [string, Record<string, unknown>, AgentRef?]>>,
): Promise<Record<string, string>> => {
  const made: Record<string, string> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { kind, receipt } = await judge(...call);
    made[name] = kind === 'allowed' ? 'runs' : receipt.decidedBy;
  }
  return made;
};

const add = (
  { grants }: SkillRig,
  head: Partial<SkillHead>,
  more: Partial<Skill> = {},
): SkillGrant => {
  const added = grants.add(skillOf('sk', '', head, more), MAIN_AGENT);
  if (!added.ok) throw new Error(added.error);
  return added.value;
};

const CALLS = {
  touch: ['Bash', { command: 'touch x' }],
  mkdir: ['Bash', { command: 'mkdir x' }],
  fetch: ['WebFetch', { url: 'https://example.com' }],
} as const;

describe('allowed-tools', () => {
  it('are allow rules until the next message, with the file in the receipt', async () => {
    const rig = open();
    expect(await outcomes(rig, CALLS)).toEqual({
      touch: 'nobody to ask',
      mkdir: 'nobody to ask',
      fetch: 'nobody to ask',
    });
    const { granted, notes } = add(rig, { allowedTools: ['Bash(touch *)', 'WebFetch'] });
    expect(granted.map(({ value }) => value.text)).toEqual(['Bash(touch *)', 'WebFetch']);
    expect(notes).toEqual([]);
    expect(await outcomes(rig, CALLS)).toEqual({
      touch: 'runs',
      mkdir: 'nobody to ask',
      fetch: 'runs',
    });
    const { receipt } = await rig.judge(...CALLS.touch);
    expect(JSON.stringify(receipt)).toContain('/p/.claude/skills/sk/SKILL.md');
    rig.grants.beginTurn({ said: true });
    expect(await outcomes(rig, CALLS)).toMatchObject({ touch: 'nobody to ask' });
  });

  it('open nothing that a deny or ask rule holds', async () => {
    const rig = open({ deny: ['Bash(touch *)'], ask: ['WebFetch'] });
    add(rig, { allowedTools: ['Bash', 'WebFetch'] });
    expect(await outcomes(rig, CALLS)).toEqual({
      touch: 'deny rules',
      mkdir: 'runs',
      fetch: 'ask rules',
    });
  });

  it('are nothing where the folder is not trusted', async () => {
    const rig = open();
    const { granted, notes } = add(rig, { allowedTools: ['Bash'] }, { trusted: false });
    expect(granted).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('not trusted')]);
    expect(await outcomes(rig, CALLS)).toMatchObject({ touch: 'nobody to ask' });
  });

  it('are nothing where only an administrator grants, unless they are his', () => {
    const rig = open({ managedOnly: 'only managed rules may allow anything here' });
    expect(add(rig, { allowedTools: ['Bash'] }).granted).toEqual([]);
    expect(add(rig, { allowedTools: ['Bash'] }, { source: 'managed' }).granted).toHaveLength(1);
  });

  it('hold for the agent that invoked it alone', async () => {
    const rig = open();
    add(rig, { allowedTools: ['Bash(touch *)'] });
    expect(await outcomes(rig, { child: ['Bash', { command: 'touch x' }, CHILD] })).toEqual({
      child: 'nobody to ask',
    });
  });

  it('are lost one by one with a note', () => {
    const { granted, notes } = add(open(), { allowedTools: ['Bsh(x)', 'Read', '*', 'Bash(x'] });
    expect(granted.map(({ value }) => value.text)).toEqual(['Read']);
    expect(notes).toHaveLength(3);
  });

  it('can be taken back', async () => {
    const rig = open();
    const first = add(rig, { allowedTools: ['Bash(touch *)'] });
    const second = add(rig, { allowedTools: ['Bash(touch *)', 'WebFetch'] });
    second.withdraw();
    expect(await outcomes(rig, CALLS)).toMatchObject({ touch: 'runs', fetch: 'nobody to ask' });
    first.withdraw();
    expect(await outcomes(rig, CALLS)).toMatchObject({ touch: 'nobody to ask' });
  });

  it('may name the skill’s own directory in rules for Bash', async () => {
    const rig = open();
    const { granted, notes } = add(
      rig,
      {
        allowedTools: [
          'Bash(${CLAUDE_SKILL_DIR}/check.sh *)',
          'Bash(${CLAUDE_PLUGIN_ROOT}/x)',
          'Read(${CLAUDE_SKILL_DIR}/**)',
        ],
      },
      { directory: '/opt/skills/sk' },
    );
    expect(granted.map(({ value }) => value.text)).toEqual(['Bash(/opt/skills/sk/check.sh *)']);
    expect(notes).toHaveLength(2);
    expect(
      await outcomes(rig, {
        own: ['Bash', { command: '/opt/skills/sk/check.sh a' }],
        other: ['Bash', { command: '/opt/skills/other/check.sh a' }],
      }),
    ).toEqual({ own: 'runs', other: 'nobody to ask' });
    const odd = { directory: '/opt/my skills/a*' };
    const spoilt = add(rig, { allowedTools: ['Bash(${CLAUDE_SKILL_DIR}/check.sh)'] }, odd);
    expect(spoilt.granted).toEqual([]);
  });
});

describe('disallowed-tools', () => {
  it('hold from when the skill is active until the next message, also for agents below', async () => {
    const rig = open({ allow: ['Bash', 'WebFetch'] });
    const grant = add(rig, { disallowedTools: ['WebFetch', 'Bash(touch *)'] }, { trusted: false });
    expect(await outcomes(rig, CALLS)).toEqual({ touch: 'runs', mkdir: 'runs', fetch: 'runs' });
    grant.restrain();
    expect(await outcomes(rig, CALLS)).toEqual({
      touch: 'deny rules',
      mkdir: 'runs',
      fetch: 'deny rules',
    });
    const below = { child: ['Bash', { command: 'touch x' }, CHILD] } as const;
    expect(await outcomes(rig, below)).toEqual({ child: 'deny rules' });
    rig.grants.beginTurn({ said: true });
    expect(await outcomes(rig, CALLS)).toEqual({ touch: 'runs', mkdir: 'runs', fetch: 'runs' });
  });

  it('that cannot be read keep the skill from being invoked', () => {
    const { grants } = open();
    const skill = skillOf('sk', '', { disallowedTools: ['Bsh'], allowedTools: ['Bash'] });
    expect(grants.add(skill, MAIN_AGENT)).toMatchObject({
      ok: false,
      error: expect.stringContaining('Bsh'),
    });
    expect(grants.rules(MAIN_AGENT).allow).toEqual([]);
  });

  it('of an agent outlive the user’s next message, its grants do not', () => {
    const { grants } = open();
    const skill = skillOf('sk', '', { disallowedTools: ['WebFetch'], allowedTools: ['Bash'] });
    const added = grants.add(skill, CHILD);
    if (added.ok) added.value.restrain();
    grants.beginTurn({ said: true });
    expect(grants.rules(CHILD)).toMatchObject({ allow: [], deny: [{ text: 'WebFetch' }] });
    expect(grants.rules(MAIN_AGENT).deny).toEqual([]);
    grants.release(CHILD.path);
    grants.beginTurn({ said: true });
    expect(grants.rules(CHILD).deny).toEqual([]);
  });

  it('hold on through turns that the user did not begin, where grants end', () => {
    const { grants } = open();
    const skill = skillOf('sk', '', { disallowedTools: ['WebFetch'], allowedTools: ['Bash'] });
    const added = grants.add(skill, MAIN_AGENT);
    if (added.ok) added.value.restrain();
    grants.beginTurn({ said: false });
    expect(grants.rules(MAIN_AGENT)).toMatchObject({ allow: [], deny: [{ text: 'WebFetch' }] });
    grants.beginTurn({ said: true });
    expect(grants.rules(MAIN_AGENT).deny).toEqual([]);
  });

  it('of an agent that has ended hold until the user’s next message, its grants do not', () => {
    const { grants } = open();
    const skill = skillOf('sk', '', { disallowedTools: ['WebFetch'], allowedTools: ['Bash'] });
    const added = grants.add(skill, CHILD);
    if (added.ok) added.value.restrain();
    grants.release(CHILD.path);
    grants.beginTurn({ said: false });
    expect(grants.rules(CHILD)).toMatchObject({ allow: [], deny: [{ text: 'WebFetch' }] });
    expect(grants.rules(MAIN_AGENT).deny).toEqual([]);
    grants.beginTurn({ said: true });
    expect(grants.rules(CHILD).deny).toEqual([]);
  });
});

describe('in a tree of the agent', () => {
  const TREE = '/p/.claude/worktrees/agent-a';

  it('grants are about the tree, bans about both places', () => {
    const grants = createSkillGrants({ cwd: '/p', home: '/h', projectDir: '/p' });
    const skill = skillOf('sk', '', {
      allowedTools: ['Bash(${CLAUDE_PROJECT_DIR}/check.sh *)', 'Edit(./src/**)'],
      disallowedTools: ['Bash(${CLAUDE_PROJECT_DIR}/drop.sh *)', 'Edit(./db/**)'],
    });
    const added = grants.add(skill, CHILD, TREE);
    if (!added.ok) throw new Error(added.error);
    added.value.restrain();
    const { allow, deny } = grants.rules(CHILD);
    expect(allow.map(({ text }) => text)).toEqual([`Bash(${TREE}/check.sh *)`, 'Edit(./src/**)']);
    expect(allow[1]?.spec).toMatchObject({
      pattern: { anchor: TREE.slice(1).split('/') },
    });
    expect(deny.map(({ text }) => text)).toEqual([
      'Bash(/p/drop.sh *)',
      'Edit(./db/**)',
      `Bash(${TREE}/drop.sh *)`,
    ]);
    expect(deny[1]?.spec).toMatchObject({ pattern: { anchor: ['p'] } });
  });
});

describe('fence-tools', () => {
  const fenced = async (fenceTools: readonly string[]): Promise<SkillRig> => {
    const rig = open({ mode: 'bypassPermissions' });
    add(rig, { fenceTools }, { trusted: false }).restrain();
    return rig;
  };
  const look = (rig: SkillRig, at?: AgentRef) =>
    outcomes(rig, {
      read: ['Read', { file_path: rig.project.at('a.txt') }, at],
      outside: ['Read', { file_path: '/etc/hosts' }, at],
      write: ['Write', { file_path: rig.project.at('b.txt'), content: '' }, at],
      ls: ['Bash', { command: 'ls' }, at],
      status: ['Bash', { command: 'git status' }, at],
      both: ['Bash', { command: 'git status; ls' }, at],
      todo: ['TodoWrite', { todos: [] }, at],
      skill: ['Skill', { skill: 'sk' }, at],
    });
  const NOTHING_RUNS = {
    read: 'skill fence',
    outside: 'skill fence',
    write: 'skill fence',
    ls: 'skill fence',
    status: 'skill fence',
    both: 'skill fence',
    todo: 'skill fence',
    skill: 'skill fence',
  };

  it('refuses every tool outside, in every mode, also what only looks', async () => {
    expect(await look(await fenced(['Read']))).toEqual({
      ...NOTHING_RUNS,
      read: 'runs',
      outside: 'runs',
    });
  });

  it.each(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const)(
    'takes nothing that mode %s lets through for its own',
    async (mode) => {
      const rig = open({ mode, allow: ['Bash', 'Read', 'Write', 'Skill'] });
      add(rig, { fenceTools: ['Grep'] }).restrain();
      expect(await look(rig)).toEqual(NOTHING_RUNS);
    },
  );

  it('holds parts of a tool to their part', async () => {
    const rig = await fenced(['Bash(git status)', 'Bash(git log *)', 'Read(./**)']);
    expect(await look(rig)).toEqual({ ...NOTHING_RUNS, read: 'runs', status: 'runs' });
  });

  it('with nothing in it lets nothing through, also when nothing of it can be read', async () => {
    expect(await look(await fenced([]))).toEqual(NOTHING_RUNS);
    expect(await look(await fenced(['Raed']))).toEqual(NOTHING_RUNS);
  });

  it('holds agents below, and ends with the next message', async () => {
    const rig = await fenced([]);
    expect(await look(rig, CHILD)).toEqual(NOTHING_RUNS);
    rig.grants.beginTurn({ said: true });
    expect(await look(rig)).toMatchObject({ read: 'runs', write: 'runs', ls: 'runs' });
  });

  it('lets through only what lies in every fence', async () => {
    const rig = await fenced(['Read', 'TodoWrite']);
    add(rig, { fenceTools: ['Read', 'Write'] }).restrain();
    expect(await look(rig)).toEqual({ ...NOTHING_RUNS, read: 'runs', outside: 'runs' });
  });

  it('says what it is and where it is written', async () => {
    const rig = open({ mode: 'bypassPermissions' });
    const verdict = async () => (await rig.judge('Bash', { command: 'ls' })).receipt;
    add(rig, { fenceTools: ['Read', 'Grep'] }).restrain();
    expect(await verdict()).toMatchObject({
      decision: 'deny',
      decidedBy: 'skill fence',
      reason: "the skill sk lets only Read, Grep be used until the user's next message",
    });
    expect((await verdict()).trace.find(({ guard }) => guard === 'skill fence')?.source).toBe(
      'fence-tools of sk (/p/.claude/skills/sk/SKILL.md)',
    );
  });
});

describe('rules of skills', () => {
  it('are the same object while nothing changes, and each rule stands once', () => {
    const grants = createSkillGrants({ cwd: '/p', home: '/h', projectDir: '/p' });
    const lines = { 'allowed-tools': 3 };
    const skill = skillOf('sk', '', { allowedTools: ['Read'], lines });
    grants.add(skill, MAIN_AGENT);
    grants.add(skill, MAIN_AGENT);
    const rules = grants.rules(MAIN_AGENT);
    expect(grants.rules(MAIN_AGENT)).toBe(rules);
    expect(rules.allow.map(({ label }) => label)).toEqual([
      'Read (/p/.claude/skills/sk/SKILL.md:3)',
    ]);
  });
});
