import { dirname, isInside, toPosix } from '../env/paths.js';
import { foldCase } from './path-pattern.js';
import type { PathSpellings } from './paths.js';

/** Directories whose content other programs run or trust. */
const DIRECTORIES = new Set(
  `.git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .portcullis .cursor .codex
  .gemini`.split(/\s+/),
);

const FILES = new Set(
  `.gitconfig .gitmodules .gitattributes .bashrc .bash_profile .bash_login .bash_aliases
  .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml
  .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion
  .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
  gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc
  pyrightconfig.json .mcp.json .claude.json`.split(/\s+/),
);

/** Which protected thing a path is, under any of its names; undefined when it is none. */
export function protectedPart(path: PathSpellings, roots: readonly string[]): string | undefined {
  for (const spelling of [path.literal, ...path.resolved]) {
    const part = partOf(belowRoot(spelling, roots));
    if (part !== undefined) return part;
  }
  return undefined;
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
  const rest = root === undefined ? path : path.slice(root.length);
  return foldCase(toPosix(rest))
    .split('/')
    .filter((name) => name !== '');
}

function partOf(names: readonly string[]): string | undefined {
  const directory = names.findIndex(
    (name, index) =>
      (DIRECTORIES.has(name) && !(name === '.claude' && names[index + 1] === 'worktrees')) ||
      (name === '.config' && names[index + 1] === 'git'),
  );
  if (directory !== -1) return names[directory];
  const file = names.at(-1) ?? '';
  return FILES.has(file) || file.endsWith('.code-workspace') ? file : undefined;
}
