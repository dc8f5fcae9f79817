import type { FileSystem } from '../platform/fs/fs.js';
import { displayPath, resolve } from '../platform/fs/paths.js';
import type { Asker, GateCall } from './types.js';

export type SteadyFileSystem = Pick<FileSystem, 'realPath' | 'lstat'>;

/** One steady asker for each: questions that are the same are recognised by whom they are put to. */
export function createSteadying(fs: SteadyFileSystem): (asker: Asker) => Asker {
  const made = new WeakMap<Asker, Asker>();
  return (asker) => {
    const known = made.get(asker) ?? steadyAsker(fs, asker);
    made.set(asker, known);
    return known;
  };
}

/**
 * A yes is for what stood there when the question was put. If the directory, a file that the call
 * names or a script that it runs became another one while somebody thought about it, the yes is
 * void.
 */
function steadyAsker(fs: SteadyFileSystem, asker: Asker): Asker {
  return async (request) => {
    const { call } = request;
    const before = await stampsOf(fs, call);
    const answer = await asker(request);
    if (answer.behavior !== 'allow') return answer;
    const after = await stampsOf(fs, call);
    const changed = [...before].find(([path, stamp]) => after.get(path) !== stamp)?.[0];
    if (changed === undefined) return answer;
    // fail-closed: the answer was about something else.
    const name = displayPath(changed, call.workspace.cwd) || changed;
    const message = `${call.tool.name} was not run: ${name} changed while the question about it was open. Look at it again, then ask again.`;
    return { behavior: 'deny', message };
  };
}

/** Scripts by their name, and whatever is started by its path. */
const SCRIPT = /\.(sh|bash|zsh|py|js|mjs|cjs|ts|pl|rb|php|ps1|mk)$|(^|\/)Makefile$/i;

async function stampsOf(
  fs: SteadyFileSystem,
  { workspace, subject }: GateCall,
): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  const real = await fs.realPath(workspace.cwd);
  const directory = await fs.lstat(real);
  stamps.set(workspace.cwd, `${real} ${directory?.inode}`);
  for (const { path } of subject.paths) stamps.set(path, await fs.realPath(path));
  for (const word of (subject.command ?? '').match(/[^\s'"`;|&()<>]+/g) ?? []) {
    if (!SCRIPT.test(word) && !word.includes('/')) continue;
    const path = resolve(workspace.cwd, word);
    const target = await fs.realPath(path).catch(() => path);
    const stat = await fs.lstat(target).catch(() => undefined);
    const isProgram = stat?.kind === 'file' && (SCRIPT.test(word) || (stat.mode & 0o111) !== 0);
    if (isProgram) {
      stamps.set(path, [target, stat.inode, stat.size, stat.mtimeMs, stat.ctimeMs].join(' '));
    }
  }
  return stamps;
}
