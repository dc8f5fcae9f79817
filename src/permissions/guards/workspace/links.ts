import { dirname, isInside, resolve } from '../../../platform/fs/paths.js';
import { linksStay } from '../../paths/links-below.js';
import { programOf, type ShellWord } from '../../shell/model.js';
import { gitPlacesFiles } from './git.js';
import type { FencePlace } from './places.js';

/**
 * Paths are looked up before a command line runs. A command in it that puts a link in place makes
 * paths of later commands lead elsewhere; this tells which ones may.
 */
export interface LinkWatch {
  /** A command has been judged and comes before those that follow: all that it may run, and where. */
  after(
    views: readonly (readonly ShellWord[])[],
    directories: readonly string[] | undefined,
  ): Promise<void>;
  /** Why nobody can tell where a path leads by then. */
  problem(path: string): Promise<string | undefined>;
}

const MOVES_FILES = new Set(['mv', 'cp', 'rsync', 'install']);
const UNPACKS = new Set('tar bsdtar unzip 7z 7za cpio patch ar rpm2cpio dpkg-deb'.split(' '));

/** `roots`: directories that are there by themselves, whatever becomes of what is in them. */
export function createLinkWatch(
  { fs, view }: Pick<FencePlace, 'fs' | 'view'>,
  roots: readonly string[],
): LinkWatch {
  const risky: string[] = [];
  /** Links may be where there was nothing; or also where there is something now. */
  let reach: 'none' | 'new' | 'any' = 'none';

  /** Whether one of these is a link, or a directory with one in it. */
  async function anyLink(paths: readonly string[]): Promise<boolean> {
    for (const path of paths) {
      if ((await fs.lstat(path))?.kind === 'symlink') return true;
      const start = await view.judge.spell(path);
      if (!(await linksStay([start], view.judge, { isFine: () => false }))) return true;
    }
    return false;
  }

  async function look(words: readonly ShellWord[], directories: readonly string[]): Promise<void> {
    const program = programOf(words) ?? '';
    // fail-closed: what puts files in place by itself may replace a directory by a link.
    if (UNPACKS.has(program) || (program === 'git' && gitPlacesFiles(words))) reach = 'any';
    if (program !== 'ln' && !MOVES_FILES.has(program)) return;
    const values = words.slice(1).map((word) => word.value);
    const operands = values.filter((value) => value !== '' && !value.startsWith('-'));
    const places = directories.flatMap((directory) =>
      operands.map((operand) => resolve(directory, operand)),
    );
    if (program !== 'ln' && !(await anyLink(sourcesOf(values, places)))) return;
    if (reach === 'none') reach = 'new';
    risky.push(...places);
  }

  return {
    async after(views, directories = []) {
      for (const words of views) await look(words, directories);
    },
    async problem(path) {
      const under = risky.find((place) => path !== place && isInside(path, place));
      if (under !== undefined) {
        return `${path} goes through ${under}, which is a link by then; use another call for it`;
      }
      const parent = dirname(path);
      if (reach === 'none' || roots.includes(parent)) return undefined;
      if (reach === 'new' && (await fs.stat(parent)) !== undefined) return undefined;
      return `${parent} may be a link by then; use another call for it`;
    },
  };
}

/** All but the last, which is where they go, unless an option says where. */
function sourcesOf(values: readonly string[], places: readonly string[]): readonly string[] {
  const isNamed = values.some((value) => /^(-[a-zA-Z]*t|--target-dir)/.test(value));
  return isNamed ? places : places.slice(0, -1);
}
