import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourcedRule } from '../settings/types.js';
import { matchesPath } from './path-pattern.js';
import type { Rule, RuleKind } from './rule.js';
import { indexOf } from './rule-index.js';
import { fits } from './rule-match.js';
import { parseRules } from './rules.js';

function rulesOf(kind: RuleKind, texts: readonly string[]): readonly Rule[] {
  const sourced = (text: string): SourcedRule => ({
    value: { text, root: '/p' },
    source: 'user',
    trusted: true,
  });
  const lists = { allow: [], ask: [], deny: [], [kind]: texts.map(sourced) };
  return parseRules(lists, { cwd: '/p', home: '/h' }).rules[kind];
}

const word = fc.constantFrom('git', 'push', 'npm', 'run', 'a', 'b', '-f', 'x.y');
const command = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const pattern = fc
  .tuple(
    fc.array(fc.oneof(word, fc.constantFrom('*', 'g*', '*t')), { minLength: 1, maxLength: 6 }),
    fc.constantFrom('', ':*', ' *', '*'),
  )
  .map(([words, end]) => `Bash(${words.join(' ')}${end})`);

describe('the index of commands', () => {
  it('finds what looking at every rule finds', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 12 }), command, (texts, text) => {
        const rules = rulesOf('deny', texts);
        const { commands, any } = indexOf(rules).forTool(['Bash']);
        const expected = rules.filter(
          ({ spec }) => spec.kind === 'command' && fits(spec.pattern, text),
        );
        const found = [commands.exact(text), ...commands.patternsFor(text)].filter(
          (one) => one !== undefined && fits(one.pattern, text),
        );
        expect(found.length > 0).toBe(expected.length > 0);
        expect(any).toBe(rules.find(({ spec }) => spec.kind === 'any'));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the index of tools', () => {
  it('has the rules of every name that fits, in the order of the list', () => {
    const text = fc.constantFrom(
      'mcp__s',
      'mcp__s__t',
      'mcp__*',
      'Bash',
      'WebFetch(domain:a.b)',
      '*',
    );
    const tool = fc.constantFrom('mcp__s__t', 'mcp__other__t', 'Bash', 'WebFetch', 'Read');
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), tool, (texts, name) => {
        const rules = rulesOf('deny', texts);
        const mine = rules.filter((rule) => rule.matchesTool([name]));
        const { any, others } = indexOf(rules).forTool([name]);
        expect(any).toBe(mine.find(({ spec }) => spec.kind === 'any'));
        expect(others).toEqual(mine.filter(({ spec }) => spec.kind === 'domain'));
      }),
    );
  });
});

const name = fc.constantFrom('src', 'a.key', '.env', 'b', 'SRC', 'deep', 'x.ts');
const path = fc
  .tuple(fc.constantFrom('/p', '/h', '/etc', ''), fc.array(name, { maxLength: 5 }))
  .map(([root, names]) => `${root}/${names.join('/')}`);
const pathRule = fc
  .tuple(
    fc.constantFrom('', './', '/', '//', '~/', '../'),
    fc.array(fc.oneof(name, fc.constantFrom('*', '**', '*.key', '*.ts', 's*')), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.constantFrom('Read', 'Edit'),
  )
  .map(([anchor, names, tool]) => `${tool}(${anchor}${names.join('/')})`);

describe.each<RuleKind>(['deny', 'allow'])('the index of %s paths', (kind) => {
  it('finds what looking at every rule finds', () => {
    fc.assert(
      fc.property(fc.array(pathRule, { maxLength: 12 }), path, (texts, file) => {
        const rules = rulesOf(kind, texts);
        const expected = rules.filter(
          ({ spec }) =>
            spec.kind === 'path' &&
            (matchesPath(spec.pattern, file) ||
              (spec.also !== undefined && matchesPath(spec.also, file))),
        );
        const found = new Set(
          indexOf(rules)
            .paths.covering(file)
            .map(({ rule }) => rule),
        );
        expect([...found].sort(byText)).toEqual([...expected].sort(byText));
      }),
      { numRuns: 3000 },
    );
  });
});

function byText(a: Rule, b: Rule): number {
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
}
