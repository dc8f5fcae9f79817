import { dirname, isInside, resolve } from '../env/paths.js';
import { programOf, type SimpleCommand } from './shell/model.js';
import type { FenceFiles } from './workspace-fence-paths.js';

/**
 * Paths are looked up before a command line runs. A command in it that puts a link in place makes
 * paths of later commands lead elsewhere; this tells which ones may.
 */
export interface LinkWatch {
  /** A command has been judged and comes before those that follow. */
  after(command: SimpleCommand): Promise<void>;
  /** Why nobody can tell where a path leads by then. */
  problem(path: string): Promise<string | undefined>;
}

const MOVES_FILES = new Set(['mv', 'cp', 'rsync', 'install']);
const UNPACKS = new Set('tar bsdtar unzip 7z 7za cpio patch ar rpm2cpio dpkg-deb'.split(' '));
const GIT_PLACES =
  /^(checkout|switch|reset|restore|stash|merge|rebase|pull|cherry-pick|revert|am|apply|clone|submodule|read-tree|checkout-index|sparse-checkout)$/;

export function createLinkWatch(fs: FenceFiles): LinkWatch {
  const risky: string[] = [];
  const made = new Set<string>();
  let anywhere = false;
  return {
    async after({ words, directories }) {
      const program = programOf(words) ?? '';
      const values = words.slice(1).map((word) => word.value);
      const operands = values.filter((value) => value !== '' && !value.startsWith('-'));
      const places = (directories ?? []).flatMap((directory) =>
        operands.map((operand) => resolve(directory, operand)),
      );
      if (program === 'mkdir') for (const place of places) made.add(place);
      const git = program === 'git' ? operands[0] : undefined;
      if (UNPACKS.has(program) || (git !== undefined && GIT_PLACES.test(git))) anywhere = true;
      const placesLinks =
        program === 'ln' ||
        (MOVES_FILES.has(program) && (await anyLink(fs, sourcesOf(values, places))));
      if (placesLinks) {
        anywhere = true;
        risky.push(...places);
      }
    },
    async problem(path) {
      const under = risky.find((place) => path !== place && isInside(path, place));
      if (under !== undefined) {
        return `${path} goes through ${under}, which is a link by then; use another call for it`;
      }
      if (!anywhere) return undefined;
      const parent = dirname(path);
      if (made.has(parent) || (await fs.stat(parent)) !== undefined) return undefined;
      return `${parent} is not there yet, and may be a link by then; use another call for it`;
    },
  };
}

/** All but the last, which is where they go, unless an option says where. */
function sourcesOf(values: readonly string[], places: readonly string[]): readonly string[] {
  const isNamed = values.some((value) => /^(-[a-zA-Z]*t|--target-dir)/.test(value));
  return isNamed ? places : places.slice(0, -1);
}

const MOST_ENTRIES = 2_000;

/** Whether one of these is a link, or a directory with one in it. Too much to look through counts as yes. */
async function anyLink(fs: FenceFiles, paths: readonly string[]): Promise<boolean> {
  const queue = [...paths];
  for (let looked = 0; queue.length > 0; looked++) {
    // fail-closed: what was not looked at may hold one.
    if (looked > MOST_ENTRIES) return true;
    const path = queue.pop() ?? '';
    const kind = (await fs.lstat(path))?.kind;
    if (kind === 'symlink') return true;
    if (kind !== 'directory') continue;
    for (const entry of await fs.list(path)) {
      if (entry.kind === 'symlink') return true;
      if (entry.kind === 'directory') queue.push(resolve(path, entry.name));
    }
  }
  return false;
}
