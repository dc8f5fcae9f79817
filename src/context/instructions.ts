import type { FileSystem } from '../env/fs.js';
import { dirname, isInside, join } from '../env/paths.js';
import { messageOf } from '../errors.js';

export interface Instruction {
  readonly path: string;
  readonly scope: 'user' | 'project' | 'local';
  readonly text: string;
}

export interface InstructionSearch {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly configDirectory: string;
  /** Instruction files follow the settings sources: `project` covers the project's files. */
  readonly sources: readonly string[];
  /** Told of a file that is there but cannot be read. */
  onSkipped(path: string, reason: string): void;
}

/**
 * The instruction files in the order they are shown: the user's, then from the file system's root
 * down to the working directory. Where a directory has no CLAUDE.md, its AGENTS.md is read.
 */
export async function loadInstructions(search: InstructionSearch): Promise<readonly Instruction[]> {
  const found: Instruction[] = [];
  const take = async (path: string, scope: Instruction['scope']): Promise<boolean> => {
    const text = await readIfThere(search, path);
    if (text === undefined || text.trim() === '') return text !== undefined;
    found.push({ path, scope, text });
    return true;
  };
  if (search.sources.includes('user'))
    await take(join(search.configDirectory, 'CLAUDE.md'), 'user');
  for (const directory of ancestorsDownTo(search.cwd)) {
    if (search.sources.includes('project')) {
      const own = await take(join(directory, 'CLAUDE.md'), 'project');
      const nested = await take(join(directory, '.claude', 'CLAUDE.md'), 'project');
      if (!own && !nested) await take(join(directory, 'AGENTS.md'), 'project');
    }
    if (search.sources.includes('local')) await take(join(directory, 'CLAUDE.local.md'), 'local');
  }
  return found;
}

function ancestorsDownTo(cwd: string): string[] {
  const list = [cwd];
  for (let current = cwd; dirname(current) !== current; current = dirname(current)) {
    list.unshift(dirname(current));
  }
  return list;
}

async function readIfThere(search: InstructionSearch, path: string): Promise<string | undefined> {
  try {
    const stat = await search.fs.stat(path);
    if (stat?.kind !== 'file') return undefined;
    const stray = await strayTarget(search, path);
    if (stray === undefined) return await search.fs.readText(path, { maxBytes: MAX_BYTES });
    search.onSkipped(path, `it is a link to ${stray}`);
    return undefined;
  } catch (thrown) {
    search.onSkipped(path, messageOf(thrown));
    return undefined;
  }
}

/** More than this is not instructions. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * fail-closed: what is read here goes to the model without a question, so a link in a foreign
 * repository must not fetch a key or a password from elsewhere. Links to Markdown are in use.
 */
async function strayTarget(
  { fs, configDirectory }: InstructionSearch,
  path: string,
): Promise<string | undefined> {
  const real = await fs.realPath(path);
  if (real.toLowerCase().endsWith('.md')) return undefined;
  const homes = [dirname(path), configDirectory];
  for (const home of homes) if (isInside(real, await fs.realPath(home))) return undefined;
  return real;
}
