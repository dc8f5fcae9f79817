import { KeyedQueue } from '../../lib/queue.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { failureFrom } from '../output.js';
import type { ToolOutput } from '../tool.js';
import { judgedNames } from './file-target.js';
import { versionOf } from './read-state.js';
import type { WriteLedger, Writer } from './write-ledger.js';

/** What every tool that changes a file needs. */
export interface ChangeDeps {
  readonly fs: FileSystem;
  readonly ledger?: WriteLedger;
}

/** Changes that are under way, by file. */
const changes = new KeyedQueue();

/**
 * Runs the changes of one file one after the other, so that the second of two calls sees what the first wrote.
 * A throw becomes a failed result.
 */
export async function changeFile(
  { fs, ledger }: ChangeDeps,
  { path, context }: { readonly path: string; readonly context: Omit<Writer, 'ledger'> },
  work: (writer: Writer) => Promise<ToolOutput>,
): Promise<ToolOutput> {
  try {
    const key = judgedNames(context, path)?.real ?? (await fs.realPath(path));
    return await changes.add(key, () => work({ ledger, ...context }));
  } catch (thrown) {
    return failureFrom(thrown);
  }
}

/** Writes and remembers the result as seen: the model wrote it. Only inside of `changeFile`. */
export async function writeAndNote(
  fs: FileSystem,
  path: string,
  what: { data: string | Uint8Array; writer: Writer },
): Promise<void> {
  const realPath = judgedNames(what.writer, path)?.real;
  await fs.writeAtomic(path, what.data, { realPath });
  const stat = await fs.stat(path);
  if (stat === undefined) return;
  const bytes = typeof what.data === 'string' ? new TextEncoder().encode(what.data) : what.data;
  const { readState, ledger, agent, toolUseId } = what.writer;
  const version = versionOf(stat, bytes);
  const key = realPath ?? (await fs.realPath(path));
  readState.note(key, version);
  ledger?.wrote(key, { agent: agent.path, toolUseId, hash: version.hash });
}
