import { messageOf } from '../../errors.js';
import { printable } from '../../lib/text/printable.js';
import { head, headAndTail, sliceWhole } from '../../lib/text/truncate.js';
import { sha256 } from '../../platform/hash.js';
import type { HookFailure, HookFailureCause } from '../registry/hook.js';

/** Room for the words that say how much was cut. */
const MARK_CHARS = 50;
const LONGEST_LINE = 300;

/** Colours, titles and cursor movements, whole; `printable` alone would leave their letters behind. */
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]+[0-~]|[0-?@-Z\\^_])/g;

export function withoutEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text;
}

/** A text with its `\u0041` escapes as letters, wherever they stand. */
export function unescaped(text: string): string {
  if (!text.includes('\\u')) return text;
  return text.replace(/\\u([0-9a-f]{4})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** What is for the model is kept whole up to here: what is too long to show goes to a file later. */
export const LONGEST_CONTEXT = 512 * 1024;

/** A hook's words as they may be shown and sent: no control characters, no half characters, no novel. */
export function tidy(text: string, longest = LONGEST_HOOK_TEXT): string {
  const isLong = text.length > longest;
  const cut = isLong ? head(text, longest - MARK_CHARS) : text;
  return printable(withoutEscapes(cut)).replace(/\p{Cs}/gu, '\ufffd');
}

/** The same for a value that may be absent; what is blank counts as absent. */
export function said(value: unknown, longest = LONGEST_HOOK_TEXT): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = tidy(value, longest);
  return text.trim() === '' ? undefined : text;
}

/** Lines of a stack trace or of an interpreter that do not say what went wrong. */
const TRACE_LINE = /^(?:\s+at .*|\s*[\^~]+\s*|Node\.js v.*|\s*)$/;
const MOST_LINES = 2;
/** Room is left for the words around them in one line. */
const LONGEST_LAST_LINES = 240;
const SEARCHED_CHARS = 8000;

/** The last lines that say something, on one line and not long: where a trace tells its error. */
export function lastLines(text: string): string {
  const end = sliceWhole(text, Math.max(0, text.length - SEARCHED_CHARS), text.length);
  const lines = tidy(end).split('\n');
  const telling = lines.filter((line) => !TRACE_LINE.test(line));
  const flat = (telling.length === 0 ? lines : telling)
    .map((line) => line.replaceAll('\t', ' ').trim())
    .filter((line) => line !== '')
    .slice(-MOST_LINES)
    .join(' | ');
  if (flat.length <= LONGEST_LAST_LINES) return flat;
  return `…${sliceWhole(flat, flat.length - LONGEST_LAST_LINES, flat.length)}`;
}

/** The first line that says something, on one line and not long, or an empty text. */
export function firstLine(text: string): string {
  const rest = text.trimStart();
  const end = rest.indexOf('\n');
  const line = tidy(end === -1 ? rest : rest.slice(0, end)).split('\n', 1)[0] ?? '';
  const flat = line.replaceAll('\t', ' ').trim();
  return flat.length > LONGEST_LINE ? `${sliceWhole(flat, 0, LONGEST_LINE)}…` : flat;
}

/** Characters of one text of a hook that the model is shown whole. */
export const LONGEST_HOOK_TEXT = 10_000;
const PREVIEW = 2_000;

export interface LongTextFiles {
  /** Saves a text under a name, for its owner alone, and resolves to the path. */
  write(name: string, text: string): Promise<string>;
}

/**
 * The text itself when it is short enough, else its beginning and the file that holds all of it.
 * When it cannot be saved, its beginning and end, and the reason.
 */
export async function spillLong(text: string, files: LongTextFiles): Promise<string> {
  if (text.length <= LONGEST_HOOK_TEXT) return text;
  try {
    // The same text has the same name, so a hook that says it every turn fills one file.
    const path = await files.write(`hook-${sha256(text).slice(0, 16)}.txt`, text);
    const preview = sliceWhole(text, 0, PREVIEW);
    return `${preview}\n… [${text.length} characters in all; the whole text: ${path}]`;
  } catch (thrown) {
    const cut = headAndTail(text, LONGEST_HOOK_TEXT);
    return `${cut}\n[The part left out could not be saved: ${messageOf(thrown)}]`;
  }
}

/** Parts of the message may be the hook's own words, so it is made fit to be shown. */
export function failure(cause: HookFailureCause, message: string): HookFailure {
  return { cause, message: firstLine(message) };
}

/** A program that is not there or may not be run, with what a person can do about it. */
export function cannotStart(
  message: string,
  { program, kind }: { readonly program: string; readonly kind: 'missing' | 'not-executable' },
): HookFailure {
  const name = firstLine(program);
  const repair =
    kind === 'missing'
      ? `Install ${name} or correct its path`
      : `Make ${name} executable (chmod +x)`;
  return {
    ...failure('cannot-start', message),
    remedy: `${repair}, or switch this hook off there with "enabled": false.`,
    repeated: `${name} still cannot be started`,
  };
}
