import { messageOf } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';
import { SKIPPED_DIRECTORIES } from '../../settings/trust/tree.js';
import {
  ALL,
  AT_ONCE,
  type Entry,
  type FindDeps,
  type Found,
  joined,
  listed,
  MOST_ENTRIES,
  mapBounded,
  NOTHING,
  passedOver,
} from './discovery-result.js';
import { commandNameProblem, nameProblem } from './names.js';
import type { SkillFiles, SkillRoot } from './roots.js';

/** What is in one root. Reads directories, no file. */
export async function findIn(root: SkillRoot, deps: FindDeps): Promise<Found> {
  switch (root.kind) {
    case 'commands':
      return await findCommands(root, deps);
    case 'skills':
      return await findSkills(root, deps);
    case 'plugin':
      return await rootSkill(root, deps);
  }
}

const SKILL_FILE = 'SKILL.md';
/** Holds skills that an account brings, which are not read here. */
const RESERVED = 'synced';

/** The skills of one directory: each a directory with a SKILL.md. */
async function findSkills(root: SkillRoot, deps: FindDeps): Promise<Found> {
  const list = await listed(root.directory, deps.fs);
  if (!list.ok) return list.found;
  const real = await deps.fs.realPath(root.directory);
  const place = { root, real, deps };
  const entries = list.entries.slice(0, MOST_ENTRIES);
  const found = joined(await mapBounded(entries, AT_ONCE, (entry) => fromEntry(entry, place)));
  if (list.entries.length <= MOST_ENTRIES) return found;
  const reason = `only the first ${MOST_ENTRIES} entries of a directory are looked at`;
  return joined([found, passedOver(ALL, root.directory, reason)]);
}

/** A plugin that is one skill, in its own directory. */
async function rootSkill(root: SkillRoot, deps: FindDeps): Promise<Found> {
  const file = join(root.directory, SKILL_FILE);
  if ((await deps.fs.stat(file).catch(() => undefined))?.kind !== 'file') return NOTHING;
  const real = await deps.fs.realPath(file);
  const stray = await deps.homes.stray(root, { file, real });
  if (stray !== undefined) return passedOver(SKILL_FILE, file, stray);
  const name = root.prefix ?? '';
  return { candidates: [{ name, root, file, directory: root.directory, real }], skipped: [] };
}

interface Place {
  readonly root: SkillRoot;
  /** The root's directory behind all links. */
  readonly real: string;
  readonly deps: FindDeps;
}

async function fromEntry(entry: Entry, place: Place): Promise<Found> {
  const { root, deps } = place;
  const directory = join(root.directory, entry.name);
  if (entry.name.startsWith('.')) return NOTHING;
  try {
    const kind = entry.kind === 'symlink' ? (await deps.fs.stat(directory))?.kind : entry.kind;
    if (kind !== 'directory') return looseFile(entry, { directory, kind });
    // fail-closed: whoever asks for trust does not look there either.
    if (SKIPPED_DIRECTORIES.has(entry.name)) {
      return passedOver(entry.name, directory, 'no skill may have this name');
    }
    if (root.origin === 'user' && entry.name === RESERVED) {
      return passedOver(RESERVED, directory, 'the folder is kept for skills of an account');
    }
    return await fromDirectory({ ...place, name: entry.name, isLink: entry.kind === 'symlink' });
  } catch (thrown) {
    // fail-closed: what cannot be looked at is not used.
    return passedOver(entry.name, directory, `it cannot be looked at: ${messageOf(thrown)}`);
  }
}

function looseFile(
  { name }: Entry,
  { directory, kind }: { directory: string; kind: string | undefined },
): Found {
  if (kind === undefined) return passedOver(name, directory, 'it is a link to nothing');
  const isDocument = name.toLowerCase().endsWith('.md') && !/^readme\.md$/i.test(name);
  if (!isDocument) return NOTHING;
  const reason = `a skill is a directory: put it into ${name.slice(0, -'.md'.length)}/${SKILL_FILE}`;
  return passedOver(name, directory, reason);
}

async function fromDirectory(
  place: Place & { readonly name: string; readonly isLink: boolean },
): Promise<Found> {
  const { root, deps, isLink } = place;
  const directory = join(root.directory, place.name);
  const file = join(directory, SKILL_FILE);
  const stat = await deps.fs.lstat(file);
  if (stat === undefined) {
    return passedOver(place.name, directory, await whyNot(directory, deps.fs));
  }
  const name = place.name.normalize('NFC');
  const problem = nameProblem(name);
  if (problem !== undefined) return passedOver(place.name, file, problem);
  const realDirectory = isLink ? await deps.fs.realPath(directory) : join(place.real, place.name);
  const real =
    stat.kind === 'symlink' ? await deps.fs.realPath(file) : join(realDirectory, SKILL_FILE);
  const stray = await deps.homes.stray(root, { file, real });
  if (stray !== undefined) return passedOver(name, file, stray);
  return { candidates: [{ name, root, file, directory, real }], skipped: [] };
}

/** For people who wonder where their skill is. */
async function whyNot(directory: string, fs: SkillFiles): Promise<string> {
  const entries = await fs.list(directory);
  const other = entries.find(({ name }) => name.toUpperCase() === SKILL_FILE.toUpperCase());
  if (other !== undefined) return `the file must be called ${SKILL_FILE}, not ${other.name}`;
  if (entries.some(({ name }) => name === '.claude-plugin')) {
    return 'it is a plugin: name it with --plugin-dir';
  }
  for (const { name, kind } of entries.slice(0, 20)) {
    if (kind !== 'directory') continue;
    if ((await fs.lstat(join(directory, name, SKILL_FILE))) !== undefined) {
      return `skills are looked for one level deep: move ${name}/ up`;
    }
  }
  return `there is no ${SKILL_FILE} in it`;
}

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
      found.push(await commandsFrom(entry, at, walk));
    }
  }
  return joined(found);
}

async function commandsFrom(entry: Entry, at: Folder, walk: Walk): Promise<Found> {
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
