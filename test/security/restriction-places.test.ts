import { describe, expect, it } from 'vitest';
import { type Attempt, attempt } from './attempt.js';

/** Everything that a restriction may keep from being done is allowed otherwise. */
const ALLOWED = { allow: ['Bash', 'Write', 'Edit', 'Skill'] };
const enforced = (rules: object) => `x\n\n\`\`\`portcullis\n${JSON.stringify(rules)}\n\`\`\`\n`;
const skill = (head: string) => `---\nname: s\ndescription: d\n${head}\n---\nhi\n`;
const settings = (more: object = {}) => ({ permissions: ALLOWED, ...more });
const guard = (rule: string) => ({
  PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'exit 2', if: rule }] }],
});

const PLACES: Readonly<Record<string, (rule: string) => Attempt>> = {
  deny: (rule) => ({ settings: { permissions: { ...ALLOWED, deny: [rule] } } }),
  ask: (rule) => ({ settings: { permissions: { ...ALLOWED, ask: [rule] } } }),
  'rules of an agent': (rule) => ({
    settings: settings({ portcullis: { agents: { main: { deny: [rule] } } } }),
  }),
  'the command line': (rule) => ({ settings: settings(), config: { disallowedTools: [rule] } }),
  'an enforced block': (rule) => ({
    settings: settings(),
    files: { 'CLAUDE.md': enforced({ deny: [rule] }) },
  }),
  'an enforced block of a folder': (rule) => ({
    settings: settings(),
    files: { 'sub/CLAUDE.md': enforced({ deny: [rule] }) },
  }),
  'an enforced block of a folder that asks': (rule) => ({
    settings: settings(),
    files: { 'sub/CLAUDE.md': enforced({ ask: [rule] }) },
  }),
  'a folder without trust': (rule) => ({
    settings: settings(),
    files: { '.claude/settings.json': { json: { permissions: { deny: [rule] } } } },
  }),
  'the if of a hook': (rule) => ({ settings: settings({ hooks: guard(rule) }) }),
  'disallowed-tools of a skill': (rule) => ({
    settings: settings(),
    files: { '.claude/skills/s/SKILL.md': skill(`disallowed-tools: ${rule}`) },
  }),
};

const WRITES = [
  { tool: 'Bash', input: { command: 'touch sub/made' } },
  { tool: 'Write', input: { file_path: 'sub/written', content: 'x' } },
];

async function made(given: Attempt): Promise<readonly string[]> {
  const first = { tool: 'Skill', input: { skill: 's' } };
  const files = { 'sub/x': '', ...given.files };
  const { project } = await attempt({ ...given, files, calls: [first, ...WRITES] });
  return ['sub/made', 'sub/written'].filter((name) => project.exists(name));
}

describe('a restriction means the same wherever it stands', () => {
  const rules = ['Effect(writes)', 'Edit(**)', '*'];
  const cases = Object.entries(PLACES).flatMap(([place, of]) =>
    rules.map((rule) => [rule, place, of] as const),
  );
  it.each(cases)('%s in %s', async (rule, _place, of) => {
    expect(await made(of(rule))).toEqual([]);
  });

  it.each(Object.entries(PLACES))(
    'one on deletions lets be made what it is not about: %s',
    async (_place, of) => {
      expect(await made(of('Effect(deletes)'))).toEqual(['sub/made', 'sub/written']);
    },
  );
});

describe('a rule on effects in the file of a folder', () => {
  it.each(['F=sub/x; rm "$F"', 'chmod -R 700 sub', 'find sub -delete', 'rm -r sub'])(
    'is asked about where a command may reach into it: %s',
    async (command) => {
      const files = { 'sub/x': '', 'sub/CLAUDE.md': enforced({ deny: ['Effect(writes)'] }) };
      const { results } = await attempt({ settings: settings(), files, calls: [command] });
      expect(results[0]).toMatchObject({ ran: false });
    },
  );

  it('says nothing about other folders', async () => {
    const files = { 'sub/CLAUDE.md': enforced({ deny: ['Effect(writes)'] }), 'other/x': '' };
    const calls = ['touch other/y', 'cat sub/CLAUDE.md'];
    const { results } = await attempt({ settings: settings(), files, calls });
    expect(results.map(({ ran }) => ran)).toEqual([true, true]);
  });
});
