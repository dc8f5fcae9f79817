import { structuredPatch } from '../../lib/diff.js';
import type { BlobStore } from '../disk/blob-store.js';
import { whyNotStored } from '../journal/states.js';
import type { Change, NodeState } from '../types.js';

/** A unified diff in git's format; undefined when no text difference exists. */
export async function diffOf(change: Change, store: BlobStore): Promise<string | undefined> {
  const before = await contentOf(change.before, store);
  const after = await contentOf(change.after, store);
  const head = headOf(change);
  if (before.kind === 'none' && after.kind === 'none')
    return head.length > 1 ? text(head) : undefined;
  const [old, now] = namesOf(change);
  const missing = [before, after].find((content) => content.kind === 'missing');
  if (missing?.kind === 'missing') return text([...head, `Contents not kept: ${missing.why}`]);
  if (before.kind === 'binary' || after.kind === 'binary') {
    return text([...head, `Binary files ${old} and ${now} differ`]);
  }
  const hunks = structuredPatch(textOf(before), textOf(after));
  if (hunks.length === 0) return head.length > 1 ? text(head) : undefined;
  const body = hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
  return text([...head, `--- ${old}`, `+++ ${now}`, ...body]);
}

/** Counts added and removed lines; zero for binary content. */
export async function countLines(
  before: NodeState | undefined,
  after: NodeState | undefined,
  store: Pick<BlobStore, 'read'>,
): Promise<{ readonly insertions: number; readonly deletions: number }> {
  const old = await contentOf(before, store);
  const now = await contentOf(after, store);
  const isText = (content: Content): boolean => content.kind === 'text' || content.kind === 'none';
  if (!isText(old) || !isText(now)) return { insertions: 0, deletions: 0 };
  const lines = structuredPatch(textOf(old), textOf(now), { context: 0 }).flatMap(
    (hunk) => hunk.lines,
  );
  return {
    insertions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
  };
}

type Content =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary' }
  | { readonly kind: 'missing'; readonly why: string };

/** A line diff of larger files is useless. */
const MOST_TEXT_BYTES = 4 << 20;
const LOOKED_AT_BYTES = 8000;

async function contentOf(
  state: NodeState | undefined,
  store: Pick<BlobStore, 'read'>,
): Promise<Content> {
  if (state === undefined || state.kind === 'directory' || state.kind === 'special') {
    return { kind: 'none' };
  }
  if (state.kind === 'link') return { kind: 'text', text: state.target };
  if (state.blob === undefined) return { kind: 'missing', why: whyNotStored(state) ?? '' };
  if (state.size > MOST_TEXT_BYTES) return { kind: 'binary' };
  const bytes = await store.read(state.blob);
  if (bytes === undefined) return { kind: 'missing', why: 'no longer in the store' };
  if (bytes.subarray(0, LOOKED_AT_BYTES).includes(0)) return { kind: 'binary' };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', STRICT).decode(bytes) };
  } catch {
    // Content that is not UTF-8 would be displayed wrongly.
    return { kind: 'binary' };
  }
}

const STRICT = { fatal: true, ignoreBOM: true };

function headOf({ path, before, after, renamedFrom }: Change): string[] {
  const head = [`diff --git ${quoted(`a/${renamedFrom ?? path}`)} ${quoted(`b/${path}`)}`];
  if (before === undefined && after !== undefined) head.push(`new file mode ${modeOf(after)}`);
  if (after === undefined && before !== undefined) head.push(`deleted file mode ${modeOf(before)}`);
  if (before !== undefined && after !== undefined && modeOf(before) !== modeOf(after)) {
    head.push(`old mode ${modeOf(before)}`, `new mode ${modeOf(after)}`);
  }
  if (renamedFrom !== undefined) {
    head.push(`rename from ${quoted(renamedFrom)}`, `rename to ${quoted(path)}`);
  }
  return head;
}

function modeOf(state: NodeState): string {
  switch (state.kind) {
    case 'file':
      return `100${state.mode.toString(8).padStart(3, '0')}`;
    case 'directory':
      return `040${state.mode.toString(8).padStart(3, '0')}`;
    case 'link':
      return '120000';
    case 'special':
      return '000000';
  }
}

function namesOf({ path, before, after }: Change): readonly [string, string] {
  return [
    before === undefined ? '/dev/null' : quoted(`a/${path}`),
    after === undefined ? '/dev/null' : quoted(`b/${path}`),
  ];
}

/** Quotes names so that a line break cannot imitate a diff line. */
function quoted(name: string): string {
  return /["\\\u0000-\u001f\u007f]/.test(name) ? JSON.stringify(name) : name;
}

function textOf(content: Content): string {
  return content.kind === 'text' ? content.text : '';
}

function range(start: number, lines: number): string {
  // For an empty side git gives the line before it.
  if (lines === 0) return `${start - 1},0`;
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
