import { displayPath } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool } from '../tool.js';
import { type ChangeDeps, changeFile } from './change-file.js';
import { targetPath } from './file-target.js';
import { writeWhole } from './write.js';
import description from './write-draft.md';

export interface Draft {
  readonly path: string;
  readonly content: string;
}

/** Contents of Write calls that were cut off, kept so that the model need not send them again. */
export interface Drafts {
  keep(draft: Draft): string;
  get(id: string): Draft | undefined;
  drop(id: string): void;
}

const MOST_DRAFTS = 16;

/** Keeps the newest few; a draft that nobody finished gives way. */
export function createDrafts(): Drafts {
  const kept = new Map<string, Draft>();
  let count = 0;
  return {
    keep(draft) {
      count += 1;
      const id = `draft-${count}`;
      kept.set(id, draft);
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_DRAFTS) break;
        kept.delete(oldest);
      }
      return id;
    },
    get: (id) => kept.get(id),
    drop: (id) => {
      kept.delete(id);
    },
  };
}

export function writeDraftTool(
  deps: ChangeDeps & { drafts: Pick<Drafts, 'get' | 'drop'> },
): Tool<ToolInputs['WriteDraft']> {
  return defineTool({
    name: 'WriteDraft',
    kind: 'edit',
    description,
    subject: (input, workspace) => {
      const draft = deps.drafts.get(input.draft_id);
      if (draft === undefined) return { paths: [], summary: `Write draft ${input.draft_id}` };
      const path = targetPath(draft.path, workspace);
      return {
        paths: [{ path, access: 'write' }],
        summary: `Write ${displayPath(path, workspace.cwd)} from ${input.draft_id}`,
      };
    },
    run: async (input, context) => {
      const draft = deps.drafts.get(input.draft_id);
      if (draft === undefined) {
        return failure(
          `There is no draft "${input.draft_id}" (used already, or too old). Use Write with all of the content.`,
        );
      }
      const path = targetPath(draft.path, context.workspace);
      const content = draft.content + (input.append ?? '');
      const output = await changeFile(deps, { path, context }, (writer) =>
        writeWhole(deps.fs, { path, content }, writer),
      );
      // A draft that could not be written stays, so that the call can be repeated after a Read.
      if (output.isError !== true) deps.drafts.drop(input.draft_id);
      return output;
    },
  });
}

/**
 * What can be saved of the JSON of a Write call that was cut off at any byte: strings are decoded up
 * to the cut, half an escape or half a surrogate pair is left out. Not for input that parses.
 */
export function salvageWrite(raw: string): { file_path?: string; content?: string } {
  const found: { file_path?: string; content?: string } = {};
  let at = skipSpace(raw, 0);
  if (raw[at] !== '{') return found;
  at += 1;
  for (;;) {
    at = skipSpace(raw, at);
    if (raw[at] === ',') at = skipSpace(raw, at + 1);
    if (raw[at] !== '"') return found;
    const key = readString(raw, at);
    at = skipSpace(raw, key.end);
    if (!key.closed || raw[at] !== ':') return found;
    at = skipSpace(raw, at + 1);
    // Values of other types do not occur in a Write call; what follows one cannot be trusted.
    if (raw[at] !== '"') return found;
    const value = readString(raw, at);
    // A path that was cut is another path; only content is of use in part.
    if (key.text === 'file_path' && value.closed) found.file_path = value.text;
    if (key.text === 'content') found.content = value.text;
    at = value.end;
    if (!value.closed) return found;
  }
}

interface ReadString {
  readonly text: string;
  readonly end: number;
  readonly closed: boolean;
}

/** Reads the string that opens at `start`, tolerating raw line breaks, which models do send. */
function readString(raw: string, start: number): ReadString {
  const parts: string[] = [];
  let at = start + 1;
  let plainFrom = at;
  for (; at < raw.length; at++) {
    const char = raw[at];
    if (char === '"') {
      parts.push(raw.slice(plainFrom, at));
      return { text: parts.join(''), end: at + 1, closed: true };
    }
    if (char !== '\\') continue;
    parts.push(raw.slice(plainFrom, at));
    const decoded = readEscape(raw, at);
    if (decoded === undefined)
      return { text: whole(parts.join('')), end: raw.length, closed: false };
    parts.push(decoded.text);
    at = decoded.end - 1;
    plainFrom = decoded.end;
  }
  parts.push(raw.slice(plainFrom));
  return { text: whole(parts.join('')), end: raw.length, closed: false };
}

const SHORT_ESCAPES = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
]);

/** Undefined when the escape was cut. One that does not exist stands for itself. */
function readEscape(raw: string, at: number): { text: string; end: number } | undefined {
  const letter = raw[at + 1];
  if (letter === undefined) return undefined;
  if (letter !== 'u') {
    return { text: SHORT_ESCAPES.get(letter) ?? `\\${letter}`, end: at + 2 };
  }
  const digits = raw.slice(at + 2, at + 6);
  if (digits.length < 4) return undefined;
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) return { text: '\\u', end: at + 2 };
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), end: at + 6 };
}

function skipSpace(raw: string, from: number): number {
  let at = from;
  while (raw[at] === ' ' || raw[at] === '\n' || raw[at] === '\r' || raw[at] === '\t') at++;
  return at;
}

/** Without the first half of a surrogate pair whose second half was cut off. */
function whole(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
