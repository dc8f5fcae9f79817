import { afterEach, describe, expect, it } from 'vitest';
import { type AgentsSession, agent, definition, openAgentsSession } from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const skillFile = (name: string, head = 'description: d') => ({
  [`.claude/skills/${name}/SKILL.md`]: `---\n${head}\n---\nTEXT-OF-${name}`,
});

/** What an agent was shown that is given the skills `held`, `free` and `grants`. */
async function shownWith(
  permissions: Readonly<Record<string, readonly string[]>>,
  more = '',
): Promise<string> {
  const head = `name: a\ndescription: d\nskills: held, free, grants${more}`;
  open = await openAgentsSession({
    files: {
      ...skillFile('held'),
      ...skillFile('free'),
      ...skillFile('grants', 'description: d\nallowed-tools: Bash'),
      '.claude/agents/a.md': definition(head),
      '.claude/settings.json': { json: { permissions } },
    },
    main: [agent('TASKWORD', { subagent_type: 'a' }), 'end'],
    agents: { TASKWORD: ['done'] },
  });
  await open.say('go');
  const [first = ''] = open.requests('TASKWORD').filter((text) => text.includes('TEXT-OF-'));
  return [...new Set(first.match(/TEXT-OF-\w+/g))].join();
}

describe('skills that a definition gives an agent', () => {
  it('are given to one that cannot start skills by itself', async () => {
    const all = 'TEXT-OF-held,TEXT-OF-free,TEXT-OF-grants';
    expect(await shownWith({}, '\ntools: Read')).toBe(all);
  });

  it.each([
    ['deny', 'Skill(held)', 'denies it'],
    ['deny', 'Skill(he*)', 'denies it'],
    ['ask', 'Skill(held)', 'no person is asked'],
  ])('are left out with a notice where a rule holds them: %s %s', async (list, rule, said) => {
    expect(await shownWith({ [list]: [rule] })).toBe('TEXT-OF-free,TEXT-OF-grants');
    const notices = open?.notices.join('\n');
    expect(notices).toContain('the skill held is not given to main/');
    expect(notices).toContain(said);
  });

  it('are left out where no skill may be started', async () => {
    expect(await shownWith({ deny: ['Skill'] })).toBe('');
  });
});
