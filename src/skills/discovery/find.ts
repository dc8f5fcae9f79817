import { messageOf, systemCodeOf } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';
import { SKIPPED_DIRECTORIES } from '../../settings/trust/tree.js';
import type { SkippedSkill } from '../skill.js';
import type { Homes } from './homes.js';
import { commandNameProblem, nameProblem } from './names.js';
import type { SkillFiles, SkillRoot } from './roots.js';

/** A skill file that is not read yet. */
export interface Candidate {
  /** The name by its location. */
  readonly name: string;
  readonly root: SkillRoot;
  readonly file: string;
  readonly directory: string;
  /** The file with links resolved, to recognise the same skill under two names. */
  readonly real: string;
}

export type Entry = Awaited<ReturnType<SkillFiles['list']>>[number];

/** Replaces a name in messages about a whole directory. */
export const ALL = '*';
/** A generous limit that keeps a start quick. */
export const MOST_ENTRIES = 5_000;
const SKILL_FILE = 'SKILL.md';
/** The folder of skills from an account, which are not read here. */
const RESERVED = 'synced';
const DEEPEST = 8;

/** The entries of a directory; undefined when there is none or it is skipped. */
export async function listDirectory(
  directory: string,
  fs: Pick<SkillFiles, 'stat' | 'list'>,
  skip: (reason: string) => void,
): Promise<readonly Entry[] | undefined> {
  try {
    return (await fs.stat(directory))?.kind === 'directory' ? await fs.list(directory) : undefined;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') skip(`it cannot be listed: ${messageOf(thrown)}`);
    return undefined;
  }
}

interface FindDeps {
  readonly fs: SkillFiles;
  readonly homes: Homes;
}

/** Thrown for a file that cannot be used, with the reason. */
class Unusable extends Error {}

/** Searches the skill directories; reads directories only. */
export class SkillFinder {
  readonly candidates: Candidate[] = [];
  readonly skipped: SkippedSkill[] = [];
  readonly #fs: SkillFiles;
  readonly #homes: Homes;

  constructor({ fs, homes }: FindDeps) {
    this.#fs = fs;
    this.#homes = homes;
  }

  async lookInto(root: SkillRoot): Promise<void> {
    const { kind, directory } = root;
    await this.#guarded(ALL, directory, async () => {
      if (kind === 'skills') await this.#skillsIn(root);
      else if (kind === 'plugin') await this.#pluginItself(root);
      else await this.#commandsIn(root, { seen: new Set(), left: MOST_ENTRIES });
    });
  }

  /** Runs `look` and records a failure as a skipped skill. */
  async #guarded(name: string, file: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (thrown) {
      // fail-closed: a file that cannot be inspected is not used.
      const isSaid = thrown instanceof Unusable;
      const reason = isSaid ? thrown.message : `it cannot be looked at: ${messageOf(thrown)}`;
      this.skipped.push({ name, file, reason });
    }
  }

  #list(directory: string): Promise<readonly Entry[] | undefined> {
    return listDirectory(directory, this.#fs, (reason) => {
      this.skipped.push({ name: ALL, file: directory, reason });
    });
  }

  async #kindOf({ kind }: Entry, path: string): Promise<string | undefined> {
    return kind === 'symlink' ? (await this.#fs.stat(path))?.kind : kind;
  }

  async #add(candidate: Candidate, shown = candidate.name): Promise<void> {
    const { root, file, real } = candidate;
    const reason = await this.#homes.whyOutside(root, { file, real });
    if (reason === undefined) this.candidates.push(candidate);
    else this.skipped.push({ name: shown, file, reason });
  }

  async #pluginItself(root: SkillRoot): Promise<void> {
    const { directory, prefix: name = '' } = root;
    const file = join(directory, SKILL_FILE);
    if ((await this.#fs.stat(file).catch(() => undefined))?.kind !== 'file') return;
    await this.#add(
      { name, root, file, directory, real: await this.#fs.realPath(file) },
      SKILL_FILE,
    );
  }

  /** The skills of one directory: each a directory with a SKILL.md. */
  async #skillsIn(root: SkillRoot): Promise<void> {
    const { directory } = root;
    const entries = await this.#list(directory);
    if (entries === undefined) return;
    const real = await this.#fs.realPath(directory);
    for (const entry of entries.slice(0, MOST_ENTRIES)) {
      const { name } = entry;
      if (name.startsWith('.')) continue;
      const path = join(directory, name);
      await this.#guarded(name, path, () => this.#skillAt(entry, { path, root, realRoot: real }));
    }
    if (entries.length > MOST_ENTRIES) {
      const reason = `only the first ${MOST_ENTRIES} entries of a directory are looked at`;
      this.skipped.push({ name: ALL, file: directory, reason });
    }
  }

  async #skillAt(
    entry: Entry,
    at: { readonly path: string; readonly root: SkillRoot; readonly realRoot: string },
  ): Promise<void> {
    const { path: directory, root, realRoot } = at;
    const { name } = entry;
    const kind = await this.#kindOf(entry, directory);
    if (kind !== 'directory') return refuseLooseFile(name, kind);
    // fail-closed: the check of trust skips these directories, too.
    if (SKIPPED_DIRECTORIES.has(name)) throw new Unusable('no skill may have this name');
    if (root.origin === 'user' && name === RESERVED) {
      throw new Unusable('the folder is kept for skills of an account');
    }
    const file = join(directory, SKILL_FILE);
    const stat = await this.#fs.lstat(file);
    if (stat === undefined) throw new Unusable(await whyNot(directory, this.#fs));
    if (stat.kind !== 'file' && stat.kind !== 'symlink') {
      throw new Unusable(`its ${SKILL_FILE} is not a regular file`);
    }
    const normal = name.normalize('NFC');
    const reason = nameProblem(normal);
    if (reason !== undefined) {
      this.skipped.push({ name, file, reason });
      return;
    }
    const isLinked = entry.kind === 'symlink' || stat.kind === 'symlink';
    const real = isLinked ? await this.#fs.realPath(file) : join(realRoot, name, SKILL_FILE);
    await this.#add({ name: normal, root, file, directory, real });
  }

  /** Command files: every Markdown file below the directory, `a/b/c.md` as `a:b:c`. */
  async #commandsIn(
    root: SkillRoot,
    walk: { readonly seen: Set<string>; left: number },
    folders: readonly string[] = [],
  ): Promise<void> {
    const directory = join(root.directory, ...folders);
    const entries = await this.#list(directory);
    if (entries === undefined) return;
    const real = await this.#fs.realPath(directory);
    // Ends loops of links.
    if (walk.seen.has(real)) return;
    walk.seen.add(real);
    for (const entry of entries) {
      const { name } = entry;
      if (--walk.left < 0) throw new Unusable(`only the first ${MOST_ENTRIES} files are looked at`);
      // fail-closed: the check of trust skips these directories, too.
      const isOut = SKIPPED_DIRECTORIES.has(name) || name.startsWith('.');
      if (isOut || (root.only ?? name) !== name) continue;
      const path = join(directory, name);
      await this.#guarded(name, path, async () => {
        const kind = await this.#kindOf(entry, path);
        if (kind === 'file') await this.#command(root, path, [...folders, name]);
        if (kind !== 'directory') return;
        if (folders.length >= DEEPEST) throw new Unusable('it lies too deep');
        await this.#commandsIn(root, walk, [...folders, name]);
      });
    }
  }

  async #command(root: SkillRoot, file: string, way: readonly string[]): Promise<void> {
    if (!file.toLowerCase().endsWith('.md')) return;
    const name = way.join(':').slice(0, -'.md'.length).normalize('NFC');
    const reason = commandNameProblem(name);
    if (reason !== undefined) this.skipped.push({ name, file, reason, told: true });
    else {
      const directory = join(root.directory, ...way.slice(0, -1));
      await this.#add({ name, root, file, directory, real: await this.#fs.realPath(file) });
    }
  }
}

function refuseLooseFile(name: string, kind: string | undefined): void {
  if (kind === undefined) throw new Unusable('it is a link to nothing');
  if (!/\.md$/i.test(name) || /^readme\.md$/i.test(name)) return;
  const folder = name.slice(0, -'.md'.length);
  throw new Unusable(`a skill is a directory: put it into ${folder}/${SKILL_FILE}`);
}

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
