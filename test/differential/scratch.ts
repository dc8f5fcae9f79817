import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** Texts of files that are not to be read. */
export const ENV_SECRET = 'secret-of-env';
export const OUTSIDE_SECRET = 'secret-outside';
/** A program that only files of the project call. */
export const SOURCED = 'called-by-a-file';

const CODE = `${SOURCED}\n`;

const FILES: Readonly<Record<string, string>> = {
  'project/a.txt': CODE,
  'project/b.txt': CODE,
  'project/sub/b.txt': CODE,
  'project/package.json': '{}',
  'project/.env': `PASSWORD=${ENV_SECRET}\n`,
  'project/lib.sh': CODE,
  'project/run.sh': `#!/jail/bash\n${CODE}`,
  'project/.git/HEAD': 'ref: refs/heads/main\n',
  'project/.git/config': '[core]\n\trepositoryformatversion = 0\n',
  'project/.git/hooks/pre-commit': CODE,
  'project/.claude/settings.json': '{}',
  'home/.bashrc': CODE,
  'home/notes.txt': CODE,
  'outside/secret': `${OUTSIDE_SECRET}\n`,
};

/** A project, a home and a directory outside of both, which can be put back as they were. */
export interface Scratch {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  /** Files that rules keep from being read. */
  readonly watched: readonly string[];
  /** What every file holds and where every link leads, by name. */
  contents(): Readonly<Record<string, string>>;
  /** Puts everything back; what had been changed, relative to the root. */
  restore(): readonly string[];
}

export function createScratch(root: string): Scratch {
  mkdirSync(root);
  let before = fillTree(root);
  return {
    root,
    project: path.join(root, 'project'),
    home: path.join(root, 'home'),
    watched: ['project/.env', 'outside/secret'].map((name) => path.join(root, name)),
    contents: () => contentsOf(root),
    restore() {
      const now = snapshot(root);
      const names = new Set([...before.keys(), ...now.keys()]);
      const changed = [...names].filter((name) => before.get(name) !== now.get(name));
      if (changed.length > 0) before = fillTree(root);
      return changed;
    },
  };
}

function fillTree(root: string): Map<string, string> {
  for (const name of readdirSync(root)) {
    rmSync(path.join(root, name), { recursive: true, force: true });
  }
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  symlinkSync('../outside', path.join(root, 'project/link'));
  return snapshot(root);
}

/** Every entry with what changes when it is written to. The time of a directory says no more than its entries. */
function snapshot(root: string, directory = ''): Map<string, string> {
  const entries = new Map<string, string>();
  for (const name of readdirSync(path.join(root, directory))) {
    const relative = path.join(directory, name);
    const { ino, size, mode, mtimeNs } = lstatSync(path.join(root, relative), { bigint: true });
    const isDirectory = (mode & 0o170000n) === 0o040000n;
    entries.set(relative, isDirectory ? `${ino} ${mode}` : `${ino} ${mode} ${size} ${mtimeNs}`);
    if (isDirectory) for (const [at, state] of snapshot(root, relative)) entries.set(at, state);
  }
  return entries;
}

function contentsOf(root: string, directory = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path.join(root, directory))) {
    const relative = path.join(directory, name);
    const stat = lstatSync(path.join(root, relative));
    if (stat.isDirectory()) Object.assign(found, { [relative]: '/' }, contentsOf(root, relative));
    else if (stat.isSymbolicLink()) found[relative] = readlinkSync(path.join(root, relative));
    else if (stat.isFile()) found[relative] = readFileSync(path.join(root, relative), 'utf8');
    else found[relative] = 'special';
  }
  return found;
}
