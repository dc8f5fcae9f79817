import { reminder } from '../../context/prompt/reminders.js';
import type { LiveSkillBook } from '../discovery/book.js';
import type { Skill } from '../skill.js';
import type { SkillLedger } from './ledger.js';
import { listingMessage, type SkillListing, skillNotice } from './listing.js';

export interface ListingParts {
  readonly book: LiveSkillBook;
  readonly ledger: Pick<SkillLedger, 'listed'>;
  /** Formats these skills as settings and the model's window want it. */
  list(skills: readonly Skill[], windowTokens: number | undefined): SkillListing;
  /** Shows a notice to the user. */
  tell(text: string): void;
}

/** The lists of skills that the model is shown. */
export interface SkillListings {
  /** The list at the beginning of a conversation; undefined when there is none to show. */
  first(windowTokens: number, how: { readonly quiet: boolean }): Promise<string | undefined>;
  /** A list of skills that become known later, within the same share of the window. */
  later(skills: readonly Skill[]): string;
  windowTokens(): number | undefined;
}

export function openSkillListings(parts: ListingParts): SkillListings {
  const { book, ledger } = parts;
  let window: number | undefined;
  // Notices can wait until the first request has left.
  const tell = (notices: readonly (string | undefined)[]): void => {
    const text = notices.filter((notice) => notice !== undefined).join('\n');
    if (text !== '') setImmediate(() => parts.tell(text));
  };
  return {
    async first(windowTokens, { quiet }) {
      window = windowTokens;
      const offered = await book.offered();
      const listing = parts.list(offered, windowTokens);
      ledger.listed(offered, listing);
      if (!quiet) tell([listing.note, skillNotice(offered, await book.skipped())]);
      return listing.text === '' ? undefined : reminder(listingMessage(listing));
    },
    later(skills) {
      const listing = parts.list(skills, window);
      ledger.listed(skills, listing);
      tell([listing.note]);
      return listing.text;
    },
    windowTokens: () => window,
  };
}
