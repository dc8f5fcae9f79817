import { structuredPatch } from '../../lib/diff.js';
import { own } from '../../lib/own.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { ApprovedTools } from '../approval/tool-approvals.js';
import type { RawTool } from '../server.js';
import { definingParts, wordsFingerprint } from './fingerprint.js';

const LINE_CHARS = 160;
/** Per part of a definition, so that no part hides the others. */
const MOST_LINES = 4;
/** The parts that the model reads come first. */
const ORDER = ['name', 'description', 'inputSchema', 'title', 'outputSchema', '_meta'];

/** Describes how a definition changed, in a few lines for a person. */
export function describeChange(before: RawTool | undefined, after: RawTool): string {
  if (before === undefined) return 'what it was before cannot be told';
  const old = definingParts(before);
  const now = definingParts(after);
  const parts = [...new Set([...ORDER, ...Object.keys(old), ...Object.keys(now)])];
  return parts
    .flatMap((part) => changeOf(textOf(part, own(old, part)), textOf(part, own(now, part))))
    .join(' ⏎ ');
}

/** Describes how a server's instructions changed. */
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

/** Sorts keys, so that order does not matter, and splits long texts into sentences. */
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

/** A server's instructions compared with the accepted ones. */
export interface HeardWords {
  /** The instructions that the model may see; empty for none. */
  readonly inForce: string;
  /** Why the present instructions are withheld; undefined when they are not. */
  readonly problem: string | undefined;
  /** True when no instructions were recorded yet, so these should be. */
  readonly unnoted: boolean;
}

/** A server's first instructions apply; changed ones wait for acceptance. `known` are those in use in this session. */
export function heardWords({
  name,
  said,
  known,
  approved,
}: {
  readonly name: string;
  /** Sanitised; empty when the server has none. */
  readonly said: string;
  readonly known: string | undefined;
  readonly approved: Pick<ApprovedTools, 'damaged' | 'words'>;
}): HeardWords {
  const { words, damaged } = approved;
  const held = words?.fingerprint ?? (known === undefined ? undefined : wordsFingerprint(known));
  const unnoted = words === undefined;
  if (held === wordsFingerprint(said)) return { inForce: said, problem: undefined, unnoted };
  // Withdrawn instructions are dropped without asking.
  if (held !== undefined && said === '') return { inForce: '', problem: undefined, unnoted: false };
  const remedy = `The model is not told the new words. To look and accept: portcullis mcp approve ${shellWord(name)} --tools`;
  if (held !== undefined) {
    const isKnown = known !== undefined && wordsFingerprint(known) === held;
    const old = isKnown ? known : words?.text;
    const change = describeWordsChange(old, said);
    const problem = `the MCP server "${name}" no longer says what it said about the use of its tools: ${change}. ${remedy}`;
    return { inForce: old ?? '', problem, unnoted: false };
  }
  // fail-closed: the lost approval may have been for other instructions.
  if (damaged && said !== '') {
    const problem = `the approved instructions of the MCP server "${name}" can no longer be read, so it is unknown whether they have changed. ${remedy}`;
    return { inForce: '', problem, unnoted: false };
  }
  return { inForce: said, problem: undefined, unnoted: true };
}
