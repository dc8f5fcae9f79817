import { messageOf, PortcullisError } from '../../errors.js';
import { parseGitConfig } from '../../permissions/git/config.js';
import { PROTECTED_NAMES } from '../../permissions/guards/protected-paths.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  gitDirectory,
  isInside,
  join,
  resolve,
} from '../../platform/fs/paths.js';
import type { Finder } from './find.js';

/** Directories of the list that builds write to; of these only what is named below is kept. */
const BUILD_DIRECTORIES: ReadonlySet<string> = new Set(['.gradle', '.yarn', '.bundle', '.cargo']);
const IN_BUILD_DIRECTORIES = [
  '.cargo/config',
  '.cargo/config.toml',
  '.yarn/releases',
  '.yarn/plugins',
  '.bundle/config',
];

/**
 * What may not come into being either: the next start of some program would run or trust it. While a
 * program runs these are empty directories, so none is named here that git or a build would trip over.
 */
const NOT_TO_BE_MADE = `.git .claude .portcullis .mcp.json .vscode .idea .devcontainer .husky
  .githooks .cursor .envrc`
  .trim()
  .split(/\s+/);

/** The same in a home. */
const NOT_IN_A_HOME = `.gitconfig .bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc
  .zprofile .zshenv .zlogin .ssh .config/fish .config/git .config/systemd .config/autostart`
  .trim()
  .split(/\s+/);

/** In git's own directory: what it runs, or by which it decides what to run. */
const IN_GIT = ['config', 'config.worktree', 'info/attributes', 'commondir', 'gitdir'];

const ENVIRONMENTS = ['.venv', 'venv', 'env', '.env'];
const ACTIVATES = /^(activate(\.\w+)?|Activate\.ps1|activate_this\.py|python[\d.]*|pip[\d.]*)$/;

type PlaceFiles = Pick<FileSystem, 'lstat' | 'list' | 'readText'>;

/** What stays as it is inside a tree that may be written. */
export async function protectedIn(
  root: string,
  tools: { readonly fs: PlaceFiles; readonly finder: Finder; readonly home: string },
): Promise<readonly string[]> {
  const found = await tools.finder.find({
    start: root,
    wanted: 'all that other programs run or trust',
    take: (path, name, kind) => isProtectedName(path, name, kind === 'directory'),
  });
  const kept = new Set(NOT_TO_BE_MADE.map((name) => join(root, name)));
  for (const name of IN_BUILD_DIRECTORIES) {
    if ((await tools.fs.lstat(join(root, name))) !== undefined) kept.add(join(root, name));
  }
  if (root === tools.home) for (const name of NOT_IN_A_HOME) kept.add(join(root, name));
  for (const path of found) kept.add(path);
  for (const path of await activateScripts(root, tools.fs)) kept.add(path);
  const opened = new Set<string>();
  for (const path of kept) {
    if (basename(path) !== '.git') continue;
    const stat = await tools.fs.lstat(path);
    // A file that leads elsewhere is kept whole, and so is a place where none is yet.
    if (stat?.kind !== 'directory') continue;
    opened.add(path);
    for (const inner of await protectedInGit(path, tools.fs)) kept.add(inner);
  }
  return [...kept].filter((path) => !opened.has(path));
}

/** What git runs or goes by, in a directory that is git's own: those of worktrees and submodules too. */
export async function protectedInGit(
  directory: string,
  fs: PlaceFiles,
): Promise<readonly string[]> {
  const kept = [join(directory, 'hooks'), ...(await namedByConfig(directory, fs))];
  for (const name of IN_GIT) {
    if ((await fs.lstat(join(directory, name))) !== undefined) kept.push(join(directory, name));
  }
  for (const name of await namesIn(join(directory, 'worktrees'), fs)) {
    const inner = join(directory, 'worktrees', name);
    for (const one of IN_GIT) {
      if ((await fs.lstat(join(inner, one))) !== undefined) kept.push(join(inner, one));
    }
  }
  for (const module of await modulesIn(join(directory, 'modules'), fs)) {
    kept.push(join(module, 'config'), ...(await protectedInGit(module, fs)));
  }
  return kept;
}

/** Submodules are kept under their names, which may be paths. */
async function modulesIn(directory: string, fs: PlaceFiles, depth = 0): Promise<readonly string[]> {
  const modules: string[] = [];
  for (const name of await namesIn(directory, fs)) {
    // fail-closed: git would run the hooks of a submodule that lies deeper.
    if (depth > DEEPEST_MODULE) {
      throw new PortcullisError('denied', `${directory} is too deep to look for submodules`, {
        remedy: 'the sandbox has to know which hooks git runs: move it away',
      });
    }
    const inner = join(directory, name);
    if ((await fs.lstat(join(inner, 'HEAD'))) !== undefined) modules.push(inner);
    else modules.push(...(await modulesIn(inner, fs, depth + 1)));
  }
  return modules;
}

const DEEPEST_MODULE = 32;
const LONGEST_CONFIG = 16 * 1024 * 1024;

/** Where the configuration of a repository has its hooks and the rest of itself. */
async function namedByConfig(directory: string, fs: PlaceFiles): Promise<readonly string[]> {
  const config = join(directory, 'config');
  if ((await fs.lstat(config))?.kind !== 'file') return [];
  // fail-closed: hooks that it names would not be protected, and git would run them outside.
  const unknown = (why: string): PortcullisError =>
    new PortcullisError('denied', `${config} cannot be read: ${why}`, {
      remedy:
        'the sandbox has to know which hooks git runs: make the file readable, or move it away',
    });
  const text = await fs.readText(config, { maxBytes: LONGEST_CONFIG }).catch((thrown: unknown) => {
    throw unknown(messageOf(thrown));
  });
  const settings = parseGitConfig(text);
  if (settings === undefined) throw unknown('it is no configuration that git understands');
  const named: string[] = [];
  for (const { key, value: path } of settings) {
    const isHooks = key === 'core.hookspath';
    if (!isHooks && !/^include(if\..*)?\.path$/s.test(key)) continue;
    if (path === '' || path.startsWith('~')) continue;
    const place = resolve(isHooks ? dirname(directory) : directory, path);
    // The whole project cannot be kept.
    if (isInside(dirname(directory), place)) continue;
    if (isHooks || (await fs.lstat(place)) !== undefined) named.push(place);
  }
  return named;
}

/** The shared directory of git for a tree whose `.git` is a file, if both know of each other. */
export async function sharedGit(
  root: string,
  fs: Pick<FileSystem, 'readText'>,
): Promise<string | undefined> {
  const own = gitDirectory(root);
  if (own === undefined || isInside(own, root)) return undefined;
  const shared = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
  if (shared === undefined) return undefined;
  // fail-closed: a `.git` file that somebody wrote to point elsewhere opens nothing.
  const back = await fs.readText(join(own, 'gitdir'), { maxBytes: 4096 }).catch(() => '');
  return resolve(dirname(back.trim())) === resolve(root) ? shared : undefined;
}

/** Git's records of all trees but this one. */
export async function otherTrees(
  shared: string,
  root: string,
  fs: Pick<FileSystem, 'list' | 'lstat'>,
): Promise<readonly string[]> {
  const own = gitDirectory(root);
  const records = join(shared, 'worktrees');
  const all = (await namesIn(records, fs)).map((name) => join(records, name));
  return all.filter((path) => path !== own);
}

/** Of the main checkout, beside what git runs. */
export const OF_MAIN_CHECKOUT = ['HEAD', 'index'];

function isProtectedName(path: string, name: string, isDirectory: boolean): boolean {
  const { directories, files, configured } = PROTECTED_NAMES;
  if (isDirectory && basename(dirname(path)) === '.config') return configured.has(name);
  if (name === '.git') return true;
  if (isDirectory) return directories.has(name) && !BUILD_DIRECTORIES.has(name);
  return files.has(name) || directories.has(name) || name.endsWith('.code-workspace');
}

async function activateScripts(root: string, fs: PlaceFiles): Promise<readonly string[]> {
  const scripts: string[] = [];
  for (const environment of ENVIRONMENTS) {
    for (const folder of ['bin', 'Scripts']) {
      const directory = join(root, environment, folder);
      const names = await namesIn(directory, fs);
      scripts.push(
        ...names.filter((name) => ACTIVATES.test(name)).map((one) => join(directory, one)),
      );
    }
  }
  return scripts;
}

async function namesIn(
  directory: string,
  fs: Pick<FileSystem, 'list' | 'lstat'>,
): Promise<readonly string[]> {
  if ((await fs.lstat(directory))?.kind !== 'directory') return [];
  const entries = await fs.list(directory);
  return entries.map(({ name }) => name);
}

/** Files of the home in which programs keep keys, tokens, passwords and what was typed. */
const CREDENTIALS = `.ssh .aws .gnupg .netrc .azure .kube .oci .docker .npmrc .yarnrc.yml .pypirc
  .git-credentials .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
  .m2/settings-security.xml .gradle/gradle.properties .terraform.d/credentials.tfrc.json .terraformrc
  .password-store .vault-token .pgpass .my.cnf .mylogin.cnf .s3cfg .boto .composer/auth.json .netlify
  .heroku .fly .databrickscfg .snowflake .config/gh .config/hub .config/glab-cli .config/gcloud
  .config/git/credentials .config/op .config/1Password .config/rclone .config/containers/auth.json
  .config/doctl .config/heroku .config/netlify .config/configstore .config/google-chrome
  .config/chromium .mozilla .local/share/keyrings .local/share/kwalletd Library/Keychains
  Library/Cookies .bash_history .zsh_history .python_history .node_repl_history .psql_history
  .mysql_history .sqlite_history .lesshst .claude.json .codex .gemini .config/github-copilot`
  .trim()
  .split(/\s+/);

export function credentialPlaces(home: string): readonly string[] {
  return CREDENTIALS.map((name) => join(home, name));
}

/** Of the user's configuration: what programs inside may need to run. All else there is hidden. */
const SHOWN_CONFIGURATION =
  `skills agents commands hooks plugins rules output-styles CLAUDE.md`.split(/\s+/);

export function shownConfiguration(configDir: string): readonly string[] {
  return SHOWN_CONFIGURATION.map((name) => join(configDir, name));
}

export type PlantedFiles = Pick<FileSystem, 'lstat' | 'list' | 'readText' | 'remove'>;

/** What makes a plain directory a repository, with settings and hooks that git follows. */
const BARE = ['HEAD', 'objects', 'refs'];
const SMALL = 4096;
/** By these git comes to settings elsewhere, or to more of them. */
const LEADS = ['commondir', 'config.worktree'];

/**
 * Things that cannot be kept from being made without breaking git itself: a file that leads git to
 * settings elsewhere, and a repository where there was none. They are taken away after the program has
 * ended, before anything else of ours looks there. Call it before the program runs.
 */
export async function watchForPlanted(
  trees: readonly string[],
  fs: PlantedFiles,
): Promise<() => Promise<readonly string[]>> {
  const missing = async (path: string): Promise<boolean> => (await fs.lstat(path)) === undefined;
  const leads: string[] = [];
  const bare: string[] = [];
  for (const tree of trees) {
    for (const directory of [tree, join(tree, '.git')]) {
      for (const own of [directory, ...(await worktreesOf(directory, fs))]) {
        for (const name of LEADS) {
          const lead = join(own, name);
          if (await missing(lead)) leads.push(lead);
        }
      }
    }
    if (await missing(join(tree, 'HEAD'))) bare.push(tree);
  }
  return async () => {
    const taken: string[] = [];
    const take = async (path: string): Promise<void> => {
      await fs.remove(path);
      taken.push(path);
    };
    for (const lead of leads) if (await isLead(lead, fs)) await take(lead);
    for (const tree of bare) {
      const there = await Promise.all(BARE.map(async (name) => !(await missing(join(tree, name)))));
      if (there.every(Boolean)) await take(join(tree, 'HEAD'));
    }
    return taken;
  };
}

/** In a repository. A file of that name elsewhere means nothing. */
async function isLead(path: string, fs: PlantedFiles): Promise<boolean> {
  const stat = await fs.lstat(path);
  if (stat === undefined || stat.kind === 'directory') return false;
  if (stat.kind === 'symlink' || stat.size > SMALL) return path.includes('/.git/');
  return (await fs.lstat(join(dirname(path), 'HEAD'))) !== undefined;
}

async function worktreesOf(directory: string, fs: PlantedFiles): Promise<readonly string[]> {
  const parent = join(directory, 'worktrees');
  // Of git's own directories alone: a project may have one of that name.
  if ((await fs.lstat(join(directory, 'HEAD'))) === undefined) return [];
  if ((await fs.lstat(parent))?.kind !== 'directory') return [];
  return (await fs.list(parent)).map(({ name }) => join(parent, name));
}
