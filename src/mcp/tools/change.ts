import { structuredPatch } from '../../lib/diff.js';
import { own } from '../../lib/own.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { RawTool } from '../server.js';
import { definingParts } from './fingerprint.js';

const LINE_CHARS = 160;
/** Of each part of a definition, so that none crowds out another. */
const MOST_LINES = 4;
/** What the model goes by comes first. */
const ORDER = ['name', 'description', 'inputSchema', 'title', 'outputSchema', '_meta'];

/** What is different in a definition, in a few lines for a person. */
export function describeChange(before: RawTool | undefined, after: RawTool): string {
  if (before === undefined) return 'what it was before cannot be told';
  const old = definingParts(before);
  const now = definingParts(after);
  const parts = [...new Set([...ORDER, ...Object.keys(old), ...Object.keys(now)])];
  return parts
    .flatMap((part) => changeOf(textOf(part, own(old, part)), textOf(part, own(now, part))))
    .join(' ⏎ ');
}

/** The same for what a server says about the use of its tools. */
export function describeWordsChange(before: string | undefined, after: string): string {
  if (before === undefined) return 'what it said before cannot be told';
  return changeOf(textOf('instructions', before), textOf('instructions', after)).join(' ⏎ ');
}

function changeOf(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const changed = structuredPatch(before, after, { context: 0 })
    .flatMap(({ lines }) => lines)
    .filter((line) => !line.startsWith('\\'));
  const shown = changed.slice(0, MOST_LINES).map((line) => {
    const text = visible(`${line.slice(0, 1)} ${line.slice(1).trim()}`);
    return text.length <= LINE_CHARS ? text : `${sliceWhole(text, 0, LINE_CHARS)}…`;
  });
  const rest = changed.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more lines`] : shown;
}

/** Keys in order, so that another order is no difference; a long text sentence by sentence. */
function textOf(part: string, given: unknown): string {
  if (given === undefined) return '';
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value === 'string') return value.length > LINE_CHARS ? sentences(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
  };
  return `"${part}": ${JSON.stringify(sorted(given), null, 1)}\n`;
}

function sentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?\n])\s*/);
}
