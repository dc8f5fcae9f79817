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

/** Protected directories that builds write to; only the files below are protected there. */
const BUILD_DIRECTORIES: ReadonlySet<string> = new Set(['.gradle', '.yarn', '.bundle', '.cargo']);
const IN_BUILD_DIRECTORIES = [
  '.cargo/config',
  '.cargo/config.toml',
  '.yarn/releases',
  '.yarn/plugins',
  '.bundle/config',
];

/**
 * Paths whose creation is prevented too, because another program would run or trust them. They appear as
 * empty directories, so the list omits names that would confuse git or builds.
 */
const NOT_TO_BE_MADE = `.git .claude .portcullis .mcp.json .vscode .idea .devcontainer .husky
  .githooks .cursor .envrc`
  .trim()
  .split(/\s+/);

/** The same for a home directory. */
const NOT_IN_A_HOME = `.gitconfig .bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc
  .zprofile .zshenv .zlogin .ssh .config/fish .config/git .config/systemd .config/autostart`
  .trim()
  .split(/\s+/);

/** Files in git's directory that git runs or reads as configuration. */
const IN_GIT = ['config', 'config.worktree', 'info/attributes', 'commondir', 'gitdir'];

const ENVIRONMENTS = ['.venv', 'venv', 'env', '.env'];
const ACTIVATES = /^(activate(\.\w+)?|Activate\.ps1|activate_this\.py|python[\d.]*|pip[\d.]*)$/;

type PlaceFiles = Pick<FileSystem, 'lstat' | 'list' | 'readText'>;

/** The protected paths inside a writable tree. */
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
    // A `.git` file or a missing `.git` is protected as a whole.
    if (stat?.kind !== 'directory') continue;
    opened.add(path);
    for (const inner of await protectedInGit(path, tools.fs)) kept.add(inner);
  }
  return [...kept].filter((path) => !opened.has(path));
}

/** What git runs or reads as configuration in a git directory, including worktrees and submodules. */
export async function protectedInGit(
  directory: string,
  fs: PlaceFiles,
): Promise<readonly string[]> {
  const kept = [join(directory, 'hooks'), ...(await namedByConfig(directory, fs))];
  for (const own of [directory, ...(await pathsIn(join(directory, 'worktrees'), fs))]) {
    for (const path of IN_GIT.map((name) => join(own, name))) {
      if ((await fs.lstat(path)) !== undefined) kept.push(path);
    }
  }
  for (const module of await modulesIn(join(directory, 'modules'), fs)) {
    kept.push(join(module, 'config'), ...(await protectedInGit(module, fs)));
  }
  return kept;
}

/** Submodules are stored by name, which may be a path. */
async function modulesIn(directory: string, fs: PlaceFiles, depth = 0): Promise<readonly string[]> {
  const modules: string[] = [];
  for (const inner of await pathsIn(directory, fs)) {
    // fail-closed: git would run hooks of deeper submodules.
    if (depth > DEEPEST_MODULE) {
      throw new PortcullisError('denied', `${directory} is too deep to look for submodules`, {
        remedy: 'the sandbox has to know which hooks git runs: move it away',
      });
    }
    if ((await fs.lstat(join(inner, 'HEAD'))) !== undefined) modules.push(inner);
    else modules.push(...(await modulesIn(inner, fs, depth + 1)));
  }
  return modules;
}

const DEEPEST_MODULE = 32;
const LONGEST_CONFIG = 16 * 1024 * 1024;

/** The hooks directory and included files that a repository's configuration names. */
async function namedByConfig(directory: string, fs: PlaceFiles): Promise<readonly string[]> {
  const config = join(directory, 'config');
  if ((await fs.lstat(config))?.kind !== 'file') return [];
  // fail-closed: without the configuration its hooks are unknown, and git would run them outside the sandbox.
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
    // A path that contains the whole project cannot be protected.
    if (isInside(dirname(directory), place)) continue;
    if (isHooks || (await fs.lstat(place)) !== undefined) named.push(place);
  }
  return named;
}

/** The shared git directory of a linked worktree, if both refer to each other. */
export async function sharedGit(
  root: string,
  fs: Pick<FileSystem, 'readText'>,
): Promise<string | undefined> {
  const own = gitDirectory(root);
  if (own === undefined || isInside(own, root)) return undefined;
  const shared = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
  if (shared === undefined) return undefined;
  // fail-closed: a `.git` file that points elsewhere gives no access.
  const back = await fs.readText(join(own, 'gitdir'), { maxBytes: 4096 }).catch(() => '');
  return resolve(dirname(back.trim())) === resolve(root) ? shared : undefined;
}

/** Git's records of the other worktrees. */
export async function otherTrees(
  shared: string,
  root: string,
  fs: Pick<FileSystem, 'list' | 'lstat'>,
): Promise<readonly string[]> {
  const own = gitDirectory(root);
  return (await pathsIn(join(shared, 'worktrees'), fs)).filter((path) => path !== own);
}

/** Files of the main checkout, protected in addition. */
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
      const programs = await pathsIn(join(root, environment, folder), fs);
      scripts.push(...programs.filter((path) => ACTIVATES.test(basename(path))));
    }
  }
  return scripts;
}

/** The entries of a directory; none when it is missing. */
async function pathsIn(
  directory: string,
  fs: Pick<FileSystem, 'list' | 'lstat'>,
): Promise<readonly string[]> {
  if ((await fs.lstat(directory))?.kind !== 'directory') return [];
  return (await fs.list(directory)).map(({ name }) => join(directory, name));
}

/** Files in the home directory with keys, tokens, passwords or history. */
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

/** The parts of the user's configuration that programs inside may need; the rest is hidden. */
const SHOWN_CONFIGURATION =
  `skills agents commands hooks plugins rules output-styles CLAUDE.md`.split(/\s+/);

export function shownConfiguration(configDir: string): readonly string[] {
  return SHOWN_CONFIGURATION.map((name) => join(configDir, name));
}

export type PlantedFiles = Pick<FileSystem, 'lstat' | 'list' | 'readText' | 'remove'>;

/** The entries that turn a directory into a repository with its own settings and hooks. */
const BARE = ['HEAD', 'objects', 'refs'];
const SMALL = 4096;
/** Files by which git finds other or further settings. */
const LEADS = ['commondir', 'config.worktree'];

/**
 * Detects files that cannot be prevented without breaking git: redirects to other settings and new
 * repositories. Call it before the program runs; the returned function removes them afterwards, before we run
 * git there.
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

/** A file of that name counts only in a repository. */
async function isLead(path: string, fs: PlantedFiles): Promise<boolean> {
  const stat = await fs.lstat(path);
  if (stat === undefined || stat.kind === 'directory') return false;
  if (stat.kind === 'symlink' || stat.size > SMALL) return path.includes('/.git/');
  return (await fs.lstat(join(dirname(path), 'HEAD'))) !== undefined;
}

async function worktreesOf(directory: string, fs: PlantedFiles): Promise<readonly string[]> {
  // Only in git directories, because a project may have a `worktrees` directory.
  if ((await fs.lstat(join(directory, 'HEAD'))) === undefined) return [];
  return await pathsIn(join(directory, 'worktrees'), fs);
}
