import { messageOf } from '../errors.js';
import { join } from '../platform/fs/paths.js';
import { SKIPPED_DIRECTORIES } from '../settings/trust/tree.js';
import type { SkillRoot } from './find-roots.js';
import {
  ALL,
  type Entry,
  type FindDeps,
  type Found,
  joined,
  listed,
  MOST_ENTRIES,
  NOTHING,
  passedOver,
} from './found.js';
import { commandNameProblem } from './names.js';

const DEEPEST = 8;

/** Command files: every Markdown file below the directory. `a/b/c.md` is called `a:b:c`. */
export async function findCommands(root: SkillRoot, deps: FindDeps): Promise<Found> {
  const walk: Walk = { root, deps, seen: new Set(), entries: 0 };
  return await commandsIn({ directory: root.directory, folders: [] }, walk);
}

interface Walk {
  readonly root: SkillRoot;
  readonly deps: FindDeps;
  /** Real directories, so that a loop of links ends. */
  readonly seen: Set<string>;
  entries: number;
}

interface Folder {
  readonly directory: string;
  /** Those between the root and it. */
  readonly folders: readonly string[];
}

async function commandsIn(at: Folder, walk: Walk): Promise<Found> {
  const list = await listed(at.directory, walk.deps.fs);
  if (!list.ok) return list.found;
  const real = await walk.deps.fs.realPath(at.directory);
  if (walk.seen.has(real)) return NOTHING;
  walk.seen.add(real);
  const found: Found[] = [];
  for (const entry of list.entries) {
    if (++walk.entries > MOST_ENTRIES) {
      const reason = `only the first ${MOST_ENTRIES} files are looked at`;
      return joined([...found, passedOver(ALL, at.directory, reason)]);
    }
    // fail-closed: whoever asks for trust does not look there either.
    const counts = walk.root.only === undefined || walk.root.only === entry.name;
    if (counts && !entry.name.startsWith('.') && !SKIPPED_DIRECTORIES.has(entry.name)) {
      found.push(await fromEntry(entry, at, walk));
    }
  }
  return joined(found);
}

async function fromEntry(entry: Entry, at: Folder, walk: Walk): Promise<Found> {
  const { fs, homes } = walk.deps;
  const file = join(at.directory, entry.name);
  try {
    const kind = entry.kind === 'symlink' ? (await fs.stat(file))?.kind : entry.kind;
    if (kind === 'directory') {
      if (at.folders.length >= DEEPEST) return passedOver(entry.name, file, 'it lies too deep');
      return await commandsIn({ directory: file, folders: [...at.folders, entry.name] }, walk);
    }
    if (kind !== 'file' || !entry.name.toLowerCase().endsWith('.md')) return NOTHING;
    const stem = entry.name.slice(0, -'.md'.length);
    const name = [...at.folders, stem].join(':').normalize('NFC');
    const problem = commandNameProblem(name);
    if (problem !== undefined) {
      return { candidates: [], skipped: [{ name, file, reason: problem, told: true }] };
    }
    const real = await fs.realPath(file);
    const stray = await homes.stray(walk.root, { file, real });
    if (stray !== undefined) return passedOver(name, file, stray);
    const { root } = walk;
    return { candidates: [{ name, root, file, directory: at.directory, real }], skipped: [] };
  } catch (thrown) {
    // fail-closed: what cannot be looked at is not used.
    return passedOver(entry.name, file, `it cannot be looked at: ${messageOf(thrown)}`);
  }
}
