import { join } from '../env/paths.js';
import { messageOf } from '../errors.js';
import { PASSED_OVER } from '../settings/trust-names.js';
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
import { nameProblem } from './names.js';

const DEEPEST = 8;

/** Old command files: every Markdown file below the directory; its folders are no part of the name. */
export async function findCommands(root: SkillRoot, deps: FindDeps): Promise<Found> {
  const walk: Walk = { root, deps, seen: new Set(), entries: 0 };
  return await commandsIn({ directory: root.directory, folder: '', depth: 0 }, walk);
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
  readonly folder: string;
  readonly depth: number;
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
    if (counts && !entry.name.startsWith('.') && !PASSED_OVER.has(entry.name)) {
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
      const folder = at.folder === '' ? entry.name : `${at.folder}/${entry.name}`;
      if (at.depth >= DEEPEST) return passedOver(entry.name, file, 'it lies too deep');
      return await commandsIn({ directory: file, folder, depth: at.depth + 1 }, walk);
    }
    if (kind !== 'file' || !entry.name.toLowerCase().endsWith('.md')) return NOTHING;
    const name = entry.name.slice(0, -'.md'.length).normalize('NFC');
    const problem = nameProblem(name);
    if (problem !== undefined) return passedOver(entry.name, file, problem);
    const real = await fs.realPath(file);
    const stray = await homes.stray(walk.root, { file, real });
    if (stray !== undefined) return passedOver(name, file, stray);
    const { root } = walk;
    const folder = at.folder === '' ? {} : { folder: at.folder };
    return {
      candidates: [{ name, root, file, directory: at.directory, real, ...folder }],
      skipped: [],
    };
  } catch (thrown) {
    // fail-closed: what cannot be looked at is not used.
    return passedOver(entry.name, file, `it cannot be looked at: ${messageOf(thrown)}`);
  }
}
