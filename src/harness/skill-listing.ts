import { reminder } from '../context/reminders.js';
import type { SealedText } from '../env/sealed-text.js';
import { messageOf } from '../errors.js';
import type { LiveSkillBook } from '../skills/book.js';
import type { SkillLedger } from '../skills/ledger.js';
import { listingMessage, type SkillListing } from '../skills/listing.js';
import type { Skill } from '../skills/skill.js';
import { skillNotice } from '../skills/start-notice.js';
import type { AtOnce } from '../util/at-once.js';

export interface ListingParts {
  readonly book: LiveSkillBook;
  readonly ledger: Pick<SkillLedger, 'listed'>;
  /** The list of these skills, as settings and the model's window want it. */
  list(skills: readonly Skill[], windowTokens: number | undefined): SkillListing;
  /**
   * All that a list is made with besides the skills themselves, so that the next start knows whether it
   * would make the same. Undefined: that cannot be told in few words.
   */
  keyOf(windowTokens: number): string | undefined;
  /** Another one whenever other settings hold. */
  settings(): object;
  /** What people should know. */
  tell(text: string): void;
}

/** What the model is shown of the skills, and when a list has to be made anew. */
export interface SkillListings {
  /** The list at the beginning of a conversation; undefined when there is none to show. */
  first(windowTokens: number, how: { readonly quiet: boolean }): Promise<string | undefined>;
  /** Of some skills that the model is told of later, within the same share of the window. */
  later(skills: readonly Skill[]): string;
  /** What the model has to be told because what it was shown proved to be old; empty mostly. */
  missed(): AtOnce<readonly string[]>;
  /** Looks at the skills where nobody has yet, and notes for the next start what was shown. */
  settle(): Promise<void>;
  windowTokens(): number | undefined;
}

interface Last extends SealedText {
  readonly settings: object;
  readonly windowTokens: number;
  /** Absent: it was made by an earlier start. */
  readonly offered?: readonly Skill[];
  /** Of the start, and not known to the next one yet. */
  readonly isNew?: boolean;
}

/** When the first request has left there is time to look at what it was made of. */
const SETTLE_AFTER_MS = 100;

export function openSkillListings(parts: ListingParts): SkillListings {
  const { book, ledger } = parts;
  let last: Last | undefined;
  /** Made by an earlier start, and not yet compared with what is there. */
  let unseen: Last | undefined;
  let missed: string | undefined;
  let told: { readonly text: string; readonly message: string } | undefined;

  const made = async (offered: readonly Skill[], windowTokens: number): Promise<Last> => {
    const listing = parts.list(offered, windowTokens);
    ledger.listed(offered, listing);
    const notices = [listing.note, skillNotice(offered, await book.skipped())].filter(isText);
    const note = notices.length === 0 ? undefined : notices.join('\n');
    return { settings: parts.settings(), windowTokens, offered, text: listing.text, note };
  };

  async function recalled(windowTokens: number): Promise<Last | undefined> {
    const shown = await book.recallShown(() => parts.keyOf(windowTokens));
    if (shown === undefined) return undefined;
    unseen = { settings: parts.settings(), windowTokens, ...shown };
    // Whoever needs it tries again, and is told what is wrong.
    setTimeout(() => void compare().catch(() => undefined), SETTLE_AFTER_MS).unref();
    return unseen;
  }

  /** Somebody may have changed a skill between the two looks. */
  async function compare(): Promise<void> {
    if (unseen === undefined) return;
    const offered = await book.offered();
    if (unseen === undefined) return;
    const { windowTokens, text, byTexts = false } = unseen;
    unseen = undefined;
    const now = await made(offered, windowTokens);
    if (now.text !== text) missed = now.text;
    // By the facts that are there now the next start finds it without a look into the files.
    else last = { ...now, byTexts, isNew: byTexts };
  }

  async function current(windowTokens: number): Promise<Last> {
    if (last === undefined) {
      const known = await recalled(windowTokens);
      if (known !== undefined) return known;
    }
    const offered = await book.offered();
    const isSame = last?.settings === parts.settings() && last.windowTokens === windowTokens;
    // Every agent is shown it.
    if (isSame && last?.offered !== undefined && areSame(last.offered, offered)) return last;
    return { ...(await made(offered, windowTokens)), isNew: last === undefined };
  }

  function takeMissed(): readonly string[] {
    const text = missed;
    missed = undefined;
    return text === undefined || text === '' ? [] : [text];
  }

  return {
    async first(windowTokens, { quiet }) {
      last = await current(windowTokens);
      const { note, text } = last;
      if (note !== undefined && !quiet) soon(() => parts.tell(note));
      if (text === '') return undefined;
      // Every agent is told it in the same words.
      if (told?.text !== text) told = { text, message: reminder(listingMessage({ text })) };
      return told.message;
    },
    later(skills) {
      const listing = parts.list(skills, last?.windowTokens);
      ledger.listed(skills, listing);
      const { note, text } = listing;
      if (note !== undefined) soon(() => parts.tell(note));
      return text;
    },
    missed: () => (unseen === undefined ? takeMissed() : compare().then(takeMissed)),
    async settle() {
      try {
        await compare();
        // What was made with other settings has another key.
        if (last?.isNew !== true || last.settings !== parts.settings()) return;
        const { windowTokens } = last;
        await book.noteShown(() => parts.keyOf(windowTokens), last);
      } catch (thrown) {
        parts.tell(`the skills could not be looked at again: ${messageOf(thrown)}`);
      }
    },
    windowTokens: () => last?.windowTokens,
  };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

function areSame(some: readonly Skill[], others: readonly Skill[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/** For people, who can wait: the first request goes out before it. */
function soon(tell: () => void): void {
  setImmediate(tell);
}
