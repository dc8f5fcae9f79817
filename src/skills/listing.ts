import { sliceWhole } from '../util/truncate.js';
import { fairShares } from './fair-shares.js';
import { nameProblem, oneLine } from './names.js';
import type { Skill } from './skill.js';

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
  /** How often each was used before; the more, the later its description is cut. */
  readonly used?: ReadonlyMap<string, number> | undefined;
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

export interface SkillListing {
  /** One line for each skill; empty when there is none to show. */
  readonly text: string;
  readonly shown: readonly ListedSkill[];
  /** Every skill that the model does not see in full for want of room. */
  readonly cut: readonly CutSkill[];
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
  const entries = entriesOf(skills, options);
  const budget = listingBudget(options);
  const isWhole = entries.reduce((sum, entry) => sum + entry.wholeBytes, 0) <= budget;
  const given = isWhole ? entries.map(({ words }) => words) : fitted(entries, budget);
  const shown: ListedSkill[] = [];
  const cut: CutSkill[] = [];
  const lines: string[] = [];
  entries.forEach((entry, index) => {
    const words = given[index];
    const how = cutOf(entry, words);
    if (how !== undefined) cut.push({ name: entry.name, how });
    if (words === undefined) return;
    shown.push({ name: entry.name, form: formOf(entry, words) });
    lines.push(lineOf(entry.label, words));
  });
  const text = [...lines, ...(isWhole ? [] : summaryLine(lines, cut, budget))].join('\n');
  return { text, shown, cut, ...(cut.length === 0 ? {} : { note: noteOf(cut) }) };
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
  readonly uses: number;
  /** What it costs in full, and with its name alone, each with the line break. */
  readonly wholeBytes: number;
  readonly bareBytes: number;
}

function entriesOf(skills: readonly Skill[], options: ListingOptions): readonly Entry[] {
  const variants = variantsOf(skills);
  return skills.flatMap((skill): Entry[] => {
    const override = options.overrides?.(skill.name);
    const isHidden = override === 'off' || override === 'user-invocable-only';
    if (skill.head.disableModelInvocation === true || isHidden) return [];
    if (options.isDormant?.(skill) === true) return [];
    const full = override === 'name-only' ? '' : descriptionOf(skill, variants);
    const label = labelOf(skill);
    const room = (options.maxEntryChars ?? ENTRY_CHARS) - `- ${label}: `.length;
    const isBundled = skill.origin === 'bundled';
    const words = isBundled ? full : shortened(full, { chars: Math.max(0, room) });
    return [
      {
        name: skill.name,
        label,
        source: sourceOf(skill),
        words,
        capped: words !== full,
        isBundled,
        uses: options.used?.get(skill.name) ?? 0,
        wholeBytes: bytesOf(lineOf(label, words)) + 1,
        bareBytes: bytesOf(lineOf(label, '')) + 1,
      },
    ];
  });
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
  const others = variants.get(skill.name);
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

/** What each entry says, undefined for one whose name does not fit either. */
function fitted(entries: readonly Entry[], budget: number): readonly (string | undefined)[] {
  const bundled = entries.filter((entry) => entry.isBundled);
  const others = entries.filter((entry) => !entry.isBundled);
  const taken = bundled.reduce((sum, entry) => sum + entry.wholeBytes, 0);
  const room = budget - taken - SUMMARY_BYTES;
  const named = keptNames(others, room);
  const left = room - named.reduce((sum, entry) => sum + entry.bareBytes, 0);
  const words = sharedWords(named, left);
  return entries.map((entry) => (entry.isBundled ? entry.words : words.get(entry)));
}

/** All of them where there is room; else each source in turn gets one more name in. */
function keptNames(entries: readonly Entry[], room: number): readonly Entry[] {
  if (entries.reduce((sum, { bareBytes }) => sum + bareBytes, 0) <= room) return entries;
  const queues = [...bySource(entries).values()].map((queue) => [...queue]);
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
function sharedWords(entries: readonly Entry[], room: number): ReadonlyMap<Entry, string> {
  const sources = [...bySource(entries).values()];
  const shares = fairShares(
    sources.map((source) => source.reduce((sum, entry) => sum + needOf(entry), 0)),
    room,
  );
  const words = new Map<Entry, string>();
  sources.forEach((source, index) => {
    let left = shares[index] ?? 0;
    const used = source.filter((entry) => entry.uses > 0);
    for (const entry of used) {
      const bytes = Math.min(needOf(entry), left);
      words.set(entry, withinBytes(entry.words, bytes));
      left -= bytes;
    }
    const rest = source.filter((entry) => entry.uses === 0);
    const parts = fairShares(rest.map(needOf), left);
    rest.forEach((entry, at) => {
      words.set(entry, withinBytes(entry.words, parts[at] ?? 0));
    });
  });
  return words;
}

/** In each source what was used most comes first. */
function bySource(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const sources = new Map<string, Entry[]>();
  for (const entry of entries) {
    const known = sources.get(entry.source);
    if (known === undefined) sources.set(entry.source, [entry]);
    else known.push(entry);
  }
  for (const source of sources.values()) source.sort((a, b) => b.uses - a.uses);
  return sources;
}

function lineOf(label: string, words: string): string {
  return words === '' ? `- ${label}` : `- ${label}: ${words}`;
}

/** What the words cost beyond the bare name. */
function needOf({ wholeBytes, bareBytes }: Entry): number {
  return wholeBytes - bareBytes;
}

/** `bytes` include the colon before the words. */
function withinBytes(words: string, bytes: number): string {
  const room = bytes - ': '.length;
  if (bytesOf(words) <= room) return words;
  return room < LEAST_BYTES ? '' : shortened(words, { bytes: room });
}

function shortened(text: string, limit: { chars?: number; bytes?: number }): string {
  const { chars = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = limit;
  if (text.length <= chars && (bytes === Number.POSITIVE_INFINITY || bytesOf(text) <= bytes)) {
    return text;
  }
  let end = Math.min(text.length, chars - 1, bytes - bytesOf('…'));
  while (end > 0 && bytesOf(text.slice(0, end)) + bytesOf('…') > bytes) {
    // Each unit takes three bytes at most, so this ends after few steps.
    end -= Math.max(1, Math.floor((bytesOf(text.slice(0, end)) + bytesOf('…') - bytes) / 3));
  }
  return end <= 0 ? '' : `${sliceWhole(text, 0, end).trimEnd()}…`;
}

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
function summaryLine(
  lines: readonly string[],
  cuts: readonly CutSkill[],
  budget: number,
): readonly string[] {
  const hidden = cuts.filter(({ how }) => how === 'left out').length;
  const text = `(No room for all: ${cuts.length - hidden} shortened, ${hidden} skills not shown.)`;
  const used = lines.reduce((sum, line) => sum + bytesOf(line) + 1, 0);
  return used + bytesOf(text) + 1 <= budget ? [text] : [];
}

/** Of each kind this many are named; one more says nothing new. */
const MOST_NAMED = 30;

function noteOf(cut: readonly CutSkill[]): string {
  const named = (how: CutSkill['how']): string => {
    const names = cut.filter((one) => one.how === how).map((one) => one.name);
    const more = names.length - MOST_NAMED;
    return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  };
  const parts = (
    [
      ['left out', 'not shown to the model'],
      ['name only', 'shown without a description'],
      ['shortened', 'shown with a shortened description'],
    ] as const
  ).flatMap(([how, words]) => (named(how) === '' ? [] : [`${words}: ${named(how)}`]));
  return `the list of skills is too long for its budget; ${parts.join('; ')}`;
}
