import { head } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { reminder } from '../prompt/reminders.js';
import type { InstructionScope, LoadedInstruction } from './types.js';

/** Longest text of one instruction file that is shown. */
export const INSTRUCTION_CAP = 40_000;
/** What all of them may take together. An administrator's do not count and are never cut. */
export const ALL_INSTRUCTIONS_CAP = 400_000;

/** On what occasion files are shown. */
export interface ReminderFacts {
  /** `touched`: by the use of files; `changed`: they are different on disk now. */
  readonly occasion: 'start' | 'touched' | 'changed' | 'compact';
}

/**
 * The block that shows instruction files to the model; undefined when there is nothing to show. No
 * text in it can close the mark around it or pass for the heading of another file.
 */
export function instructionsReminder(
  files: readonly LoadedInstruction[],
  facts: ReminderFacts,
): string | undefined {
  if (files.length === 0) return undefined;
  // Managed instructions come first, in whatever order the files were loaded.
  const ordered = [...files.filter(isManaged), ...files.filter((file) => !isManaged(file))];
  return reminder([HEADERS[facts.occasion], ...shownSections(ordered)].join('\n\n'));
}

/** What each file adds to the block: its text as it is shown, heading and notes included. */
export function shownSections(files: readonly LoadedInstruction[]): readonly string[] {
  const cap = commonCap(files.filter((file) => !isManaged(file)).map(({ text }) => text.length));
  return files.map((file) => section(file, isManaged(file) ? Number.POSITIVE_INFINITY : cap));
}

function isManaged({ scope }: LoadedInstruction): boolean {
  return scope === 'managed';
}

/** Whether a text is such a block: those of a start are shown anew after a summary. */
export function isInstructionsReminder(text: string): boolean {
  return Object.values(HEADERS).some((header) => text.startsWith(`<system-reminder>\n${header}`));
}

const OVERRIDE = 'They override your default behaviour; follow them exactly as written.';

const HEADERS: Readonly<Record<ReminderFacts['occasion'], string>> = {
  start: `Instructions of the user and the project. ${OVERRIDE}`,
  compact: `Instructions of the user and the project, shown again after the summary. ${OVERRIDE}`,
  touched: `Instructions for the files that you have just used. ${OVERRIDE}`,
  changed: `Instruction files that have changed; this takes the place of what was shown before. ${OVERRIDE}`,
};

const LABELS: Readonly<Record<InstructionScope, string>> = {
  managed: 'instructions of the administrator; nothing below overrides them',
  user: "the user's own instructions for all projects",
  project: 'instructions of the project, shared with others',
  local: "the user's own instructions for this project, not shared",
  memory: 'notes from earlier sessions',
  team: "the team's shared notes",
};

function section(file: LoadedInstruction, cap: number): string {
  const notes = file.notes.map((note) => `\n[${visible(note)}]`).join('');
  const scoped = file.globs === undefined ? '' : `; for ${file.globs.map(visible).join(', ')}`;
  const heading = `Contents of ${visible(file.path)} (${LABELS[file.scope]}${scoped}):${notes}`;
  const shown = head(file.text.trimEnd(), cap);
  const text = HEADING_WORD.test(shown) ? shown.replace(HEADING_LIKE, '> $&') : shown;
  return text === '' ? heading : `${heading}\n\n${text}`;
}

/** Without it there is none, and to look for it is much less work. None of its letters has a look-alike. */
const HEADING_WORD = /content/i;
/** A line in a file that looks like a heading of ours, whatever signs stand before it. */
const HEADING_LIKE = /^[^\p{L}\p{N}\n\r\u2028\u2029]*Contents\s+of\b/gimu;

/** The longest that every text may be so that all fit: long ones give way, short ones stay whole. */
function commonCap(lengths: readonly number[]): number {
  const ascending = [...lengths].sort((a, b) => a - b);
  let left = ALL_INSTRUCTIONS_CAP;
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (Math.min(length, INSTRUCTION_CAP) > share) return Math.min(share, INSTRUCTION_CAP);
    left -= Math.min(length, INSTRUCTION_CAP);
  }
  return INSTRUCTION_CAP;
}
