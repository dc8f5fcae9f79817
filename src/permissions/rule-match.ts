import { matchesDomain } from './domain.js';
import { matchesPath, type PathPattern } from './path-pattern.js';
import type { PathSpellings } from './paths.js';
import type { CommandPattern, Rule } from './rules.js';
import type { ShellWord, SimpleCommand } from './shell/model.js';
import { canonicalText } from './shell/runners.js';
import type { CallView, TouchedPath } from './view.js';
import { couldMatch, matches, mustMatch } from './wildcard.js';

export interface RestrictionMatch {
  readonly rule: Rule;
  /** `maybe`: some course the command could take is covered, and nobody can tell which it takes. */
  readonly sure: 'yes' | 'maybe';
}

/** The first restriction that covers the call; a sure match goes before one that is only possible. */
export async function findRestriction(
  rules: readonly Rule[],
  view: CallView,
): Promise<RestrictionMatch | undefined> {
  let possible: RestrictionMatch | undefined;
  for (const rule of rules) {
    const sure = await restricts(rule, view);
    if (sure === 'yes') return { rule, sure };
    if (sure === 'maybe') possible ??= { rule, sure };
  }
  return possible;
}

/** Whether shell code must be read to decide these rules for this call. */
export function needsShell(rules: readonly Rule[], view: CallView): boolean {
  if (view.call.subject.command === undefined) return false;
  return rules.some(
    (rule) =>
      rule.spec.kind === 'path' || (rule.spec.kind === 'command' && rule.matchesTool(view.names)),
  );
}

async function restricts(rule: Rule, view: CallView): Promise<'yes' | 'maybe' | 'no'> {
  const { spec } = rule;
  if (spec.kind === 'path') {
    const touched = [...(await view.paths()), ...(await view.shellPaths()).paths];
    return touched.some((path) => pathIsRestricted(path, spec)) ? 'yes' : 'no';
  }
  if (!rule.matchesTool(view.names)) return 'no';
  switch (spec.kind) {
    case 'any':
      return 'yes';
    case 'command':
      return restrictsCommand(spec.pattern, view);
    case 'domain':
      return matchesDomain(spec.pattern, view.call.subject.url ?? '') ? 'yes' : 'no';
    case 'field': {
      const value = scalarText(view.call.input, spec.field)?.toLowerCase();
      return value !== undefined && matches(spec.value, value) ? 'yes' : 'no';
    }
  }
}

/** What may not be read may not be written either. */
function pathIsRestricted(
  { access, spellings }: TouchedPath,
  spec: { access: 'read' | 'write'; pattern: PathPattern },
): boolean {
  if (spec.access === 'write' && access === 'read') return false;
  return [spellings.literal, ...spellings.resolved].some((path) => matchesPath(spec.pattern, path));
}

/** For a grant, both the name and where it leads must be covered. */
export function pathIsGranted(pattern: PathPattern, spellings: PathSpellings): boolean {
  return (
    matchesPath(pattern, spellings.literal) &&
    spellings.resolved.some((path) => matchesPath(pattern, path))
  );
}

async function restrictsCommand(
  pattern: CommandPattern,
  view: CallView,
): Promise<'yes' | 'maybe' | 'no'> {
  if (view.call.subject.command?.trim() === pattern.text) return 'yes';
  const reading = await view.shell();
  let result: 'maybe' | 'no' = 'no';
  for (const command of reading?.commands ?? []) {
    if (command.raw === pattern.text) return 'yes';
    for (const words of command.views) {
      const sure = restrictsWords(pattern, words);
      if (sure === 'yes') return 'yes';
      if (sure === 'maybe') result = 'maybe';
    }
  }
  return result;
}

function restrictsWords(
  pattern: CommandPattern,
  words: readonly ShellWord[],
): 'yes' | 'maybe' | 'no' {
  if (words.length === 0) return 'no';
  const open = words.findIndex((word) => !word.literal);
  const spellings = withProgramName(open === -1 ? words : words.slice(0, open + 1));
  for (const spelled of spellings) {
    if (open === -1) {
      if (commandFits(pattern, canonicalText(spelled))) return 'yes';
    } else if (pattern.tokens !== undefined && mustMatch(pattern.tokens, beginning(spelled))) {
      return 'yes';
    }
  }
  if (open <= 0) return 'no';
  return spellings.some((spelled) => couldFit(pattern, beginning(spelled))) ? 'maybe' : 'no';
}

/** The text in front of the unknown word, and the part of that word that is known. */
function beginning(words: readonly ShellWord[]): string {
  const last = words.at(-1);
  return `${canonicalText(words.slice(0, -1))} ${last?.value ?? ''}`;
}

function couldFit({ tokens, text }: CommandPattern, start: string): boolean {
  return tokens === undefined ? text.startsWith(start) : couldMatch(tokens, start);
}

/** As written, and with the directory of the program left out. */
function withProgramName(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const [first, ...rest] = words;
  if (first === undefined || !first.value.includes('/')) return [words];
  const value = first.value.split('/').at(-1) ?? first.value;
  return [words, [{ ...first, value }, ...rest]];
}

/** Whether a whole command fits a pattern for commands. */
export function commandFits({ tokens, text }: CommandPattern, command: string): boolean {
  if (tokens === undefined) return text === command;
  return matches(tokens, command) || matches(tokens, `${command} `);
}

/** An exact rule goes by what was typed, a pattern by what the shell will make of it. */
export function grantsCommand(
  pattern: CommandPattern,
  command: Pick<SimpleCommand, 'raw'>,
  words: readonly ShellWord[],
): boolean {
  if (pattern.tokens === undefined) return pattern.text === command.raw;
  return commandFits(pattern, canonicalText(words));
}

/** Text of a top-level input that is a string, number or boolean. */
export function scalarText(
  input: Readonly<Record<string, unknown>>,
  field: string,
): string | undefined {
  const value = Object.hasOwn(input, field) ? input[field] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
