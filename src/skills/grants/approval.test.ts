import { afterEach, describe, expect, it } from 'vitest';
import {
  bookOf,
  type RigOptions,
  type SkillRig,
  skillOf,
  skillRig,
} from '../../../test/skills/invoke-rig.js';
import { parseYaml } from '../../lib/frontmatter/parse-yaml.js';
import { readSkill } from '../head/head.js';
import type { Skill, SkillHead } from '../skill.js';
import { createSkillApprovals, skillFingerprint } from './approval.js';

let rig: SkillRig | undefined;
afterEach(() => rig?.project.remove());

const judged = async (skill: Skill, options: RigOptions = {}): Promise<string> => {
  rig = skillRig(bookOf(skill), options);
  const { kind, receipt } = await rig.judge('Skill', { skill: skill.name });
  return kind === 'allowed' ? receipt.decidedBy : `asks: ${receipt.reason}`;
};

describe('whether a call of a skill is asked about', () => {
  it.each<[string, Partial<SkillHead>]>([
    ['nothing', {}],
    [
      'words',
      { description: 'd', whenToUse: 'w', displayName: 'n', argumentHint: 'a', arguments: [] },
    ],
    ['a model and an effort', { model: 'haiku', effort: 'low' }],
  ])('not with %s', async (_name, head) => {
    const keys = ['name', 'description', 'when_to_use', 'whenToUse', 'argument-hint', 'arguments'];
    const free = ['license', 'metadata', 'compatibility', 'paths', 'user-invocable'];
    const all = { ...head, keys: [...keys, ...free, 'model', 'effort'] };
    expect(await judged(skillOf('sk', 'text $0', all))).toBe('plain skills');
  });

  it.each(['allowedTools', 'disallowed-tools', 'hooks', 'context', 'agent', 'shell', 'portcullis'])(
    'with the key %s',
    async (key) => {
      const said = await judged(skillOf('sk', 'text', { keys: ['name', key] }));
      expect(said).toBe(`asks: the skill sk (/p/.claude/skills/sk/SKILL.md) sets ${key}`);
    },
  );

  it('with commands, and with a grant that can be read', async () => {
    expect(await judged(skillOf('sk', 'a !`ls` b !`pwd`'))).toContain('runs 2 commands');
    const keys = ['allowed-tools'];
    const granting = skillOf('sk', 'text', { keys, allowedTools: ['Read'] });
    expect(await judged(granting)).toContain('sets allowed-tools');
    expect(await judged(skillOf('sk', 'text', { keys }))).toBe('plain skills');
  });

  it.each([
    ['description: "open', 'plain skills'],
    ['description: Use when: x', 'plain skills'],
    ['description: [a, b]\nallowed-tools: 7', 'plain skills'],
    ['description: Use when: x\nallowed-tools: Bash', 'sets allowed-tools'],
    ['description: Use when: x\nfoo: Bash', 'plain skills'],
    ['version: 1.0.0\nconstructor: x\ntags: [a]', 'plain skills'],
    ['description: Use when: x\n{context: fork', 'context'],
    ['description: d\nallowed-tools: Bash', 'allowed-tools'],
  ])('with the head %j: %s', async (text, expected) => {
    const { head, problems } = await readSkill(`---\n${text}\n---\nBODY`, { parseYaml });
    expect(await judged(skillOf('sk', 'BODY', head, { problems }))).toContain(expected);
  });

  it('not where a rule or a mode allows it; deny and ask rules hold', async () => {
    const skill = skillOf('sk', 'text', { keys: ['hooks'] });
    expect(await judged(skill, { allow: ['Skill(sk)'] })).toBe('allow rules');
    expect(await judged(skill, { allow: ['Skill(/sk)'] })).toBe('allow rules');
    expect(await judged(skill, { mode: 'bypassPermissions' })).toBe('mode');
    expect(await judged(skill, { mode: 'acceptEdits' })).toContain('asks');
    const plain = skillOf('prefix', 'text');
    for (const rule of [
      'Skill',
      'Skill(prefix)',
      'Skill(pre:*)',
      'Skill(/prefix)',
      'Skill(prefix *)',
      'Skill(PRE:*)',
    ]) {
      expect(await judged(plain, { deny: [rule] })).toContain('asks: ');
      expect(await judged(plain, { ask: [rule] })).toContain('asks: the rule');
    }
    expect(await judged(plain, { deny: ['Skill(pref)', 'Skill(fix:*)'] })).toBe('plain skills');
  });

  it('has nothing to say about other tools', async () => {
    rig = skillRig(bookOf(skillOf('sk', 'text')));
    const { receipt } = await rig.judge('WebFetch', { skill: 'sk', url: 'https://example.com' });
    expect(receipt.decision).toBe('deny');
  });
});

describe('the content of a skill', () => {
  const base = skillOf('sk', 'text', { allowedTools: ['Read'] });

  it('is told apart by everything that has an effect', async () => {
    const others = [
      skillOf('sk', 'text ', { allowedTools: ['Read'] }),
      skillOf('sk', 'text', { allowedTools: ['Bash'], keys: ['allowedTools'] }),
      skillOf('sk', 'text', { allowedTools: ['Read'] }, { file: '/q/SKILL.md' }),
      skillOf('sk', 'text', { allowedTools: ['Read'] }, { directory: '/q' }),
      skillOf('sk', 'text', { allowedTools: ['Read'] }, { trusted: false }),
      skillOf('other', 'text', { allowedTools: ['Read'] }, { file: base.file }),
    ];
    const prints = await Promise.all([base, ...others].map(skillFingerprint));
    expect(new Set(prints).size).toBe(prints.length);
    expect(await skillFingerprint(skillOf('sk', 'text', { allowedTools: ['Read'] }))).toBe(
      prints[0],
    );
  });

  it('is noted with the call and forgotten when the call runs', async () => {
    rig = skillRig(bookOf(base));
    const { receipt } = await rig.judge('Skill', { skill: 'sk' });
    const print = await skillFingerprint(base);
    expect(rig.approvals.contentOf(receipt.toolUseId)).toBe(print);
    expect(rig.approvals.take(receipt.toolUseId)).toBe(print);
    expect(rig.approvals.take(receipt.toolUseId)).toBeUndefined();
  });

  it('does not pile up with calls that were refused', async () => {
    rig = skillRig(bookOf(base));
    const ids: string[] = [];
    for (let at = 0; at < 300; at++) {
      ids.push((await rig.judge('Skill', { skill: 'sk' })).receipt.toolUseId);
    }
    const noted = ids.filter((id) => rig?.approvals.contentOf(id) !== undefined);
    expect(noted).toHaveLength(256);
    expect(noted.at(-1)).toBe(ids.at(-1));
  });

  it('that cannot be read holds the call back', async () => {
    const unreadable = skillOf('sk', '', {}, { body: () => Promise.reject(new Error('gone')) });
    rig = skillRig(bookOf(unreadable), { allow: ['Skill'] });
    expect((await rig.judge('Skill', { skill: 'sk' })).receipt.decidedBy).toBe('skill content');
    expect(createSkillApprovals(bookOf(unreadable)).guard.onFailure).toBe('deny');
  });
});

describe('a skill that changes while it is judged', () => {
  it('is let through as what was judged, and as nothing else', async () => {
    const plain = skillOf('sk', 'text');
    const evil = skillOf('sk', '!`touch A`');
    let finds = 0;
    const book = { ...bookOf(plain), find: async () => (finds++ === 0 ? evil : plain) };
    rig = skillRig(book);
    const { kind, receipt } = await rig.judge('Skill', { skill: 'sk' });
    expect(kind).not.toBe('allowed');
    expect(receipt.reason).toContain('runs a command');
  });

  it('is not let through with another text under the same name', async () => {
    let reads = 0;
    const turning = skillOf(
      'sk',
      '',
      {},
      { body: async () => (reads++ === 0 ? '!`touch A`' : 'x') },
    );
    rig = skillRig(bookOf(turning));
    expect((await rig.judge('Skill', { skill: 'sk' })).receipt.reason).toContain('has changed');
  });
});
