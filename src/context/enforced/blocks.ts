import { type MarkdownLine, markdownLines } from '../instructions/markdown-lines.js';
import { withoutHidden } from '../instructions/text.js';
import { type BlockWord, blockWord } from './fence-name.js';
import { nearBlocks } from './near-fences.js';

/** A fenced block with our word behind the fence, or with one that was meant to be. */
export interface Block {
  /** Of the fence. */
  readonly line: number;
  readonly text: string;
  /** Why it enforces nothing. */
  readonly lost?: { readonly message: string; readonly remedy: string };
}

/** The blocks of a text, as somebody sees it who cannot see hidden characters: so it is shown. */
export function blocksOf(source: string): readonly Block[] {
  const lines = [...markdownLines(withoutHidden(source).text)];
  const blocks = fencedBlocks(lines);
  const named = new Set(blocks.map(({ line }) => line));
  const near = nearBlocks(lines).filter(({ line }) => !named.has(line));
  return [...blocks, ...near.map((one) => ({ ...one, text: '' }))].sort(byLine);
}

function byLine(one: Block, other: Block): number {
  return one.line - other.line;
}

function fencedBlocks(lines: readonly MarkdownLine[]): readonly Block[] {
  const blocks: Block[] = [];
  let open: { line: number; lines: string[]; stray?: string } | undefined;
  /** A fenced block of something else, with those of ours that stand in it. */
  let around: Around | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push({ line: open.line, text: open.lines.join('\n') });
    open = undefined;
  };
  for (const line of lines) {
    const { number, kind, text: content } = line;
    if (open !== undefined) {
      const ends =
        open.stray === undefined ? kind !== 'code' : seen(line).trimStart().startsWith(open.stray);
      if (!ends) {
        open.lines.push(seen(line));
        continue;
      }
      const isMark = open.stray !== undefined || kind === 'close';
      close();
      // What ends a stray block begins one as Markdown sees it.
      if (kind === 'open') around = aroundFrom(line);
      if (isMark) continue;
    }
    if (kind === 'code') {
      if (around !== undefined) lookInside(line, around);
      continue;
    }
    if (around !== undefined) blocks.push(...swallowed(around, { isClosed: kind === 'close' }));
    around = kind === 'open' ? aroundFrom(line) : undefined;
    const fence = kind === 'open' ? { behind: content } : strayIn(line);
    const said = fence === undefined ? 'other' : blockWord(fence.behind);
    if (fence === undefined || said === 'other') continue;
    if (said !== 'ours') blocks.push({ line: number, text: '', lost: misspelt(said) });
    else if (fence.isWithin === true) blocks.push({ line: number, text: '', lost: WITHIN });
    else {
      around = undefined;
      open = {
        line: number,
        lines: [],
        stray: fence.marks,
      };
    }
  }
  close();
  if (around !== undefined) blocks.push(...swallowed(around, { isClosed: false }));
  return blocks.sort(byLine);
}

/** A line as it stands in the quotes and lists around it. */
function seen({ kind, raw, text }: MarkdownLine): string {
  if (kind !== 'open' && kind !== 'close') return kind === 'code' ? text : text.trim();
  return FENCE.exec(raw)?.[0] ?? '';
}

const FENCE = /(`{3,}|~{3,})\s*(.*)$/;

interface StrayFence {
  /** What stands behind the marks. */
  readonly behind: string;
  readonly marks?: string;
  /** Something else stands before it. */
  readonly isWithin?: boolean;
}

/**
 * fail-closed: who indents a block of rules too far, or writes it behind a comment or other words of
 * a line, still means them.
 */
function strayIn({ text }: Pick<MarkdownLine, 'text'>): StrayFence | undefined {
  const first = /^\s*(`{3,}(?=[^`]*$)|~{3,})\s*(\S.*)$/.exec(text);
  if (first !== null) return { marks: first[1] ?? '', behind: first[2] ?? '' };
  const behind = ONE_LINE.exec(text)?.[1] ?? behindOpenMarks(text);
  return behind === undefined ? undefined : { behind, isWithin: true };
}

/** A whole block on a line of its own, which Markdown takes for code within a sentence. */
const ONE_LINE = /^\s*`{3,}([^`{]*\{[^`]*)`{3,}\s*$/;

/** What stands behind the first marks of a fence within a line; those of code that ends there are none. */
function behindOpenMarks(text: string): string | undefined {
  const runs = [...text.matchAll(/`+|~{3,}/g)].map(({ 0: marks, index }) => ({ marks, index }));
  const ends = endsOf(runs.map(({ marks }) => marks));
  for (let at = 0; at < runs.length; at++) {
    const { marks, index } = runs[at] ?? { marks: '', index: 0 };
    const end = ends[at];
    if (end !== undefined) at = end;
    else if (marks.length >= 3) return text.slice(index + marks.length);
  }
  return undefined;
}

/** For each run of marks the next one like it; undefined: it does not begin code. */
function endsOf(runs: readonly string[]): readonly (number | undefined)[] {
  const next = new Map<string, number>();
  const ends: (number | undefined)[] = [];
  for (let at = runs.length - 1; at >= 0; at--) {
    const marks = runs[at] ?? '';
    if (!marks.startsWith('`')) continue;
    ends[at] = next.get(marks);
    next.set(marks, at);
  }
  return ends;
}

interface Around {
  readonly line: number;
  readonly fence: string;
  readonly inside: { readonly line: number; readonly fence: string; readonly behind: string }[];
}

function aroundFrom({ number, raw }: MarkdownLine): Around {
  return { line: number, fence: FENCE.exec(raw)?.[1] ?? '', inside: [] };
}

function lookInside({ number, text }: MarkdownLine, { inside }: Around): void {
  const [, fence = '', behind = ''] = FENCE.exec(text.trimStart()) ?? [];
  if (fence !== '' && blockWord(behind) !== 'other') {
    const isFirst = text.trimStart().startsWith(fence);
    inside.push({ line: number, fence: isFirst ? fence : '', behind });
  }
}

/**
 * fail-closed: a block in one that is never closed, or that would end it, were there no word behind
 * its fence, was not meant to be shown as an example.
 */
function swallowed(
  { line, fence, inside }: Around,
  { isClosed }: { isClosed: boolean },
): readonly Block[] {
  const isLost = (one: Around['inside'][number]): boolean =>
    !isClosed || (one.fence !== '' && one.fence.startsWith(fence));
  return inside.filter(isLost).map((one) => {
    const message = `the block "${one.behind.slice(0, LONGEST_QUOTE)}" enforces nothing: it stands in the block of line ${line}.`;
    const remedy = 'Close that one first; around an example write a longer fence.';
    return { line: one.line, text: '', lost: { message, remedy } };
  });
}

const LONGEST_QUOTE = 80;

const WITHIN: Required<Block>['lost'] = {
  message: 'the block "portcullis" enforces nothing: its fence shares the line with other text.',
  remedy: 'Begin a line with the fence; in a sentence write it as code.',
};

function misspelt({ misspelt: word }: Exclude<BlockWord, string>): Required<Block>['lost'] {
  const remedy = 'Write "portcullis" behind the fence.';
  return { message: `the block "${word}" enforces nothing.`, remedy };
}
