import { structuredPatch } from '../../lib/diff.js';
import { own } from '../../lib/own.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { ApprovedTools } from '../approval/tool-approvals.js';
import type { RawTool } from '../server.js';
import { definingParts, wordsFingerprint } from './fingerprint.js';

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

/** What one server says about the use of its tools (`instructions`), held against what was accepted. */
export interface HeardWords {
  /** What the model may be told; empty for nothing. */
  readonly inForce: string;
  /** Why what it says now is withheld. Undefined: it is not. */
  readonly problem: string | undefined;
  /** Set when nobody has taken note of any words of this server: these are to be remembered. */
  readonly unnoted: boolean;
}

/** The first words of a server stand; others wait until somebody has accepted them. `known`: in force in this session. */
export function heardWords({
  name,
  said,
  known,
  approved,
}: {
  readonly name: string;
  /** Fit to be shown; empty when it says nothing. */
  readonly said: string;
  readonly known: string | undefined;
  readonly approved: Pick<ApprovedTools, 'damaged' | 'words'>;
}): HeardWords {
  const { words, damaged } = approved;
  const held = words?.fingerprint ?? (known === undefined ? undefined : wordsFingerprint(known));
  const unnoted = words === undefined;
  if (held === wordsFingerprint(said)) return { inForce: said, problem: undefined, unnoted };
  // Words that are taken back are not repeated in the server's name.
  if (held !== undefined && said === '') return { inForce: '', problem: undefined, unnoted: false };
  const remedy = `The model is not told the new words. To look and accept: portcullis mcp approve ${shellWord(name)} --tools`;
  if (held !== undefined) {
    const isKnown = known !== undefined && wordsFingerprint(known) === held;
    const old = isKnown ? known : words?.text;
    const change = describeWordsChange(old, said);
    const problem = `the MCP server "${name}" no longer says what it said about the use of its tools: ${change}. ${remedy}`;
    return { inForce: old ?? '', problem, unnoted: false };
  }
  // fail-closed: an approval that is lost may have been one for other words.
  if (damaged && said !== '') {
    const problem = `what was accepted of the MCP server "${name}" can no longer be read, so nobody can tell whether what it says about the use of its tools has changed. ${remedy}`;
    return { inForce: '', problem, unnoted: false };
  }
  return { inForce: said, problem: undefined, unnoted: true };
}
