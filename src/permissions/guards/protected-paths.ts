import { wordSet } from '../../lib/patterns/word-set.js';
import { trimEnd } from '../../lib/text/trim-end.js';
import { dirname, isInside, toPosix } from '../../platform/fs/paths.js';
import type { PathSpellings } from '../paths/paths.js';
import { foldCase } from '../rules/path-pattern.js';
import type { Rule } from '../rules/rule.js';

/** Directories whose content other programs run or trust, those of editors and other agents too. */
const DIRECTORIES = wordSet(`.git .vscode .idea .run .husky .cargo .devcontainer .yarn .mvn .claude
  .portcullis .cursor .codex .gemini .roo .zed .fleet .nova .codeium .windsurf .continue .aider .cline
  .clinerules .amp .kiro .kilocode .augment .amazonq .junie .qwen .opencode .goose .trae .copilot
  .bundle .gradle .mise .hg .ssh .gnupg .aws .kube .githooks`);

/** The same below `.config`. */
const CONFIGURED = wordSet(
  'git fish zed opencode goose amp github-copilot systemd autostart mise direnv pip nvim',
);

const FILES =
  wordSet(`.gitconfig .gitmodules .gitattributes .lfsconfig .bashrc .bash_profile .bash_login
  .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile .login .cshrc .tcshrc
  .kshrc .mkshrc .inputrc .pam_environment .xprofile .xinitrc .xsession .envrc .npmrc .yarnrc
  .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion
  .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
  lefthook-local.yml .overcommit.yml .simple-git-hooks.json .lintstagedrc .huskyrc
  gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json
  .mcp.json .claude.json .aider.conf.yml .cursorrules .windsurfrules .roomodes .mise.toml mise.toml
  .pypirc pip.conf .condarc .gemrc .curlrc .wgetrc .netrc .vimrc .exrc .nvimrc .dir-locals.el .emacs
  .tmux.conf .screenrc .gdbinit .lldbinit .pdbrc .psqlrc .sqliterc .irbrc .pryrc .rprofile .renviron .hgrc .terraformrc
  sitecustomize.py usercustomize.py`);

const START_UP =
  wordSet(`.gitconfig .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile
  .zshenv .zlogin .zlogout .profile .login .cshrc .tcshrc .kshrc .mkshrc .envrc`);

/** Files that hold the rules themselves. */
const RULES = /^settings(\.local)?\.json$|^managed-settings\.json$|^hooks$/;

/** The names by which protected things are known, for whoever has to keep them from being written. */
export const PROTECTED_NAMES: {
  readonly directories: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  /** Directories below `.config`. */
  readonly configured: ReadonlySet<string>;
} = { directories: DIRECTORIES, files: FILES, configured: CONFIGURED };

export interface ProtectedPlace {
  readonly roots: readonly string[];
  /** Our own directories, wherever they are and whatever they are called. */
  readonly own?: readonly string[] | undefined;
}

/** Which protected thing a path is, under any of its names; undefined when it is none. */
export function protectedPart(path: PathSpellings, place: ProtectedPlace): string | undefined {
  for (const spelling of [path.literal, ...path.resolved]) {
    const part = partOf(belowRoot(spelling, place.roots)) ?? ownPart(spelling, place);
    if (part !== undefined) return part;
  }
  return undefined;
}

/**
 * What no mode opens without asking: our settings and our state (whoever changes the rules may do
 * anything later), git's internals and what shells run at their start.
 */
export function staysClosed(path: PathSpellings, place: ProtectedPlace): boolean {
  return [path.literal, ...path.resolved].some((spelling) => {
    if (ownPart(spelling, place) !== undefined) return true;
    const names = belowRoot(spelling, place.roots);
    if (names.includes('.git') || START_UP.has(names.at(-1) ?? '')) return true;
    const at = names.lastIndexOf('.claude');
    if (names.includes('.portcullis')) return true;
    return at !== -1 && (names.length === at + 1 || RULES.test(names[at + 1] ?? ''));
  });
}

/** The protected paths as a rule, for the walks that other rules are compared in. */
export function protectedRule(isHeld: (path: string) => boolean): Rule {
  const text = 'protected paths';
  return {
    kind: 'ask',
    text,
    label: text,
    origin: { value: { text, root: '/' }, source: 'builtin', trusted: true },
    spec: {
      kind: 'path',
      access: 'write',
      pattern: { place: '/', anchor: [], segments: [], folded: true },
      everyTool: true,
      isMeant: isHeld,
    },
    matchesTool: () => true,
  };
}

/**
 * Places whose removal takes everything along: the root and what is directly in it, the home, the
 * working directories and all that lies above them.
 */
export function isCriticalPath(
  path: PathSpellings,
  place: { readonly roots: readonly string[]; readonly cwd: string; readonly home: string },
): boolean {
  return [path.literal, ...path.resolved].some(
    (spelling) =>
      dirname(spelling) === dirname(dirname(spelling)) ||
      [place.cwd, place.home, ...place.roots].some((kept) => isInside(kept, spelling)),
  );
}

/** A working directory may itself lie inside such a directory; only what is below it counts. */
function belowRoot(path: string, roots: readonly string[]): readonly string[] {
  const root = roots.find((one) => isInside(path, one));
  return namesAsTaken(root === undefined ? path : path.slice(root.length));
}

/** The names of a path as the most generous file system takes them. */
function namesAsTaken(path: string): readonly string[] {
  return foldCase(toPosix(path))
    .split('/')
    .filter((name) => name !== '')
    .map(asSystemsTakeIt);
}

function ownPart(path: string, { own = [], roots }: ProtectedPlace): string | undefined {
  const names = namesAsTaken(path);
  return own.find((directory) => {
    if (!namesAsTaken(directory).every((name, at) => names[at] === name)) return false;
    // A workspace may lie inside: a worktree, or the settings that somebody works on.
    return !roots.some((root) => isInside(root, directory) && isInside(path, root));
  });
}

/** Some file systems take `.git.`, `.git ` and `.git::$DATA` for `.git`, and `git~1` is its short name. */
function asSystemsTakeIt(name: string): string {
  const visible = name.replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '');
  const plain = trimEnd(visible.replace(/:.*$/s, ''), '. ');
  const short = /^(git|claude|portcu|vscode|husky|idea|bashrc|cursor)~\d$/.exec(plain)?.[1];
  if (short !== undefined) return short === 'portcu' ? '.portcullis' : `.${short}`;
  return plain === '' ? name : plain;
}

function partOf(names: readonly string[]): string | undefined {
  const directory = names.findIndex(
    (name, index) =>
      (DIRECTORIES.has(name) && !(name === '.claude' && names[index + 1] === 'worktrees')) ||
      (name === '.config' && CONFIGURED.has(names[index + 1] ?? '')),
  );
  if (directory !== -1) return names[directory];
  const file = names.at(-1) ?? '';
  return FILES.has(file) || file.endsWith('.code-workspace') ? file : undefined;
}
