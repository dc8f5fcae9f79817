import type { CommandPattern, Rule } from './rule.js';

export interface CommandRule {
  readonly rule: Rule;
  readonly pattern: CommandPattern;
  /** Place in the list. */
  readonly order: number;
}

/** Rules for commands, by the words that they begin with. */
export interface CommandIndex {
  readonly isEmpty: boolean;
  /** The rule of exactly this text. */
  exact(text: string): CommandRule | undefined;
  /** Every pattern that could cover a command of this text, in the order of the list. */
  patternsFor(text: string): readonly CommandRule[];
  /** Every rule that could cover a command that begins like this. */
  rulesBeginning(text: string): readonly CommandRule[];
  /** The rules whose first word is this. */
  rulesNaming(program: string): readonly CommandRule[];
}

/** A rule is filed under at most so many of its first words. */
const MOST_WORDS = 4;

export function createCommandIndex(rules: readonly Rule[]): CommandIndex {
  const exact = new Map<string, CommandRule>();
  const byHead = new Map<string, CommandRule[]>();
  const byWords = new Map<string, CommandRule[]>();
  const open: CommandRule[] = [];
  rules.forEach((rule, order) => {
    if (rule.spec.kind !== 'command') return;
    const { pattern } = rule.spec;
    const entry = { rule, pattern, order };
    if (pattern.tokens === undefined) {
      if (!exact.has(pattern.text)) exact.set(pattern.text, entry);
      push(byHead, firstWords(pattern.text, 1), entry);
      return;
    }
    const known = wordsInFront(pattern.tokens);
    if (known === '') open.push(entry);
    else {
      push(byHead, firstWords(known, 1), entry);
      push(byWords, firstWords(known, MOST_WORDS), entry);
    }
  });
  const inOrder = (lists: readonly (readonly CommandRule[] | undefined)[]) => {
    const found = lists.flatMap((list) => list ?? []);
    return found.length < 2 ? found : found.sort((a, b) => a.order - b.order);
  };
  return {
    isEmpty: byHead.size === 0 && open.length === 0,
    exact: (text) => exact.get(text),
    patternsFor(text) {
      const lists: (readonly CommandRule[] | undefined)[] = [open];
      let end = -1;
      for (let count = 0; count < MOST_WORDS; count++) {
        end = text.indexOf(' ', end + 1);
        lists.push(byWords.get(end === -1 ? text : text.slice(0, end)));
        if (end === -1) break;
      }
      return inOrder(lists);
    },
    rulesNaming: (program) => byHead.get(program) ?? [],
    rulesBeginning: (text) => inOrder([open, byHead.get(firstWords(text, 1))]),
  };
}

function push(map: Map<string, CommandRule[]>, key: string, entry: CommandRule): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}

function firstWords(text: string, count: number): string {
  let end = -1;
  for (let at = 0; at < count; at++) {
    end = text.indexOf(' ', end + 1);
    if (end === -1) return text;
  }
  return text.slice(0, end);
}

/** The whole words that every command begins with that fits; empty when the first is a pattern. */
function wordsInFront(tokens: NonNullable<CommandPattern['tokens']>): string {
  let text = '';
  for (const token of tokens) {
    if (token.kind !== 'char') break;
    text += token.char;
  }
  // The last word may go on where the wildcard begins.
  return text.length === tokens.length ? text : text.slice(0, Math.max(0, text.lastIndexOf(' ')));
}
