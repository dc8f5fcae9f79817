import { messageOf, systemCodeOf } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';
import { SKIPPED_DIRECTORIES } from '../../settings/trust/tree.js';
import type { SkippedSkill } from '../skill.js';
import type { Homes } from './homes.js';
import { commandNameProblem, nameProblem } from './names.js';
import type { SkillFiles, SkillRoot } from './roots.js';

/** A file that holds a skill, before it is read. */
export interface Candidate {
  /** What it is called by, as far as its place says. */
  readonly name: string;
  readonly root: SkillRoot;
  readonly file: string;
  readonly directory: string;
  /** The file behind all links: what is the same file is the same skill. */
  readonly real: string;
}

interface Found {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly SkippedSkill[];
}

interface FindDeps {
  readonly fs: SkillFiles;
  readonly homes: Homes;
}

export type Entry = Awaited<ReturnType<SkillFiles['list']>>[number];

/** In place of a name, where something is said about a whole directory. */
export const ALL = '*';
/** More than anybody has; a limit, so that a start stays quick. */
export const MOST_ENTRIES = 5_000;
const SKILL_FILE = 'SKILL.md';
/** Holds skills that an account brings, which are not read here. */
const RESERVED = 'synced';
const DEEPEST = 8;

/** What is in one root. Reads directories, no file. */
export async function findIn(root: SkillRoot, deps: FindDeps): Promise<Found> {
  const finder = new Finder(root, deps);
  try {
    if (root.kind === 'commands') await finder.commandsIn(root.directory, []);
    else if (root.kind === 'skills') await finder.skills();
    else await finder.pluginItself();
  } catch (thrown) {
    finder.skip(ALL, root.directory, `it cannot be looked at: ${messageOf(thrown)}`);
  }
  return finder;
}

/** The entries of a directory; undefined where there is none, or where it is skipped. */
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

class Finder implements Found {
  readonly candidates: Candidate[] = [];
  readonly skipped: SkippedSkill[] = [];
  readonly #root: SkillRoot;
  readonly #fs: SkillFiles;
  readonly #homes: Homes;
  /** Real directories of commands, so that a loop of links ends. */
  readonly #seen = new Set<string>();
  #entries = 0;

  constructor(root: SkillRoot, { fs, homes }: FindDeps) {
    this.#root = root;
    this.#fs = fs;
    this.#homes = homes;
  }

  skip(name: string, file: string, reason: string): void {
    this.skipped.push({ name, file, reason });
  }

  /** A plugin that is one skill, in its own directory. */
  async pluginItself(): Promise<void> {
    const { directory, prefix = '' } = this.#root;
    const file = join(directory, SKILL_FILE);
    if ((await this.#fs.stat(file).catch(() => undefined))?.kind !== 'file') return;
    const candidate = { name: prefix, file, directory, real: await this.#fs.realPath(file) };
    await this.#add(candidate, SKILL_FILE);
  }

  /** The skills of one directory: each a directory with a SKILL.md. */
  async skills(): Promise<void> {
    const { directory } = this.#root;
    const entries = await this.#list(directory);
    if (entries === undefined) return;
    const real = await this.#fs.realPath(directory);
    for (const entry of entries.slice(0, MOST_ENTRIES)) {
      await this.#guarded(entry, join(directory, entry.name), (path) =>
        this.#skillIn(entry, path, real),
      );
    }
    if (entries.length > MOST_ENTRIES) {
      const reason = `only the first ${MOST_ENTRIES} entries of a directory are looked at`;
      this.skip(ALL, directory, reason);
    }
  }

  /** Command files: every Markdown file below the directory. `a/b/c.md` is called `a:b:c`. */
  async commandsIn(directory: string, folders: readonly string[]): Promise<void> {
    const entries = await this.#list(directory);
    if (entries === undefined) return;
    const real = await this.#fs.realPath(directory);
    if (this.#seen.has(real)) return;
    this.#seen.add(real);
    for (const entry of entries) {
      if (++this.#entries > MOST_ENTRIES) {
        this.skip(ALL, directory, `only the first ${MOST_ENTRIES} files are looked at`);
        return;
      }
      const { only } = this.#root;
      // fail-closed: whoever asks for trust does not look there either.
      if (SKIPPED_DIRECTORIES.has(entry.name) || (only ?? entry.name) !== entry.name) continue;
      await this.#guarded(entry, join(directory, entry.name), (path) =>
        this.#command(entry, path, { directory, folders }),
      );
    }
  }

  #list(directory: string): Promise<readonly Entry[] | undefined> {
    return listDirectory(directory, this.#fs, (reason) => this.skip(ALL, directory, reason));
  }

  async #guarded(
    { name }: Entry,
    path: string,
    look: (path: string) => Promise<void>,
  ): Promise<void> {
    if (name.startsWith('.')) return;
    try {
      await look(path);
    } catch (thrown) {
      // fail-closed: what cannot be looked at is not used.
      this.skip(name, path, `it cannot be looked at: ${messageOf(thrown)}`);
    }
  }

  async #kindOf({ kind }: Entry, path: string): Promise<string | undefined> {
    return kind === 'symlink' ? (await this.#fs.stat(path))?.kind : kind;
  }

  async #add(found: Omit<Candidate, 'root'>, shown = found.name): Promise<void> {
    const stray = await this.#homes.stray(this.#root, found);
    if (stray === undefined) this.candidates.push({ ...found, root: this.#root });
    else this.skip(shown, found.file, stray);
  }

  async #skillIn(entry: Entry, directory: string, realRoot: string): Promise<void> {
    const { name } = entry;
    const kind = await this.#kindOf(entry, directory);
    if (kind !== 'directory') return this.#looseFile(name, directory, kind);
    // fail-closed: whoever asks for trust does not look there either.
    if (SKIPPED_DIRECTORIES.has(name)) {
      return this.skip(name, directory, 'no skill may have this name');
    }
    if (this.#root.origin === 'user' && name === RESERVED) {
      return this.skip(RESERVED, directory, 'the folder is kept for skills of an account');
    }
    const file = join(directory, SKILL_FILE);
    const stat = await this.#fs.lstat(file);
    if (stat === undefined) return this.skip(name, directory, await whyNot(directory, this.#fs));
    const normal = name.normalize('NFC');
    const problem = nameProblem(normal);
    if (problem !== undefined) return this.skip(name, file, problem);
    const isLinked = entry.kind === 'symlink' || stat.kind === 'symlink';
    const real = isLinked ? await this.#fs.realPath(file) : join(realRoot, name, SKILL_FILE);
    await this.#add({ name: normal, file, directory, real });
  }

  #looseFile(name: string, path: string, kind: string | undefined): void {
    if (kind === undefined) this.skip(name, path, 'it is a link to nothing');
    else if (/\.md$/i.test(name) && !/^readme\.md$/i.test(name)) {
      const folder = name.slice(0, -'.md'.length);
      this.skip(name, path, `a skill is a directory: put it into ${folder}/${SKILL_FILE}`);
    }
  }

  async #command(
    entry: Entry,
    file: string,
    { directory, folders }: { readonly directory: string; readonly folders: readonly string[] },
  ): Promise<void> {
    const kind = await this.#kindOf(entry, file);
    if (kind === 'directory') {
      if (folders.length >= DEEPEST) this.skip(entry.name, file, 'it lies too deep');
      else await this.commandsIn(file, [...folders, entry.name]);
    }
    if (kind !== 'file' || !entry.name.toLowerCase().endsWith('.md')) return;
    const stem = entry.name.slice(0, -'.md'.length);
    const name = [...folders, stem].join(':').normalize('NFC');
    const reason = commandNameProblem(name);
    if (reason !== undefined) this.skipped.push({ name, file, reason, told: true });
    else await this.#add({ name, file, directory, real: await this.#fs.realPath(file) });
  }
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
