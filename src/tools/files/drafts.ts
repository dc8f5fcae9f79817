import { endOfString } from '../../lib/json.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool } from '../tool.js';
import description from './write-draft.md';

export interface Draft {
  readonly path: string;
  readonly content: string;
}

/** Contents of Write calls that were cut off, kept so that the model need not send them again. */
export interface Drafts {
  keep(draft: Draft): string;
  get(id: string): Draft | undefined;
  /** The file has been written, so its drafts are out of date. */
  drop(path: string): void;
}

const MOST_DRAFTS = 16;

/** Keeps the newest few drafts and drops the oldest. */
export function createDrafts(): Drafts {
  const kept = new Map<string, Draft>();
  let count = 0;
  return {
    keep(draft) {
      count += 1;
      const id = `draft-${count}`;
      kept.set(id, draft);
      const [oldest] = kept.keys();
      if (kept.size > MOST_DRAFTS && oldest !== undefined) kept.delete(oldest);
      return id;
    },
    get: (id) => kept.get(id),
    drop(path) {
      for (const [id, draft] of kept) if (draft.path === path) kept.delete(id);
    },
  };
}

/** Completes a Write that was cut off. Hooks, rules and people see the Write with all of its content. */
export function writeDraftTool(drafts: Pick<Drafts, 'get'>): Tool<ToolInputs['WriteDraft']> {
  return defineTool({
    name: 'WriteDraft',
    kind: 'edit',
    description,
    completes({ draft_id, append = '' }) {
      const draft = drafts.get(draft_id);
      if (draft === undefined) return undefined;
      return { tool: 'Write', input: { file_path: draft.path, content: draft.content + append } };
    },
    subject: ({ draft_id }) => ({ paths: [], summary: `Write draft ${draft_id}` }),
    run: async ({ draft_id }) =>
      failure(
        `There is no draft "${draft_id}" (used already, or too old). Use Write with all of the content.`,
      ),
  });
}

/** The beginning of a pair whose value is a text. */
const PAIR = /\s*[{,]\s*"(\w+)"\s*:\s*"/y;
/** Without a group where the escape is broken or cut. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([^u]))?/g;
const ESCAPES = new Map(
  ['n\n', 't\t', 'r\r', 'b\b', 'f\f', '""', '\\\\', '//'].map((pair) => [pair[0], pair[1]]),
);

/**
 * What can be saved of the JSON of a Write call that was cut off at any byte, tolerating raw line breaks, which
 * models do send. Values of other types do not occur in a Write call; what follows one cannot be trusted. No
 * expression matches a whole text: one with millions of escapes would overflow its stack.
 */
export function salvageWrite(raw: string): { file_path?: string; content?: string } {
  const found: { file_path?: string; content?: string } = {};
  PAIR.lastIndex = 0;
  for (let pair = PAIR.exec(raw); pair !== null; pair = PAIR.exec(raw)) {
    const start = PAIR.lastIndex;
    const end = endOfString(raw, start - 1);
    const { text, isBroken } = decoded(raw.slice(start, end));
    const isCut = isBroken || end === raw.length;
    // A path that was cut is another path; only content is of use in part.
    if (pair[1] === 'file_path' && !isCut) found.file_path = text;
    if (pair[1] === 'content') found.content = isCut ? whole(text) : text;
    if (isCut) break;
    PAIR.lastIndex = end + 1;
  }
  return found;
}

/** The text up to a broken escape. An escape that does not exist stands for itself. */
function decoded(json: string): { readonly text: string; readonly isBroken: boolean } {
  let text = '';
  let from = 0;
  for (const { 0: all, 1: hex, 2: letter, index } of json.matchAll(ESCAPE)) {
    text += json.slice(from, index);
    if (hex !== undefined) text += String.fromCharCode(Number.parseInt(hex, 16));
    else if (letter !== undefined) text += ESCAPES.get(letter) ?? all;
    else return { text, isBroken: true };
    from = index + all.length;
  }
  return { text: text + json.slice(from), isBroken: false };
}

/** Without the first half of a surrogate pair whose second half was cut off. */
function whole(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}
