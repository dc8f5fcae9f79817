import type { CallView } from '../gate/view.js';
import type { PathSpellings } from '../paths/paths.js';
import { manyNamedAmong } from '../paths/paths.js';
import type { ShellWord } from '../shell/model.js';
import { namesInForeignCode } from '../shell/runners/foreign-code.js';
import { canonicalText } from '../shell/runners/runners.js';
import { matchesDomain } from './domain.js';
import {
  exactRule,
  hasPathRules,
  pathRulesIn,
  restrictingPath,
  rulesForTool,
  rulesNaming,
  type ToolRules,
} from './list.js';
import { matchesPath, type PathPattern } from './path-pattern.js';
import type { CommandPattern, RestrictionMatch, Rule, RuleSpec } from './rule.js';
import { couldMatch, matches, mustMatch, segmentTokens } from './wildcard.js';

type Found = Promise<RestrictionMatch | undefined>;

const judged = new WeakMap<CallView, Map<readonly Rule[], Found>>();

/**
 * A restriction that covers the call; a sure match goes before one that is only possible. Looked for
 * once per call and list.
 */
export async function findRestriction(rules: readonly Rule[], view: CallView): Found {
  if (rules.length === 0) return undefined;
  const mine = judged.get(view) ?? new Map<readonly Rule[], Found>();
  judged.set(view, mine);
  const found = mine.get(rules) ?? search(rules, view);
  mine.set(rules, found);
  return found;
}

async function search(rules: readonly Rule[], view: CallView): Found {
  const mine = rulesForTool(rules, view.names);
  const hasPaths = hasPathRules(rules);
  if (mine.any !== undefined) return { rule: mine.any, sure: 'yes' };
  const other = mine.others.find((rule) => inputIsCovered(rule.spec, view));
  if (other !== undefined) return { rule: other, sure: 'yes' };
  const { paths, command } = view.call.subject;
  let twin: RestrictionMatch | undefined;
  if ((paths.length > 0 || command !== undefined) && hasPaths) {
    const rule =
      restrictingPath(rules, await view.paths(), view.judge.budget) ??
      restrictingPath(rules, (await view.shellPaths()).paths, view.judge.budget);
    if (rule !== undefined) return { rule, sure: 'yes' };
    twin = await otherNamed(rules, view);
    if (twin?.sure === 'yes') return twin;
  }
  if (command === undefined) return twin;
  const tree = hasPaths ? await searchedTrees(rules, view) : undefined;
  if (tree?.sure === 'yes' || mine.commands.length === 0) return tree ?? twin;
  const found = await restrictingCommand(mine.commands, view);
  return found?.sure === 'yes' ? found : (tree ?? twin ?? found);
}

/** Of files that have several names: whether a rule covers another one than the call uses. */
async function otherNamed(rules: readonly Rule[], view: CallView): Found {
  const touched = [...(await view.paths()), ...(await view.shellPaths()).paths];
  const found = await manyNamedAmong(touched, view.judge);
  if (found.length === 0) return undefined;
  const { restrictedTwin } = await import('../paths/hard-links.js');
  const { roots, cwd } = view.call.workspace;
  return await restrictedTwin(rules, found, {
    judge: view.judge,
    bases: [...roots, cwd, view.home, '/'],
  });
}

/** What commands that go through directories by themselves would find there. */
async function searchedTrees(rules: readonly Rule[], view: CallView): Found {
  const { restrictingTree } = await import('../paths/tree-restriction.js');
  return await restrictingTree(rules, view);
}

/** Whether one of these rules could cover a call like this one, whatever else stands in its input. */
export function mayRestrict(rules: readonly Rule[], { call, names }: CallView): boolean {
  if (rules.length === 0) return false;
  const { paths, command } = call.subject;
  if (paths.length > 0 || command !== undefined) return true;
  const { any, others } = rulesForTool(rules, names);
  return any !== undefined || others.length > 0;
}

/** Whether shell code must be read to decide these rules for this call. */
export function needsShell(rules: readonly Rule[], view: CallView): boolean {
  if (view.call.subject.command === undefined || rules.length === 0) return false;
  return hasPathRules(rules) || rulesForTool(rules, view.names).commands.length > 0;
}

/** Whether a rule about a host or an input covers the call. */
function inputIsCovered(spec: RuleSpec, { call }: CallView): boolean {
  if (spec.kind === 'domain') return matchesDomain(spec.pattern, call.subject.url ?? '');
  if (spec.kind !== 'field') return false;
  const value = fieldText(spec, call.input)?.toLowerCase();
  return value !== undefined && matches(spec.value, value);
}

/** For a grant, both the name and where it leads must be covered. */
function pathIsGranted(pattern: PathPattern, spellings: PathSpellings): boolean {
  return (
    matchesPath(pattern, spellings.literal) &&
    spellings.resolved.some((path) => matchesPath(pattern, path))
  );
}

/** The first grant that covers the path and that `accept` takes. */
export function grantingPath(
  rules: readonly Rule[],
  spellings: PathSpellings,
  accept: (rule: Rule) => boolean,
): Rule | undefined {
  return pathRulesIn(rules).find(
    ({ rule, spec }) => accept(rule) && pathIsGranted(spec.pattern, spellings),
  )?.rule;
}

type CommandRules = ToolRules['commands'];

async function restrictingCommand(rules: CommandRules, view: CallView): Found {
  const typed = view.call.subject.command?.trim() ?? '';
  const whole = exactRule(rules, typed) ?? ruleAsWritten(rules, typed);
  if (whole !== undefined) return matchOf(whole, 'yes');
  let possible: RestrictionMatch | undefined;
  for (const command of (await view.shell())?.commands ?? []) {
    const { raw, timed, words, views, input } = command;
    const written = exactRule(rules, raw) ?? ruleAsWritten(rules, raw);
    if (written !== undefined) return matchOf(written, 'yes');
    for (const one of timed === undefined ? views : [...views, [...timed, ...words]]) {
      view.judge.budget.spend(one.length + (input.length >> 4) + rules.length);
      const found = restrictingWords(rules, one);
      if (found?.sure === 'yes') return found;
      // Code of another language that speaks of what a rule is about may do it.
      possible ??= found ?? firstNaming(rules, namesInForeignCode(one, input));
    }
  }
  return possible;
}

/** The rule with signs of the shell language that fits what was typed: `cd * && rm *`. */
function ruleAsWritten(rules: CommandRules, raw: string): CommandRules[number] | undefined {
  const written = rules.filter(({ pattern }) => pattern.asWritten === true);
  if (written.length === 0) return undefined;
  const texts = [raw, raw.replace(/\s+/g, ' ')];
  return written.find(({ pattern }) => texts.some((text) => fits(pattern, text)));
}

function matchOf(
  found: CommandRules[number] | undefined,
  sure: RestrictionMatch['sure'],
): RestrictionMatch | undefined {
  return found && { rule: found.rule, sure };
}

function firstNaming(rules: CommandRules, names: readonly string[]): RestrictionMatch | undefined {
  return matchOf(names.map((name) => rulesNaming(rules, name)[0]).find(Boolean), 'maybe');
}

function restrictingWords(
  rules: CommandRules,
  words: readonly ShellWord[],
): RestrictionMatch | undefined {
  if (words.length === 0) return undefined;
  const find = (test: (pattern: CommandPattern) => boolean) =>
    rules.find(({ pattern }) => test(pattern));
  const open = words.findIndex((word) => !word.literal);
  const spellings = withProgramName(open === -1 ? words : words.slice(0, open + 1));
  if (open === -1) {
    const texts = spellings.map(canonicalText);
    const found = find((pattern) => texts.some((text) => fits(pattern, text)));
    return matchOf(found, 'yes') ?? behindOptions(rules, spellings) ?? expandedWords(rules, words);
  }
  const starts = spellings.map(beginning);
  const certain = find(({ tokens }) => starts.some((start) => tokens && mustMatch(tokens, start)));
  if (certain !== undefined || open === 0) return matchOf(certain, 'yes');
  // All words from there on may turn out empty.
  const mayVanish = words.slice(open).every(({ literal, value }) => !literal && value === '');
  const shorter = mayVanish ? spellings.map((spelled) => canonicalText(spelled.slice(0, -1))) : [];
  const possible = find(
    (pattern) =>
      starts.some((start) => couldFit(pattern, start)) ||
      shorter.some((text) => fits(pattern, text)),
  );
  const hasPattern = words.slice(0, open).some(({ pattern }) => pattern !== undefined);
  return matchOf(possible, 'maybe') ?? (hasPattern ? expandedWords(rules, words) : undefined);
}

/** `git -C dir push` may be a `git push`: options in front of a subcommand, each with a value or without. */
function behindOptions(
  rules: CommandRules,
  spellings: readonly (readonly ShellWord[])[],
): RestrictionMatch | undefined {
  for (const [head, ...rest] of spellings) {
    const isOption = (at: number): boolean => /^-./.test(rest[at]?.value ?? '');
    for (let at = 0; head !== undefined && (isOption(at) || isOption(at - 1)); at++) {
      // fail-closed: with so many options, every rule about the program may apply.
      if (at === MOST_LEADING_WORDS) return firstNaming(rules, [head.value]);
      const text = canonicalText([head, ...rest.slice(at + 1)]);
      const found = rules.find(({ pattern }) => fits(pattern, text));
      if (found !== undefined) return matchOf(found, 'maybe');
    }
  }
  return undefined;
}

const MOST_LEADING_WORDS = 32;

/** A pattern of names may become what a rule names, and an empty word is none to most programs. */
function expandedWords(
  rules: CommandRules,
  words: readonly ShellWord[],
): RestrictionMatch | undefined {
  const full = words.filter(({ value }) => value !== '');
  for (const spelled of withProgramName(words)) {
    const [head] = spelled;
    if (head === undefined) continue;
    const text = full.length === words.length ? '' : canonicalText([head, ...full.slice(1)]);
    const found = rulesNaming(rules, head.value).find(
      ({ pattern }) => fits(pattern, text) || couldExpandTo(pattern, spelled),
    );
    if (found !== undefined) return matchOf(found, 'maybe');
  }
  return undefined;
}

/** Whether the first pattern among the words fits what the rule has in its place. */
function couldExpandTo(pattern: CommandPattern, words: readonly ShellWord[]): boolean {
  const at = words.findIndex((word) => word.pattern !== undefined);
  const glob = words[at]?.pattern;
  const meant = pattern.text.replace(/(:| )\*$/, '').split(' ')[at];
  if (at < 1 || glob === undefined || meant === undefined) return false;
  return (
    couldFit(pattern, `${canonicalText(words.slice(0, at))} `) &&
    (meant.includes('*') || matches(segmentTokens(glob), meant))
  );
}

/** The text in front of the unknown word, and the part of that word that is known. */
function beginning(words: readonly ShellWord[]): string {
  const last = words.at(-1);
  return `${canonicalText(words.slice(0, -1))} ${last?.value ?? ''}`;
}

function couldFit({ tokens, text }: CommandPattern, start: string): boolean {
  return tokens === undefined ? text.startsWith(start) : couldMatch(tokens, start);
}

/** As written, without the directory of the program, and in lower case, as some systems take it. */
function withProgramName(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const [first, ...rest] = words;
  if (first === undefined) return [words];
  const bare = first.value.slice(first.value.lastIndexOf('/') + 1);
  const names = new Set([first.value, bare, bare.toLowerCase()]);
  if (names.size === 1) return [words];
  return [...names].map((value) => [{ ...first, value }, ...rest]);
}

/** Whether a whole command fits a pattern. */
export function fits({ tokens, text }: CommandPattern, command: string): boolean {
  if (tokens === undefined) return text === command;
  return matches(tokens, command) || matches(tokens, `${command} `);
}

/** What a rule about an input is compared with; undefined when the input is not given. */
export function fieldText(
  { field, followedBy }: Extract<RuleSpec, { kind: 'field' }>,
  input: Readonly<Record<string, unknown>>,
): string | undefined {
  const value = scalarText(input, field);
  if (value === undefined || followedBy === undefined) return value;
  return `${value} ${scalarText(input, followedBy) ?? ''}`;
}

/** Text of a top-level input that is a string, number or boolean. */
function scalarText(input: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = Object.hasOwn(input, field) ? input[field] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
