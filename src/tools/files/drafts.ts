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
      const [oldest] = kept.keys();
      if (kept.size > MOST_DRAFTS && oldest !== undefined) kept.delete(oldest);
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

/** A key and its text, as far as it arrived; an escape that was cut ends it. */
const PAIR = /\s*[{,]\s*"(\w+)"\s*:\s*"((?:[^"\\]+|\\u[0-9a-f]{4}|\\[^u])*)("?)\s*/iy;
const ESCAPES = new Map(
  ['n\n', 't\t', 'r\r', 'b\b', 'f\f', '""', '\\\\', '//'].map((pair) => [pair[0], pair[1]]),
);

/**
 * What can be saved of the JSON of a Write call that was cut off at any byte, tolerating raw line breaks, which
 * models do send. Values of other types do not occur in a Write call; what follows one cannot be trusted.
 */
export function salvageWrite(raw: string): { file_path?: string; content?: string } {
  const found: { file_path?: string; content?: string } = {};
  PAIR.lastIndex = 0;
  for (let pair = PAIR.exec(raw); pair !== null; pair = PAIR.exec(raw)) {
    const [, key, text = '', end] = pair;
    // A path that was cut is another path; only content is of use in part.
    if (key === 'file_path' && end !== '') found.file_path = decoded(text);
    if (key === 'content') found.content = end === '' ? whole(decoded(text)) : decoded(text);
    if (end === '') break;
  }
  return found;
}

/** An escape that does not exist stands for itself. */
function decoded(text: string): string {
  return text.replace(/\\(?:u(\w{4})|(.))/gs, (all, hex: string | undefined, letter: string) =>
    hex === undefined
      ? (ESCAPES.get(letter) ?? all)
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Without the first half of a surrogate pair whose second half was cut off. */
function whole(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}
