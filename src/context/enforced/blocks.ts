import { editDistance } from '../../lib/text/nearest.js';
import { withoutCode } from '../instructions/includes.js';
import { type MarkdownLine, markdownLines } from '../instructions/markdown-lines.js';
import { withoutHidden } from '../instructions/text.js';

/** A fenced block with our word behind the fence, or with one that was meant to be. */
export interface Block {
  /** Of the fence. */
  readonly line: number;
  readonly text: string;
  /** Why it enforces nothing. */
  readonly lost?: { readonly message: string; readonly remedy: string };
}

type Lines = readonly MarkdownLine[];

/**
 * The `portcullis` blocks of a text, read without hidden characters. fail-closed: the word followed by rules
 * counts as a restriction even where the fence is malformed; prose about the word, or an example in a closed
 * block, does not count.
 */
export function blocksOf(source: string): readonly Block[] {
  const lines = [...markdownLines(withoutHidden(source).text)];
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const read = lines[at]?.kind === 'open' ? readFence(lines, at) : readLine(lines, at);
    blocks.push(...read.blocks);
    at = read.next;
  }
  return blocks;
}

interface Read {
  readonly blocks: readonly Block[];
  /** Where to read on. */
  readonly next: number;
}

/** A fenced block as Markdown sees it. */
function readFence(lines: Lines, at: number): Read {
  const { number: line = 0, text: behind = '', raw = '' } = lines[at] ?? {};
  let end = at + 1;
  while (lines[end]?.kind === 'code') end++;
  const isClosed = lines[end]?.kind === 'close';
  const next = isClosed ? end + 1 : end;
  const inside = lines.slice(at + 1, end);
  const word = wordIn(behind);
  if (word === 'ours') {
    return { blocks: [{ line, text: inside.map(({ text }) => text).join('\n') }], next };
  }
  if (word === 'near') return { blocks: [misspelt(line, behind)], next };
  const below = wordBelow(lines, at);
  const marks = FENCE.exec(raw)?.[1] ?? '';
  const swallowed = inside.flatMap((one) => blockInside(one, { line, marks, isClosed }));
  return { blocks: below === undefined ? swallowed : [below, ...swallowed], next };
}

/** A line outside of fenced blocks: a fence that is indented too far, or the word where no fence is. */
function readLine(lines: Lines, at: number): Read {
  const { number: line = 0, text = '' } = lines[at] ?? {};
  const [, marks, named = ''] = /^\s*(`{3,}(?=[^`]*$)|~{3,})\s*(\S.*)$/.exec(text) ?? [];
  const word = wordIn(named);
  if (marks !== undefined && word === 'ours') {
    let end = at + 1;
    while (end < lines.length && !seen(lines[end]).startsWith(marks)) end++;
    const inside = lines.slice(at + 1, end).map(seen);
    // What ends it begins a block as Markdown sees it.
    const next = lines[end]?.kind === 'open' ? end : end + 1;
    return { blocks: [{ line, text: inside.join('\n') }], next };
  }
  if (word === 'near') return { blocks: [misspelt(line, named)], next: at + 1 };
  const behind = ONE_LINE.exec(text)?.[1] ?? UNCLOSED.exec(withoutCode(text))?.[1] ?? '';
  const within = wordIn(behind);
  if (within === 'near') return { blocks: [misspelt(line, behind)], next: at + 1 };
  const lost = within === 'ours' ? WITHIN : wordWithoutFence(lines, at);
  return { blocks: lost === undefined ? [] : [{ line, text: '', lost }], next: at + 1 };
}

/** The text of a line, without the marks of the quotes and lists around it. */
function seen(line: MarkdownLine | undefined): string {
  if (line === undefined) return '';
  const { kind, raw, text } = line;
  if (kind === 'open' || kind === 'close') return FENCE.exec(raw)?.[0] ?? '';
  return kind === 'code' ? text.trimStart() : text.trim();
}

const FENCE = /(`{3,}|~{3,})\s*(.*)$/;
/** A whole block on a line of its own, which Markdown takes for code within a sentence. */
const ONE_LINE = /^\s*`{3,}([^`{]*\{[^`]*)`{3,}\s*$/;
/** A fence behind other text of its line. */
const UNCLOSED = /(?:`{3,}|~{3,})(.*)$/;

/**
 * fail-closed: a block of ours in one that is never closed, or that would end it, were there no word
 * behind its fence, was not meant to be shown as an example.
 */
function blockInside(
  { number, text }: MarkdownLine,
  around: { readonly line: number; readonly marks: string; readonly isClosed: boolean },
): readonly Block[] {
  const [, marks = '', behind = ''] = FENCE.exec(text) ?? [];
  if (marks === '' || wordIn(behind) === 'other') return [];
  const ends = text.trimStart().startsWith(marks) && marks.startsWith(around.marks);
  if (around.isClosed && !ends) return [];
  const message = `the block "${behind.slice(0, LONGEST_QUOTE)}" enforces nothing: it is inside the block of line ${around.line}.`;
  const remedy = 'Close that one first; around an example write a longer fence.';
  return [{ line: number, text: '', lost: { message, remedy } }];
}

/** The word on the first line of a block, instead of behind its fence. */
function wordBelow(lines: Lines, at: number): Block | undefined {
  const first = nextWritten(lines, at + 1);
  const { kind, text = '', number = 0 } = lines[first] ?? {};
  // What is commented out or typed at a prompt is no word of a fence, and a fence in a block an example.
  if (kind !== 'code' || !isWordAlone(text) || /^\s*[#$%>;]/.test(text) || MARKS.test(text)) {
    return undefined;
  }
  return rulesAt(lines, first + 1) ? { line: number, text: '', lost: BELOW } : undefined;
}

/** The word where no fence is, in front of rules. */
function wordWithoutFence(lines: Lines, at: number): Block['lost'] {
  const { text = '' } = lines[at] ?? {};
  const behind = MARKS.exec(text)?.[1] ?? '';
  const isMarked = wordIn(behind) !== 'other';
  const [word = '', rules = ''] = behind.split(/(?=\{)/, 2);
  if (isMarked && RULES.test(rules) && wordIn(word) !== 'other') return NO_FENCE;
  if (!isMarked && !isWordAlone(text)) return undefined;
  if (rulesAt(lines, at + 1)) return NO_FENCE;
  const fence = nextWritten(lines, at + 1);
  const { kind, text: named = '' } = lines[fence] ?? {};
  const isAbove = kind === 'open' && !text.startsWith('#') && fence <= at + 2;
  return isAbove && wordIn(named) === 'other' && rulesAt(lines, fence + 1, LISTS)
    ? ABOVE
    : undefined;
}

/** Signs in front of a word that may stand for a fence. Some that look like marks count as letters. */
const MARKS = /^\s*[^\p{Lu}\p{Ll}\p{Lo}\p{N}\s]{2,}\s*(\S.*)$/u;
/** What rules begin with; further keys are read by the reader of blocks. */
const RULES = /\{[^{}]*?["'\u2018-\u201f]?(?:deny|ask|permissions)["'\u2018-\u201f]?\s*:/i;
/** Only in a block of ours do the lists stand alone. */
const LISTS = /^\s*\{\s*"(?:deny|ask)"\s*:/i;
const MOST_LINES = 40;

/** Whether the next written line begins rules. */
function rulesAt(lines: Lines, from: number, pattern = RULES): boolean {
  const first = nextWritten(lines, from);
  const kind = lines[first]?.kind;
  if (kind === 'open' || !lines[first]?.text.trimStart().startsWith('{')) return false;
  const texts: string[] = [];
  for (const line of lines.slice(first, first + MOST_LINES)) {
    const isSame = (line.kind === 'code') === (kind === 'code');
    if (!isSame || line.kind === 'open' || line.kind === 'close') break;
    texts.push(line.text);
  }
  return pattern.test(texts.join('\n'));
}

/** The next line on which something stands. */
function nextWritten(lines: Lines, from: number): number {
  let at = from;
  while (lines[at]?.text.trim() === '' && lines[at]?.kind !== 'open' && lines[at]?.kind !== 'close')
    at++;
  return at;
}

const WORD = 'portcullis';
const FURTHEST_MISSPELLING = 2;
const LONGEST_LINE = 200;
const LONGEST_QUOTE = 80;

/**
 * What the words behind a fence say about its block. fail-closed: the word as a second one, in braces, as
 * a part of a longer one, with letters that look alike or with two mistakes is `near`.
 */
function wordIn(behind: string): 'ours' | 'near' | 'other' {
  const first = /^[^\s{,:]+/.exec(behind.trim())?.[0] ?? '';
  if (first.toLowerCase() === WORD) return 'ours';
  return [first, ...behind.split(/[^\p{L}\p{M}\p{N}]+/u)].some(isNearly) ? 'near' : 'other';
}

/** Whether a line holds the word and no other; signs do not count. */
function isWordAlone(line: string): boolean {
  if (line.length > LONGEST_LINE) return false;
  const letters = line.replace(/[^\p{Lu}\p{Ll}\p{Lo}\p{N}]+/gu, '');
  return letters.length <= WORD.length + FURTHEST_MISSPELLING && isNearly(letters);
}

function isNearly(word: string): boolean {
  if (word.toLowerCase().includes(WORD)) return true;
  if (Math.abs(word.length - WORD.length) > WORD.length) return false;
  const letters = [...word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()];
  // In a word that is partly ASCII, a letter of another script may look like the one it stands for.
  const isMixed = letters.filter((letter) => letter <= '~').length >= 3;
  const plain = letters
    .map((letter, at) => (isMixed && letter > '~' ? (WORD[at] ?? letter) : letter))
    .join('');
  if (plain.includes(WORD)) return true;
  if (Math.abs(plain.length - WORD.length) > FURTHEST_MISSPELLING) return false;
  return editDistance(plain, WORD) <= FURTHEST_MISSPELLING;
}

function misspelt(line: number, behind: string): Block {
  const message = `the block "${behind.trim().slice(0, LONGEST_QUOTE)}" enforces nothing.`;
  return { line, text: '', lost: { message, remedy: 'Write "portcullis" behind the fence.' } };
}

const NO_FENCE = {
  message: 'the rules behind "portcullis" enforce nothing: there is no fence in front of the word.',
  remedy:
    'Write ```portcullis on a line of its own, with three backticks, and ``` behind the rules.',
};
const BELOW = {
  message: 'the block enforces nothing: its word "portcullis" is below the fence.',
  remedy: 'Write "portcullis" behind the fence, on the same line.',
};
const ABOVE = { ...BELOW, message: BELOW.message.replace('below', 'above') };
const WITHIN = {
  message: 'the block "portcullis" enforces nothing: its fence shares the line with other text.',
  remedy: 'Begin a line with the fence; in a sentence write it as code.',
};
