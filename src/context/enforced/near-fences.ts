import type { MarkdownLine } from '../instructions/markdown-lines.js';
import { blockWord, isWordAlone } from './fence-name.js';

/** Rules that were meant as a block and are none: where their word stands, and what is wrong with it. */
export interface NearBlock {
  readonly line: number;
  readonly lost: { readonly message: string; readonly remedy: string };
}

/**
 * fail-closed: who writes the word and then rules means a restriction, whatever stands in the place of
 * the fence: two marks, marks of another script, the word on a line of its own. Only what rules follow
 * counts, and nothing in a block of code but its first line: all else speaks about the word.
 */
export function nearBlocks(lines: readonly MarkdownLine[]): readonly NearBlock[] {
  return lines.flatMap((line, at) => {
    const lost = line.kind === 'open' ? insideOf(lines, at) : unfenced(lines, at);
    return lost === undefined ? [] : [lost];
  });
}

/** The word on the first line of a block, instead of behind its fence. */
function insideOf(lines: readonly MarkdownLine[], at: number): NearBlock | undefined {
  if (blockWord(lines[at]?.text ?? '') !== 'other') return undefined;
  const first = nextWritten(lines, at + 1);
  const { kind, text = '', number = 0 } = lines[first] ?? {};
  // What is commented out or typed at a prompt is no word of a fence, and a fence in a block an example.
  if (kind !== 'code' || !isWordAlone(text) || /^\s*[#$%>;]/.test(text) || MARKS.test(text))
    return undefined;
  return rulesAt(lines, first + 1, 'code') ? { line: number, lost: BELOW } : undefined;
}

/** The word where no fence is, in front of rules. */
function unfenced(lines: readonly MarkdownLine[], at: number): NearBlock | undefined {
  const { kind, text = '', number = 0 } = lines[at] ?? {};
  if (kind !== 'text' && kind !== 'indented' && kind !== 'comment') return undefined;
  const behind = MARKS.exec(text)?.[1];
  const isFence = behind !== undefined && blockWord(behind) !== 'other';
  const [word = '', rules] = behind?.split(/(?=\{)/, 2) ?? [];
  if (isFence && rules !== undefined && RULES.test(rules) && blockWord(word) !== 'other') {
    return { line: number, lost: NO_FENCE };
  }
  if (!isFence && !isWordAlone(text)) return undefined;
  if (rulesAt(lines, at + 1, 'prose')) return { line: number, lost: NO_FENCE };
  const fence = nextWritten(lines, at + 1);
  const isAbove = lines[fence]?.kind === 'open' && !text.startsWith('#') && fence <= at + 2;
  return isAbove && rulesAt(lines, fence + 1, 'code', LISTS) && !isNamed(lines[fence])
    ? { line: number, lost: ABOVE }
    : undefined;
}

function isNamed(line: MarkdownLine | undefined): boolean {
  return blockWord(line?.text ?? '') !== 'other';
}

/** Signs in front of a word that may stand for a fence. Some that look like marks count as letters. */
const MARKS = /^\s*[^\p{Lu}\p{Ll}\p{Lo}\p{N}\s]{2,}\s*(\S.*)$/u;

/** What rules begin with; further keys are for whoever reads the block. */
const RULES = /\{[^{}]*?["'\u2018-\u201f]?(?:deny|ask|permissions)["'\u2018-\u201f]?\s*:/i;
/** Only in a block of ours do the lists stand alone. */
const LISTS = /^\s*\{\s*"(?:deny|ask)"\s*:/i;
const MOST_LINES = 40;

function rulesAt(
  lines: readonly MarkdownLine[],
  from: number,
  where: 'code' | 'prose',
  pattern: RegExp = RULES,
): boolean {
  const first = nextWritten(lines, from);
  if (!lines[first]?.text.trimStart().startsWith('{')) return false;
  const texts: string[] = [];
  for (const { kind, text } of lines.slice(first, first + MOST_LINES)) {
    const isCode = kind === 'code';
    if (isCode !== (where === 'code') || kind === 'open' || kind === 'close') break;
    texts.push(text);
  }
  return pattern.test(texts.join('\n'));
}

/** The next line on which something stands. */
function nextWritten(lines: readonly MarkdownLine[], from: number): number {
  let at = from;
  while (lines[at]?.text.trim() === '' && lines[at]?.kind !== 'open' && lines[at]?.kind !== 'close')
    at++;
  return at;
}

const NO_FENCE: NearBlock['lost'] = {
  message: 'the rules behind "portcullis" enforce nothing: no fence stands in front of the word.',
  remedy:
    'Write ```portcullis on a line of its own, with three backticks, and ``` behind the rules.',
};
const BELOW: NearBlock['lost'] = {
  message: 'the block enforces nothing: its word "portcullis" stands below the fence.',
  remedy: 'Write "portcullis" behind the fence, on the same line.',
};
const ABOVE: NearBlock['lost'] = {
  message: 'the block enforces nothing: its word "portcullis" stands above the fence.',
  remedy: 'Write "portcullis" behind the fence, on the same line.',
};
