import { expandHome, homeDirectory, nodeFileSystem, resolvePath } from '../../app.js';
import type { ArgumentOption, CommandContext } from './command.js';

/** The entries of the directory that is being typed. */
export async function directoryEntries(
  { session, env }: CommandContext,
  typed: string,
): Promise<readonly ArgumentOption[]> {
  const parent = typed.slice(0, typed.lastIndexOf('/') + 1);
  try {
    const { cwd } = session.info();
    const entries = await nodeFileSystem.list(
      resolvePath(cwd, expandHome(parent, homeDirectory(env))),
    );
    return entries
      .filter(({ name }) => !/\s/.test(name) && name !== '.git')
      .map(({ name, kind }) => ({ text: `${parent}${name}${kind === 'directory' ? '/' : ' '}` }))
      .sort((a, b) => a.text.localeCompare(b.text));
  } catch {
    // A directory that cannot be listed has no completions.
    return [];
  }
}
