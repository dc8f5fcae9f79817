import { type PatchHunk, structuredPatch } from '../lib/diff.js';

/** What a file-changing call would do, as a difference against the file as it is now. */
export interface ProposedChange {
  readonly path: string;
  readonly note: string;
  readonly hunks: readonly PatchHunk[];
}

/** The text of a file; undefined: there is none, or it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** Undefined for calls that do not change one file by its text. */
export function proposedChange(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  readText: ReadText,
): ProposedChange | undefined {
  const { file_path: path, old_string: before, new_string: after, content } = input;
  if (typeof path !== 'string') return undefined;
  if (tool === 'Edit' && typeof before === 'string' && typeof after === 'string') {
    const current = readText(path);
    const everywhere = input.replace_all === true;
    if (current !== undefined && before !== '' && current.includes(before)) {
      const edited = everywhere
        ? current.replaceAll(before, () => after)
        : current.replace(before, () => after);
      return { path, note: '', hunks: structuredPatch(current, edited) };
    }
    const note =
      current === undefined
        ? 'The file could not be read; only the replaced text is shown.'
        : 'The file does not contain this text now.';
    const ended = (text: string): string => text.replace(/(?<=[^\n])$/, '\n');
    return {
      path,
      note: before === '' ? 'New text.' : note,
      hunks: structuredPatch(ended(before), ended(after)),
    };
  }
  if (tool !== 'Write' || typeof content !== 'string') return undefined;
  const current = readText(path);
  return {
    path,
    note: current === undefined ? 'New file.' : 'Replaces the whole file.',
    hunks: structuredPatch(current ?? '', content),
  };
}
