import { visible } from '../../lib/text/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import { failureFrom } from '../output.js';
import type { AnyTool, ToolContext, ToolOutput } from '../tool.js';
import { judgedNames, targetPath } from './file-target.js';

const SHOWN_ENTRIES = 500;
/** Names that are held against the rules before it is left at what was found. */
const MOST_LOOKS = 10_000;

/** Read, for a directory that a person names: judged by the same rules, it shows what is in there. */
export function listingTool(read: AnyTool, deps: { readonly fs: FileSystem }): AnyTool {
  return {
    ...read,
    run(input, context) {
      const path = targetPath(String(input.file_path), context.workspace);
      return listing(deps.fs, path, context).catch(failureFrom);
    },
  };
}

async function listing(
  fs: FileSystem,
  path: string,
  context: Pick<ToolContext, 'hiding' | 'touched'>,
): Promise<ToolOutput> {
  const isHidden = context.hiding?.();
  const entries = await fs.list(path, { realPath: judgedNames(context, path)?.real });
  const shown: string[] = [];
  let hidden = 0;
  for (const { name, kind } of entries.slice(0, MOST_LOOKS)) {
    if (shown.length === SHOWN_ENTRIES) break;
    // A name alone tells something too.
    if ((await isHidden?.(join(path, name))) === true) hidden++;
    else shown.push(`${visible(name)}${kind === 'directory' ? '/' : ''}`);
  }
  const looked = shown.length + hidden;
  const lines = [
    ...(entries.length === 0 ? ['(empty)'] : shown),
    ...(hidden === 0 ? [] : [`[${hidden} more left out: a rule keeps them from being read.]`]),
    ...(looked === entries.length
      ? []
      : [`[The first ${looked} of ${entries.length}. Use Glob for others.]`]),
  ];
  const content = lines.join('\n');
  const { length } = lines;
  const file = { filePath: path, content, numLines: length, startLine: 1, totalLines: length };
  return { content, structured: { type: 'text', file } };
}
