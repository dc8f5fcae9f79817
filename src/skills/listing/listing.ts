import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { nameProblem, oneLine, someNames } from '../discovery/names.js';
import type { Skill, SkippedSkill } from '../skill.js';
import { fairShares } from './fair-shares.js';

/** `name-only`: listed without its description. `user-invocable-only`: for people. */
export type SkillOverride = 'on' | 'name-only' | 'user-invocable-only' | 'off';

export interface ListingOptions {
  /** The model's window; when unknown, a fixed budget holds. */
  readonly windowTokens?: number | undefined;
  /** `skillListingBudgetFraction`. */
  readonly fraction?: number | undefined;
  /** `SLASH_COMMAND_TOOL_CHAR_BUDGET`, which overrides window and fraction. */
  readonly budgetChars?: number | undefined;
  /** `skillListingMaxDescChars`: the longest entry. */
  readonly maxEntryChars?: number | undefined;
  /** `skillOverrides`, by name. */
  readonly overrides?: ((name: string) => SkillOverride | undefined) | undefined;
  /**
   * How often each skill was used: the description of a frequent one is shortened later. Called only when
   * one has to be shortened.
   */
  readonly used?: (() => ReadonlyMap<string, number>) | undefined;
  /** Whether a skill still waits for a file that matches its `paths`. */
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
  /** Its front matter leaves it to people, or settings do, or it waits for a file. */
  readonly why: 'people' | 'settings' | 'file';
}

export interface SkillListing {
  /** One line for each skill; empty when there is none to show. */
  readonly text: string;
  readonly shown: readonly ListedSkill[];
  /** Every skill that is shortened or left out for lack of room. */
  readonly cut: readonly CutSkill[];
  /** Skills that the model must not know. */
  readonly hidden: readonly HiddenSkill[];
  /** A note for people that names every shortened skill; absent when there is none. */
  readonly note?: string;
}

const LISTING_FRACTION = 0.01;
export const LISTING_CHARS = 8_000;
const MAX_ENTRY_CHARS = 1_536;

const CHARS_PER_TOKEN = 4;
const DOTS_BYTES = 3;
/** A shorter description would be useless. */
const LEAST_BYTES = 24;

/**
 * Lists the skills for the model: names, and when to use them, within a share of the window. Over it,
 * bundled skills stay whole and every other source gets an equal share of the rest; names are dropped last,
 * and everything shortened is reported.
 */
export function skillListing(skills: readonly Skill[], options: ListingOptions = {}): SkillListing {
  const { entries, hidden } = entriesOf(skills, options);
  const budget = listingBudget(options);
  const isWhole = sum(entries, (entry) => bareBytes(entry) + wordsBytes(entry)) <= budget;
  const said = isWhole
    ? new Map(entries.map((entry) => [entry, entry.words]))
    : wordsWithin(budget, entries, options.used?.() ?? new Map());
  const shown: ListedSkill[] = [];
  const cut: CutSkill[] = [];
  const lines: string[] = [];
  for (const entry of entries) {
    const { name, label } = entry;
    const words = said.get(entry);
    const how = cutOf(entry, words);
    if (how !== undefined) cut.push({ name, how });
    if (words === undefined) continue;
    shown.push({ name, form: formOf(entry, words) });
    lines.push(words === '' ? `- ${label}` : `- ${label}: ${words}`);
  }
  const whole = [...lines, summaryOf(cut)].join('\n');
  const text = !isWhole && bytesOf(whole) < budget ? whole : lines.join('\n');
  if (cut.length === 0) return { text, shown, cut, hidden };
  return { text, shown, cut, hidden, note: noteOf(cut) };
}

export function listingMessage({ text }: Pick<SkillListing, 'text'>): string {
  return `These skills can be started with the Skill tool. Before you begin a task, see whether one of them is meant for it; if so, start it first.\n\n${text}`;
}

/** The budget in bytes, one per character, because text outside ASCII costs a model more. */
export function listingBudget(options: ListingOptions): number {
  const { windowTokens, budgetChars } = options;
  if (budgetChars !== undefined && budgetChars >= 0) return Math.floor(budgetChars);
  if (windowTokens === undefined || windowTokens <= 0) return LISTING_CHARS;
  return Math.floor(windowTokens * (options.fraction ?? LISTING_FRACTION) * CHARS_PER_TOKEN);
}

interface Entry {
  readonly name: string;
  /** The name, followed by the one in the front matter. */
  readonly label: string;
  /** The source whose share of the room it takes. */
  readonly source: string;
  /** Description and when to use it; empty when only the name is listed. */
  readonly words: string;
  /** Already shortened to the longest entry allowed. */
  readonly capped: boolean;
  readonly isBundled: boolean;
}

function entriesOf(
  skills: readonly Skill[],
  options: ListingOptions,
): { readonly entries: readonly Entry[]; readonly hidden: readonly HiddenSkill[] } {
  const variants = variantsOf(skills);
  const entries: Entry[] = [];
  const hidden: HiddenSkill[] = [];
  for (const skill of skills) {
    const { name } = skill;
    const override = options.overrides?.(name);
    const why = hiddenBy(skill, override, options);
    if (why !== undefined) {
      hidden.push({ name, why });
      continue;
    }
    const full = override === 'name-only' ? '' : descriptionOf(skill, variants.get(name));
    const label = labelOf(skill);
    const room = Math.max(
      0,
      (options.maxEntryChars ?? MAX_ENTRY_CHARS) - '- : '.length - label.length,
    );
    const isBundled = skill.origin === 'bundled';
    const words = isBundled || full.length <= room ? full : cutAt(full, room - 1);
    const source = sourceOf(skill);
    entries.push({ name, label, source, words, capped: words !== full, isBundled });
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

/** The listed name: the callable one, followed by the front matter's name, which people may know. */
function labelOf({ name, origin, head: { displayName } }: Skill): string {
  if (displayName === undefined || displayName === name || origin === 'plugin') return name;
  const isName = displayName.length <= LONGEST_LABEL && nameProblem(displayName) === undefined;
  return isName ? `${name} (${displayName})` : name;
}

function descriptionOf({ head }: Skill, variants: readonly string[] | undefined): string {
  const { description = '', whenToUse = '' } = head;
  const also = variants === undefined ? '' : `(In other directories: ${variants.join(', ')}.)`;
  return oneLine([description, whenToUse, also].filter((part) => part !== '').join(' '));
}

/** By plain name: the nested skills of that name. */
function variantsOf(skills: readonly Skill[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, origin } of skills) {
    const plain = origin === 'nested' ? /:([^:]+)$/.exec(name)?.[1] : undefined;
    if (plain === undefined) continue;
    found.set(plain, [...(found.get(plain) ?? []), name]);
  }
  return found;
}

/** Each plugin and each server is a separate source, so that none starves the others. */
function sourceOf({ name, origin, source }: Skill): string {
  if (origin === 'plugin') return `plugin ${name.split(':')[0]}`;
  if (origin === 'mcp') return `mcp ${name.split('__')[1] ?? ''}`;
  return origin === 'command' ? source : origin;
}

/**
 * The text of each entry within the budget; an entry whose name does not fit is missing. Bundled skills
 * stay whole, and in each source the most used come first.
 */
function wordsWithin(
  budget: number,
  entries: readonly Entry[],
  used: ReadonlyMap<string, number>,
): ReadonlyMap<Entry, string> {
  const usesOf = ({ name }: Entry): number => used.get(name) ?? 0;
  const said = new Map<Entry, string>();
  const sources = new Map<string, Entry[]>();
  let room = budget - SUMMARY_BYTES;
  for (const entry of entries) {
    if (entry.isBundled) {
      said.set(entry, entry.words);
      room -= bareBytes(entry) + wordsBytes(entry);
    } else sources.set(entry.source, [...(sources.get(entry.source) ?? []), entry]);
  }
  const named = keptNames(
    [...sources.values()].map((source) => source.sort((a, b) => usesOf(b) - usesOf(a))),
    room,
  );
  room -= sum(named.flat(), bareBytes);
  const shares = fairShares(
    named.map((source) => sum(source, wordsBytes)),
    room,
  );
  for (const [index, source] of named.entries()) {
    let left = shares[index] ?? 0;
    for (const entry of source.filter((one) => usesOf(one) > 0)) {
      const bytes = Math.min(wordsBytes(entry), left);
      said.set(entry, cutWords(entry, bytes));
      left -= bytes;
    }
    const rest = source.filter((one) => usesOf(one) === 0);
    const parts = fairShares(rest.map(wordsBytes), left);
    for (const [at, entry] of rest.entries()) said.set(entry, cutWords(entry, parts[at] ?? 0));
  }
  return said;
}

/** Adds one name from each source in turn. */
function keptNames(
  sources: readonly (readonly Entry[])[],
  room: number,
): readonly (readonly Entry[])[] {
  const kept = new Set<Entry>();
  let left = room;
  for (let at = 0; sources.some(({ length }) => at < length); at++) {
    for (const source of sources) {
      const next = source[at];
      if (next === undefined || bareBytes(next) > left) continue;
      left -= bareBytes(next);
      kept.add(next);
    }
  }
  return sources.map((source) => source.filter((entry) => kept.has(entry)));
}

/** The size of a name with its dash and line break. */
function bareBytes({ label }: Entry): number {
  return '- \n'.length + bytesOf(label);
}

/** The size of the text with the colon before it. */
function wordsBytes({ words }: Entry): number {
  return words === '' ? 0 : ': '.length + bytesOf(words);
}

/** `bytes` include the colon before the text. */
function cutWords(entry: Entry, bytes: number): string {
  const { words } = entry;
  if (wordsBytes(entry) <= bytes) return words;
  const room = bytes - ': '.length - DOTS_BYTES;
  if (room + DOTS_BYTES < LEAST_BYTES) return '';
  let end = Math.min(words.length, room);
  for (let over = 1; end > 0 && over > 0; ) {
    over = bytesOf(words.slice(0, end)) - room;
    // A unit takes three bytes at most, so this ends after few steps.
    if (over > 0) end -= Math.max(1, Math.floor(over / 3));
  }
  return cutAt(words, end);
}

function cutAt(text: string, end: number): string {
  return end <= 0 ? '' : `${sliceWhole(text, 0, end).trimEnd()}…`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
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

/** Room for the summary line, with four-digit numbers. */
const SUMMARY_BYTES = 80;

/** Tells the model that the list is incomplete. */
function summaryOf(cuts: readonly CutSkill[]): string {
  const hidden = cuts.filter(({ how }) => how === 'left out').length;
  return `(No room for all: ${cuts.length - hidden} shortened, ${hidden} skills not shown.)`;
}

/** The most names in a note of each kind. */
const MOST_NAMED = 30;

function noteOf(cut: readonly CutSkill[]): string {
  const parts = CUTS.flatMap(([kind, words]) => {
    const names = cut.flatMap(({ name, how }) => (how === kind ? [name] : []));
    return names.length === 0 ? [] : [`${words}: ${someNames(names, MOST_NAMED)}`];
  });
  return `the list of skills is too long for its budget; ${parts.join('; ')}`;
}

const CUTS: readonly (readonly [CutSkill['how'], string])[] = [
  ['left out', 'not shown to the model'],
  ['name only', 'shown without a description'],
  ['shortened', 'shown with a shortened description'],
];

const MOST_TOLD = 3;

/** Notices at the start about skills and commands with mistakes or the same name. */
export function skillNotice(
  skills: readonly Pick<Skill, 'file' | 'problems'>[],
  skipped: readonly SkippedSkill[],
): string | undefined {
  const lines = [
    ...skipped
      .filter(({ told }) => told === true)
      .map(({ name, file, reason }) => `${file}: /${name} is not in force: ${reason}`),
    ...skills.flatMap(({ file, problems }) =>
      problems
        .filter(({ told }) => told === true)
        .map(({ line, message }) => `${line === undefined ? file : `${file}:${line}`}: ${message}`),
    ),
  ];
  if (lines.length === 0) return undefined;
  const more = lines.length > MOST_TOLD ? `; ${lines.length - MOST_TOLD} more` : '';
  const told = visible(lines.slice(0, MOST_TOLD).join('; '));
  return `skills: ${told}${more}. \`portcullis skills list\` and \`skills validate\` show all`;
}
