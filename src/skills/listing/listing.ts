import { sliceWhole } from '../../lib/truncate.js';
import { nameProblem, oneLine, someNames } from '../discovery/names.js';
import type { Skill } from '../skill.js';
import { fairShares } from './fair-shares.js';

/** `name-only`: listed without its description. `user-invocable-only`: for people. */
export type SkillOverride = 'on' | 'name-only' | 'user-invocable-only' | 'off';

export interface ListingOptions {
  /** The model's window. Undefined: not known, and a fixed budget holds. */
  readonly windowTokens?: number | undefined;
  /** `skillListingBudgetFraction`. */
  readonly fraction?: number | undefined;
  /** `SLASH_COMMAND_TOOL_CHAR_BUDGET`: takes the place of window and fraction. */
  readonly budgetChars?: number | undefined;
  /** `skillListingMaxDescChars`: the longest entry. */
  readonly maxEntryChars?: number | undefined;
  /** `skillOverrides`, by name. */
  readonly overrides?: ((name: string) => SkillOverride | undefined) | undefined;
  /** How often each was used before; the more, the later its description is cut. Asked for only when one is. */
  readonly used?: (() => ReadonlyMap<string, number>) | undefined;
  /** Waits for a file that its `paths` name. */
  readonly isDormant?: ((skill: Skill) => boolean) | undefined;
}

export interface ListedSkill {
  readonly name: string;
  readonly form: 'whole' | 'shortened' | 'name';
}

export interface CutSkill {
  readonly name: string;
  readonly how: 'shortened' | 'name only' | 'left out';
}

export interface HiddenSkill {
  readonly name: string;
  /** Its head leaves it to people, or settings do, or it waits for a file. */
  readonly why: 'people' | 'settings' | 'file';
}

export interface SkillListing {
  /** One line for each skill; empty when there is none to show. */
  readonly text: string;
  readonly shown: readonly ListedSkill[];
  /** Every skill that the model does not see in full for want of room. */
  readonly cut: readonly CutSkill[];
  /** Those that the model is not to know. */
  readonly hidden: readonly HiddenSkill[];
  /** For people: names every cut. Absent when nothing was cut. */
  readonly note?: string;
}

export const LISTING_FRACTION = 0.01;
export const LISTING_CHARS = 8_000;
export const ENTRY_CHARS = 1_536;

const CHARS_PER_TOKEN = 4;
/** A description of fewer bytes tells nothing. */
const LEAST_BYTES = 24;

/**
 * What the model is told of the skills at all times: names, and when to use them. The whole stays
 * within a share of the window. Over it, what comes in the box is kept whole and every other source
 * gets an equal share of the rest; names go last. Nothing is cut without being named.
 */
export function skillListing(skills: readonly Skill[], options: ListingOptions = {}): SkillListing {
  const { entries, hidden } = entriesOf(skills, options);
  const budget = listingBudget(options);
  const given = entries.map(({ words }): string | undefined => words);
  const isWhole = entries.reduce((sum, entry) => sum + entry.wholeBytes, 0) <= budget;
  if (!isWhole) makeFit(entries, given, { budget, used: options.used?.() ?? new Map() });
  const shown: ListedSkill[] = [];
  const cut: CutSkill[] = [];
  const lines: string[] = [];
  let used = 0;
  for (const entry of entries) {
    const words = given[entry.at];
    const how = cutOf(entry, words);
    if (how !== undefined) cut.push({ name: entry.name, how });
    if (words === undefined) continue;
    shown.push({ name: entry.name, form: formOf(entry, words) });
    lines.push(lineOf(entry.label, words));
    used += words === entry.words ? entry.wholeBytes : entry.bareBytes + wordsCost(words);
  }
  if (!isWhole) lines.push(...summaryLine(cut, budget - used));
  const text = lines.join('\n');
  if (cut.length === 0) return { text, shown, cut, hidden };
  return { text, shown, cut, hidden, note: noteOf(cut) };
}

/** What stands above the list in the message that holds it. */
export function listingMessage({ text }: Pick<SkillListing, 'text'>): string {
  return `These skills can be started with the Skill tool. Before you begin a task, see whether one of them is meant for it; if so, start it first.\n\n${text}`;
}

/** Bytes, each of which counts as a character: text that is not ASCII costs a model more. */
export function listingBudget(options: ListingOptions): number {
  const { windowTokens, budgetChars } = options;
  if (budgetChars !== undefined && budgetChars >= 0) return Math.floor(budgetChars);
  if (windowTokens === undefined || windowTokens <= 0) return LISTING_CHARS;
  return Math.floor(windowTokens * (options.fraction ?? LISTING_FRACTION) * CHARS_PER_TOKEN);
}

interface Entry {
  /** Its place in the list. */
  readonly at: number;
  readonly name: string;
  /** The name, and behind it the one that the head gives. */
  readonly label: string;
  /** Whose share of the room it takes. */
  readonly source: string;
  /** Description and when to use it; empty when only the name is wanted. */
  readonly words: string;
  /** The longest entry allowed has already taken something off. */
  readonly capped: boolean;
  readonly isBundled: boolean;
  /** What it costs in full, and with its name alone, each with the line break. */
  readonly wholeBytes: number;
  readonly bareBytes: number;
}

interface Entries {
  readonly entries: readonly Entry[];
  readonly hidden: readonly HiddenSkill[];
}

function entriesOf(skills: readonly Skill[], options: ListingOptions): Entries {
  const variants = variantsOf(skills);
  const entries: Entry[] = [];
  const hidden: HiddenSkill[] = [];
  for (const skill of skills) {
    const override = options.overrides?.(skill.name);
    const why = hiddenBy(skill, override, options);
    if (why !== undefined) {
      hidden.push({ name: skill.name, why });
      continue;
    }
    const full = override === 'name-only' ? '' : descriptionOf(skill, variants);
    const label = labelOf(skill);
    const room = (options.maxEntryChars ?? ENTRY_CHARS) - '- : '.length - label.length;
    const isBundled = skill.origin === 'bundled';
    const words = isBundled ? full : withinChars(full, Math.max(0, room));
    const bareBytes = '- \n'.length + bytesOf(label);
    entries.push({
      at: entries.length,
      name: skill.name,
      label,
      source: sourceOf(skill),
      words,
      capped: words !== full,
      isBundled,
      wholeBytes: bareBytes + wordsCost(words),
      bareBytes,
    });
  }
  return { entries, hidden };
}

function hiddenBy(
  skill: Skill,
  override: SkillOverride | undefined,
  { isDormant }: ListingOptions,
): HiddenSkill['why'] | undefined {
  if (skill.head.disableModelInvocation === true) return 'people';
  if (override === 'off' || override === 'user-invocable-only') return 'settings';
  return isDormant?.(skill) === true ? 'file' : undefined;
}

const LONGEST_LABEL = 64;

/** People may know a skill by the name in its head; it is called by the other. */
function labelOf({ name, origin, head: { displayName } }: Skill): string {
  if (displayName === undefined || displayName === name || origin === 'plugin') return name;
  const isName = displayName.length <= LONGEST_LABEL && nameProblem(displayName) === undefined;
  return isName ? `${name} (${displayName})` : name;
}

function descriptionOf(skill: Skill, variants: ReadonlyMap<string, readonly string[]>): string {
  const { description = '', whenToUse = '' } = skill.head;
  const others = variants.size === 0 ? undefined : variants.get(skill.name);
  // Mostly there is nothing but a description.
  if (whenToUse === '' && others === undefined) return oneLine(description);
  const also = others === undefined ? '' : `(In other directories: ${others.join(', ')}.)`;
  return oneLine([description, whenToUse, also].filter((part) => part !== '').join(' '));
}

/** For each plain name the names of the skills in sub-directories that are called the same. */
function variantsOf(skills: readonly Skill[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, origin } of skills) {
    const plain = origin === 'nested' ? /:([^:]+)$/.exec(name)?.[1] : undefined;
    if (plain === undefined) continue;
    found.set(plain, [...(found.get(plain) ?? []), name]);
  }
  return found;
}

/** Each plugin and each server is a source of its own, or one of them could starve the others. */
function sourceOf({ name, origin, source }: Skill): string {
  if (origin === 'plugin') return `plugin ${name.split(':')[0]}`;
  if (origin === 'mcp') return `mcp ${name.split('__')[1] ?? ''}`;
  return origin === 'command' ? source : origin;
}

type UsesOf = (entry: Entry) => number;
/** The entries of each. */
type Sources = readonly (readonly Entry[])[];

/** What each entry says by its place, undefined for one whose name does not fit either. */
type Given = (string | undefined)[];

/** Takes off what there is no room for. What comes in the box is kept whole. */
function makeFit(
  entries: readonly Entry[],
  given: Given,
  { budget, used }: { readonly budget: number; readonly used: ReadonlyMap<string, number> },
): void {
  // Mostly nothing was used, and nothing has to be put in order.
  const usesOf: UsesOf | undefined =
    used.size === 0 ? undefined : ({ name }) => used.get(name) ?? 0;
  let room = budget - SUMMARY_BYTES;
  const others: Entry[] = [];
  for (const entry of entries) {
    if (entry.isBundled) room -= entry.wholeBytes;
    else {
      others.push(entry);
      given[entry.at] = undefined;
    }
  }
  const named = keptNames(bySource(others, usesOf), room);
  const left = room - named.reduce((sum, entry) => sum + entry.bareBytes, 0);
  shareWords(bySource(named, usesOf), given, { room: left, usesOf });
}

/** All of them where there is room; else each source in turn gets one more name in. */
function keptNames(sources: Sources, room: number): readonly Entry[] {
  const entries = sources.flat();
  if (entries.reduce((sum, { bareBytes }) => sum + bareBytes, 0) <= room) return entries;
  const queues = sources.map((queue) => [...queue]);
  const kept = new Set<Entry>();
  let left = room;
  for (let open = queues; open.length > 0; ) {
    open = open.filter((queue) => {
      const next = queue.shift();
      if (next === undefined) return false;
      if (next.bareBytes <= left) {
        left -= next.bareBytes;
        kept.add(next);
      }
      return true;
    });
  }
  return entries.filter((entry) => kept.has(entry));
}

/** What each entry may say: equal shares for the sources, and within one for its entries. */
function shareWords(
  sources: Sources,
  given: Given,
  { room, usesOf }: { readonly room: number; readonly usesOf: UsesOf | undefined },
): void {
  const shares = fairShares(
    sources.map((source) => source.reduce((sum, entry) => sum + needOf(entry), 0)),
    room,
  );
  sources.forEach((source, index) => {
    let left = shares[index] ?? 0;
    const used = usesOf === undefined ? [] : source.filter((entry) => usesOf(entry) > 0);
    for (const entry of used) {
      const bytes = Math.min(needOf(entry), left);
      given[entry.at] = wordsWithin(entry, bytes);
      left -= bytes;
    }
    const rest = usesOf === undefined ? source : source.filter((entry) => usesOf(entry) === 0);
    const parts = fairShares(rest.map(needOf), left);
    rest.forEach((entry, at) => {
      given[entry.at] = wordsWithin(entry, parts[at] ?? 0);
    });
  });
}

/** In each source what was used most comes first. */
function bySource(entries: readonly Entry[], usesOf: UsesOf | undefined): Sources {
  const sources = new Map<string, Entry[]>();
  for (const entry of entries) {
    const known = sources.get(entry.source);
    if (known === undefined) sources.set(entry.source, [entry]);
    else known.push(entry);
  }
  const all = [...sources.values()];
  if (usesOf !== undefined) for (const source of all) source.sort((a, b) => usesOf(b) - usesOf(a));
  return all;
}

function lineOf(label: string, words: string): string {
  return words === '' ? `- ${label}` : `- ${label}: ${words}`;
}

/** What the words cost beyond the bare name. */
function needOf({ wholeBytes, bareBytes }: Entry): number {
  return wholeBytes - bareBytes;
}

/** Of words with the colon before them. */
function wordsCost(words: string): number {
  return words === '' ? 0 : ': '.length + bytesOf(words);
}

/** `bytes` include the colon before the words. */
function wordsWithin(entry: Entry, bytes: number): string {
  if (needOf(entry) <= bytes) return entry.words;
  const room = bytes - ': '.length;
  if (room < LEAST_BYTES) return '';
  const isAscii = needOf(entry) === ': '.length + entry.words.length;
  return isAscii ? cutAt(entry.words, room - DOTS_BYTES) : withinBytes(entry.words, room);
}

function withinChars(text: string, chars: number): string {
  return text.length <= chars ? text : cutAt(text, chars - 1);
}

function withinBytes(text: string, bytes: number): string {
  const room = bytes - DOTS_BYTES;
  let end = Math.min(text.length, room);
  while (end > 0) {
    const over = bytesOf(text.slice(0, end)) - room;
    if (over <= 0) break;
    // Each unit takes three bytes at most, so this ends after few steps.
    end -= Math.max(1, Math.floor(over / 3));
  }
  return cutAt(text, end);
}

function cutAt(text: string, end: number): string {
  return end <= 0 ? '' : `${sliceWhole(text, 0, end).trimEnd()}…`;
}

const DOTS_BYTES = 3;
const encoder = new TextEncoder();
const ASCII = /^[\x00-\x7f]*$/;

function bytesOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return encoder.encode(text).length;
}

function formOf(entry: Entry, words: string): ListedSkill['form'] {
  if (words === '') return 'name';
  return words === entry.words ? 'whole' : 'shortened';
}

function cutOf(entry: Entry, words: string | undefined): CutSkill['how'] | undefined {
  if (words === undefined) return 'left out';
  if (words === entry.words && !entry.capped) return undefined;
  return words === '' ? 'name only' : 'shortened';
}

/** Room for the line below, with numbers of four digits. */
const SUMMARY_BYTES = 80;

/** For the model, so that a short list is not taken for all there is. */
function summaryLine(cuts: readonly CutSkill[], room: number): readonly string[] {
  const hidden = cuts.filter(({ how }) => how === 'left out').length;
  const text = `(No room for all: ${cuts.length - hidden} shortened, ${hidden} skills not shown.)`;
  return bytesOf(text) + 1 <= room ? [text] : [];
}

/** Of each kind this many are named; one more says nothing new. */
const MOST_NAMED = 30;

function noteOf(cut: readonly CutSkill[]): string {
  const names: Record<CutSkill['how'], string[]> = {
    'left out': [],
    'name only': [],
    shortened: [],
  };
  for (const { name, how } of cut) names[how].push(name);
  const parts = (
    [
      ['left out', 'not shown to the model'],
      ['name only', 'shown without a description'],
      ['shortened', 'shown with a shortened description'],
    ] as const
  ).flatMap(([how, words]) => {
    const some = someNames(names[how], MOST_NAMED);
    return some === '' ? [] : [`${words}: ${some}`];
  });
  return `the list of skills is too long for its budget; ${parts.join('; ')}`;
}
