import { describe, expect, it } from 'vitest';
import type { SourcedRule } from '../settings/types.js';
import type { RuleKind } from './rule.js';
import { plainRules } from './rule-plain.js';
import { parseSpec } from './rule-specs.js';
import { RULE_TOOLS } from './rule-tools.js';
import { parseRules } from './rules.js';

const OPTIONS = { cwd: '/data', home: '/home/me' };
const KINDS: readonly RuleKind[] = ['allow', 'ask', 'deny'];

function written(text: string): SourcedRule {
  const value = { text, root: '/srv/root' };
  return { value, source: 'project', trusted: true, file: '/srv/s.json', line: 4 };
}

describe('a rule that is read when it is needed', () => {
  it.each([
    'Bash(npm run build)',
    'Bash(tool1 sub *)',
    'Bash(a*b c)',
    'Read(./dir/**)',
    'Read(/etc/passwd)',
    'Read(//etc/passwd)',
    'Edit(src/../x)',
    'Write(*.key)',
    'NotebookEdit(a b/c)',
    'PowerShell(Get-Item *)',
  ])('means what it would mean if it were read at once: %s', (text) => {
    for (const kind of KINDS) {
      const origin = written(text);
      const rule = plainRules(kind, OPTIONS)(origin);
      const [, tool = '', spec = ''] = /^(\w+)\((.*)\)$/.exec(text) ?? [];
      const context = { kind, origin, options: OPTIONS, tool, written: tool };
      expect(rule?.spec).toEqual(parseSpec(spec, context));
      expect(rule?.specKind).toBe(rule?.spec.kind);
      expect(rule?.label).toBe(`${text} (/srv/s.json:4)`);
      expect(rule?.matchesTool([tool])).toBe(true);
      expect(rule?.matchesTool(['Other'])).toBe(false);
    }
  });

  it.each([
    'Bash(*)',
    'Bash(**)',
    'Bash(command:x)',
    'Bash(npm:*)',
    'Read(~other/x)',
    'Read(!x)',
    'Read("x")',
    'Read($HOME/x)',
    'Read(https://x)',
    'Bash(a) , Read(b)',
    'Bash(a)(b)',
    ' Bash(a)',
    'Bash(a )x',
    'Bash(\u200ba)',
    'WebFetch(domain)',
    'Agent(x)',
    'Skill(x)',
    'TaskList(x)',
    'Nothing(x)',
    'mcp__a(x)',
  ])('is none of those that may be wrong, or mean more: %s', (text) => {
    for (const kind of KINDS) expect(plainRules(kind, OPTIONS)(written(text))).toBeUndefined();
  });

  it.each(['Bash', 'TaskList', 'Agent', 'mcp__files', 'mcp__files__read_file'])(
    'may be a tool alone, and then means all of its calls: %s',
    (text) => {
      const called = text === 'mcp__files' ? 'mcp__files__write' : text;
      for (const kind of KINDS) {
        const rule = plainRules(kind, OPTIONS)(written(text));
        expect(rule?.spec).toEqual({ kind: 'any' });
        expect(rule?.label).toBe(`${text} (/srv/s.json:4)`);
        expect(rule?.matchesTool([called])).toBe(true);
        expect(rule?.matchesTool(['Other'])).toBe(false);
      }
    },
  );

  it.each(['Effect', 'Nowhere', 'mcp__', 'mcp__*', '*', 'bash', 'MCP__files', 'Bash\n'])(
    'is no grant of a tool alone where its name may be wrong: %s',
    (text) => expect(plainRules('allow', OPTIONS)(written(text))).toBeUndefined(),
  );

  it('is of a tool about commands or paths, whose name is written as it is', () => {
    const tools = Object.entries(RULE_TOOLS).filter(([name]) => {
      return plainRules('allow', OPTIONS)(written(`${name}(x)`)) !== undefined;
    });
    const kinds = new Set(tools.map(([, { spec }]) => spec));
    expect([...kinds].sort()).toEqual(['command', 'read-path', 'write-path']);
    expect(plainRules('allow', OPTIONS)(written('bash(x)'))).toBeUndefined();
    expect(plainRules('deny', OPTIONS)(written('bash(x)'))?.spec.kind).toBe('command');
  });

  it('does not change what is said about the others, nor in which order', () => {
    const deny = ['Read(a)', 'Nowhere', 'Bash(b)', 'Edit(~x/y)', 'TaskList(q)'].map(written);
    const { rules, problems } = parseRules({ allow: [], ask: [], deny }, OPTIONS);
    expect(rules.deny.map(({ text }) => text)).toEqual(['Read(a)', 'Nowhere', 'Bash(b)']);
    expect(problems.map(({ severity }) => severity)).toEqual(['note', 'fatal', 'fatal']);
  });
});
