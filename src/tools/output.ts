import { messageOf, PortcullisError } from '../errors.js';
import { headAndTail, sliceWhole } from '../lib/text/truncate.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { join } from '../platform/fs/paths.js';
import type { ToolContext, ToolOutput } from './tool.js';

/** Characters of a tool's text that the model is shown. */
export const RESULT_CAP = 30_000;
const PREVIEW_CHARS = 2048;

/**
 * The text itself when it is short enough, else the place where all of it was saved and its
 * beginning. When it cannot be saved, its beginning and end, and the reason.
 */
export async function boundText(
  text: string,
  options: { cap?: number; spill: (text: string) => Promise<string> },
): Promise<string> {
  const cap = options.cap ?? RESULT_CAP;
  if (text.length <= cap) return text;
  try {
    const path = await options.spill(text);
    const preview = sliceWhole(text, 0, Math.min(PREVIEW_CHARS, cap));
    return `[${text.length} characters are too many to show. All of them: ${path} (use Grep, or Read with offset and limit). They begin:]\n${preview}\n…`;
  } catch (thrown) {
    return `${headAndTail(text, cap)}\n[The part left out could not be saved: ${messageOf(thrown)}]`;
  }
}

/** Saves long texts of one tool call in the session's directory, for its owner alone; `files` gets their paths. */
export function spillInto(
  fs: FileSystem,
  where: { directory: () => string; name: string },
  files: string[] = [],
): (text: string) => Promise<string> {
  return async (text) => {
    const path = join(where.directory(), `${where.name.replace(/[^\w.-]/g, '_')}.txt`);
    await fs.writeAtomic(path, text, { mode: 0o600 });
    files.push(path);
    return path;
  };
}

/** The result of a call that did not work out, in words for the model. */
export function failure(text: string): ToolOutput {
  return { content: text, isError: true };
}

/** The same for something thrown, with its remedy when it has one. */
export function failureFrom(thrown: unknown): ToolOutput {
  const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
  const message = messageOf(thrown);
  return failure(remedy === undefined ? message : `${message}. ${remedy}`);
}

/** No tool may flood the context, whatever its own cap was. */
const SAFETY_CAP = 450_000;

/** The last bound before a result reaches the model: a text that is too long goes to a file. */
export async function boundOutput(
  output: ToolOutput,
  where: { fs: FileSystem; context: Pick<ToolContext, 'toolUseId' | 'spillDirectory'> },
): Promise<ToolOutput> {
  const { content } = output;
  if (typeof content !== 'string' || content.length <= SAFETY_CAP) return output;
  const spill = spillInto(where.fs, {
    directory: where.context.spillDirectory,
    name: where.context.toolUseId,
  });
  return { ...output, content: await boundText(content, { cap: RESULT_CAP, spill }) };
}
