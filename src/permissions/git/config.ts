import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname, gitDirectory, nearestRepository, resolve } from '../../platform/fs/paths.js';
import { gitlinksIn } from './index-file.js';

export type ConfigFileSystem = Pick<FileSystem, 'readText' | 'readBytes' | 'lstat' | 'realPath'>;

/**
 * Whether the repository around a directory brings programs of its own that git starts for commands
 * that only look: its files may come from strangers. Returns what and where, or undefined.
 */
export async function repositoryTrap(
  fs: ConfigFileSystem,
  directory: string,
): Promise<string | undefined> {
  // Git goes upwards from where it really is, not from the name of a link that leads there.
  const real = await fs.realPath(directory);
  const root = nearestRepository(real);
  const bare = await bareRepository(fs, real, root);
  if (bare !== undefined) return `${bare} looks like a repository without a working tree`;
  return root === undefined ? undefined : await trapAt(fs, root, MAX_DEPTH);
}

/** Repositories inside repositories that are followed; deeper ones are asked about. */
const MAX_DEPTH = 3;
const MAX_NESTED = 64;

async function trapAt(
  fs: ConfigFileSystem,
  root: string,
  depth: number,
): Promise<string | undefined> {
  const own = gitDirectory(root);
  if (own === undefined) return `${root} holds a .git that leads nowhere`;
  const shared = await commonDirectory(fs, own);
  const entries: GitSetting[] = [];
  for (const file of new Set([resolve(shared, 'config'), resolve(own, 'config.worktree')])) {
    const found = await entriesOf(fs, file);
    if (found === undefined) return `${file} cannot be read`;
    entries.push(...found);
  }
  const key = trapAmong(entries);
  if (key !== undefined) return `the configuration of the repository sets ${key}`;
  const tree = entries.findLast(({ key: name }) => name === 'core.worktree')?.value;
  if (tree !== undefined && resolve(own, tree) !== root) {
    return `the files of the repository ${root} are in ${tree}`;
  }
  const hooks = entries.findLast(({ key: name }) => name === 'core.hookspath')?.value;
  const hook = resolve(root, hooks ?? resolve(shared, 'hooks'), 'post-index-change');
  if (await exists(fs, hook)) return `the repository has the hook ${hook}`;
  if (entries.some(({ key: name }) => name === 'extensions.objectformat')) {
    return 'the repository is of another format';
  }
  return await nestedTrap(fs, { root, index: resolve(own, 'index') }, depth);
}

/** Git looks into the repositories inside a repository, by their own configuration. */
async function nestedTrap(
  fs: ConfigFileSystem,
  { root, index }: { readonly root: string; readonly index: string },
  depth: number,
): Promise<string | undefined> {
  const links = await linksOf(fs, index);
  if (links === undefined) return `${index} cannot be followed`;
  if (links.length > (depth === 0 ? 0 : MAX_NESTED)) return 'it holds many repositories';
  for (const link of links) {
    const inner = resolve(root, link);
    if (!(await exists(fs, resolve(inner, '.git')))) continue;
    const trap = await trapAt(fs, inner, depth - 1);
    if (trap !== undefined) return `${link}: ${trap}`;
  }
  return undefined;
}

const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_CONFIG_BYTES = 1_000_000;

/** Undefined when there is an index and it cannot be understood. */
async function linksOf(fs: ConfigFileSystem, file: string): Promise<readonly string[] | undefined> {
  return await readOr(fs, file, async () =>
    gitlinksIn(await fs.readBytes(file, { maxBytes: MAX_INDEX_BYTES })),
  );
}

/** Undefined when there is a file and it cannot be understood. */
async function entriesOf(
  fs: ConfigFileSystem,
  file: string,
): Promise<readonly GitSetting[] | undefined> {
  return await readOr(fs, file, async () =>
    parseGitConfig(await fs.readText(file, { maxBytes: MAX_CONFIG_BYTES })),
  );
}

/** Nothing where there is no such file. */
async function readOr<T>(
  fs: ConfigFileSystem,
  file: string,
  read: () => Promise<readonly T[] | undefined>,
): Promise<readonly T[] | undefined> {
  try {
    return (await exists(fs, file)) ? await read() : [];
  } catch {
    // fail-closed: what we cannot read may hold anything.
    return undefined;
  }
}

/** Programs that looking at a repository can start. */
const STARTS_PROGRAMS = [
  /^core\.(pager|alternaterefscommand)$/,
  /^pager\./,
  /^diff\.external$/,
  /^diff\..*\.(command|textconv)$/s,
  /^merge\..*\.driver$/s,
  /^filter\..*\.(clean|smudge|process)$/s,
  /^gpg\.(.*\.)?program$/s,
  /^log\.showsignature$/,
  /^hook\..*\.command$/s,
  // By the filter of git-lfs, which mostly is in the user's own configuration.
  /^lfs\.(customtransfer\..*\.path|extension\..*\.(clean|smudge)|standalonetransferagent)$/s,
  // What is included may hold any of these.
  /^include(if\..*)?\.path$/s,
];

/** Programs that only a connection starts; a partial clone connects whenever something is missing. */
const STARTS_WHEN_CONNECTED = [
  /^core\.(sshcommand|gitproxy|askpass)$/,
  /^credential\.(.*\.)?helper$/s,
  /^remote\..*\.(uploadpack|vcs)$/s,
  /^protocol\.(.*\.)?allow$/s,
];

function trapAmong(entries: readonly GitSetting[]): string | undefined {
  const isPartial = entries.some(
    ({ key }) => key === 'extensions.partialclone' || /^remote\..*\.promisor$/s.test(key),
  );
  const traps = isPartial ? [...STARTS_PROGRAMS, ...STARTS_WHEN_CONNECTED] : STARTS_PROGRAMS;
  const found = entries.find(
    ({ key, value }) =>
      traps.some((trap) => trap.test(key)) ||
      (/^(format\.pretty|pretty\..*)$/s.test(key) && /%[-+ ]?G/.test(value)) ||
      // As a truth value it is git's own monitor, as anything else a program.
      (key === 'core.fsmonitor' && !/^(true|false|yes|no|on|off|0|1|)$/i.test(value)),
  );
  return found?.key;
}

/** Where a linked working tree keeps what it shares with the others. */
async function commonDirectory(fs: ConfigFileSystem, own: string): Promise<string> {
  const file = resolve(own, 'commondir');
  if (!(await exists(fs, file))) return own;
  return resolve(own, (await fs.readText(file, { maxBytes: 10_000 })).trim());
}

/** Git takes a directory with this content for a repository, whatever it is called. */
export async function bareRepository(
  fs: ConfigFileSystem,
  start: string,
  root: string | undefined,
): Promise<string | undefined> {
  for (let directory = resolve(start); directory !== root; directory = dirname(directory)) {
    const isBare =
      (await exists(fs, `${directory}/HEAD`)) &&
      (await exists(fs, `${directory}/objects`)) &&
      (await exists(fs, `${directory}/refs`));
    if (isBare) return directory;
    if (dirname(directory) === directory) return undefined;
  }
  return undefined;
}

async function exists(fs: ConfigFileSystem, path: string): Promise<boolean> {
  return (await fs.lstat(path)) !== undefined;
}

/** One setting: `section.key` or `section.name.key`, lower case but for the name. */
interface GitSetting {
  readonly key: string;
  readonly value: string;
}

const SECTION = /\[([A-Za-z0-9.-]*)(?:\]|[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)"\])/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=|(\n|$))/y;
const PIECE = /([ \t\r]+)|\\(\n|[tbn"\\])|(["\n]|[#;]|$)|[^ \t\r\\"\n#;]+/y;
const ESCAPED: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n' };

/**
 * The settings of a git configuration file, as git reads them: a section and a key may share a line, and only a
 * backslash that is not escaped itself joins two lines. Includes are not followed. Undefined where git reports an error.
 */
export function parseGitConfig(text: string): readonly GitSetting[] | undefined {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n/g, '\n');
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };
  /** What follows an equals sign, to the end of its line. */
  const value = (): string | undefined => {
    let read = '';
    let blanks = '';
    let quoted = false;
    for (let piece = next(PIECE); piece !== undefined; piece = next(PIECE)) {
      const [all, blank, escaped, sign] = piece;
      if (sign === '' || sign === '\n') return quoted ? undefined : read;
      if (sign === '"') quoted = !quoted;
      else if (sign !== undefined && !quoted) next(/[^\n]*/y);
      else if (blank !== undefined && !quoted) blanks += read === '' ? '' : blank;
      else if (escaped !== '\n') {
        read += blanks + (escaped === undefined ? all : (ESCAPED[escaped] ?? escaped));
        blanks = '';
      }
    }
    return undefined;
  };
  const settings: GitSetting[] = [];
  let section: string | undefined;
  for (;;) {
    next(/(?:[ \t\r\n]|[#;][^\n]*)*/y);
    if (at === source.length) return settings;
    const [head, first = '', name] = next(SECTION) ?? [];
    if (head !== undefined) {
      const named = name?.replace(/\\(.)/g, '$1');
      section = named === undefined ? first.toLowerCase() : `${first.toLowerCase()}.${named}`;
      continue;
    }
    const key = next(KEY);
    const given = key?.[2] === undefined ? value() : 'true';
    if (section === undefined || key === undefined || given === undefined) return undefined;
    settings.push({ key: `${section}.${key[1]?.toLowerCase()}`, value: given });
  }
}
