import { own } from '../../lib/own.js';
import type { SubcommandFacts } from '../shell/effects/facts.js';
import { simpleFileUse } from '../shell/effects/uses.js';
import { programOf, type ShellWord } from '../shell/model.js';
import { factsOf } from '../shell/programs/index.js';
import { hazardsIn } from '../shell/runners/hazards.js';
import { LAUNCHERS, runsAfter, SHELLS, WRAPPERS } from '../shell/runners/tables.js';

/**
 * How many leading words of a command a rule for "commands like this" should fix, or undefined when
 * every such rule would open more than what was asked.
 */
export function prefixLength(words: readonly ShellWord[]): number | undefined {
  const program = programOf(words);
  if (program === undefined || words[0]?.value !== program) return undefined;
  const { destroys, subcommands } = factsOf(words);
  if (runsAnything(words) || destroys === true) return undefined;
  if (simpleFileUse(words)?.writes[0] !== undefined) return undefined;
  const literal = words.every((word) => word.literal && word.pattern === undefined);
  if (!literal || hazardsIn({ words, fed: false }).length > 0) return undefined;
  if (subcommands === undefined) return words.length > 1 ? 1 : undefined;
  return subcommandLength(words, subcommands);
}

/** Whether it is a program that runs whatever its arguments name. */
export function runsAnything(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  const runsOthers = WRAPPERS.has(program) || LAUNCHERS.has(program) || SHELLS.has(program);
  return runsOthers || factsOf(words).runsAnything === true;
}

function subcommandLength(
  words: readonly ShellWord[],
  { words: count = 1, groups, runs }: SubcommandFacts,
): number | undefined {
  const texts = words.map((word) => word.value);
  const [, first = ''] = texts;
  const isGroup = groups?.test(first) === true;
  const runsNext = own(runsAfter, programOf(words) ?? '')?.test(first) === true && !isGroup;
  // An option in front of the subcommand may change what it does.
  if (!SUBCOMMAND.test(first) || runsNext || runs?.test(first) === true) return undefined;
  const length = 1 + count + (isGroup ? 1 : 0);
  const named = texts.slice(1, length);
  const isWhole = named.length === length - 1 && named.every((text) => SUBCOMMAND.test(text));
  return isWhole ? length : undefined;
}

const SUBCOMMAND = /^[a-z][a-z0-9:._-]*$/i;
