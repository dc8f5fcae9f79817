import type { ShellWord } from './shell/model.js';

/** A git command apart from the options in front of its subcommand. */
interface GitCall {
  readonly subcommand: string | undefined;
  readonly rest: readonly string[];
  /** Directories of `-C`. */
  readonly moves: readonly string[];
  readonly redirect?: string;
}

const REDIRECTS =
  /^--(git-dir|work-tree|exec-path|config-env|namespace|super-prefix|bare|attr-source)(=|$)/;
const WITH_VALUE = new Set([
  '--git-dir',
  '--work-tree',
  '--config-env',
  '--namespace',
  '--super-prefix',
  '--attr-source',
]);
/** Settings that say where the tree is, what runs, or where further settings are. */
const STEERING_KEY =
  /^(core\.(worktree|bare|hookspath|fsmonitor|gitproxy|sshcommand|editor|pager|attributesfile|excludesfile)|include(if)?\..*|extensions\..*|alias\..*|filter\..*|safe\.directory|submodule\..*\.(update|path)|url\..*)(=|$)/i;

function readGit(values: readonly string[]): GitCall {
  const moves: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? '';
    if (value === '-C') moves.push(values[++at] ?? '');
    else if (value.startsWith('-C')) moves.push(value.slice(2));
    else if (REDIRECTS.test(value)) {
      const subcommand = values[at + (WITH_VALUE.has(value) ? 2 : 1)];
      return { subcommand, rest: values.slice(at + 2), moves, redirect: value };
    } else if (value === '-c') {
      const setting = values[++at] ?? '';
      if (STEERING_KEY.test(setting)) {
        return { subcommand: undefined, rest: [], moves, redirect: `-c ${setting}` };
      }
    } else if (/^-c./.test(value) && STEERING_KEY.test(value.slice(2))) {
      return { subcommand: undefined, rest: [], moves, redirect: value };
    } else if (!value.startsWith('-')) {
      return { subcommand: value, rest: values.slice(at + 1), moves };
    }
  }
  return { subcommand: undefined, rest: [], moves };
}

export interface GitVerdict {
  /** Why it is refused as it stands. */
  readonly problem?: string;
  /** Directories that it goes to first. */
  readonly moves: readonly string[];
  /** Words that may be files: messages are not. */
  readonly operands: readonly string[];
  /** It may put links and other files in place. */
  readonly changesTree: boolean;
}

/** Subcommands that change files all over the tree. */
const TREE_WIDE = new Set(
  `checkout switch reset restore stash merge rebase pull cherry-pick revert am apply clean submodule
  read-tree checkout-index sparse-checkout bisect filter-branch filter-repo subtree`.split(/\s+/),
);
const MAKES_FILES = new Set([...TREE_WIDE, 'clone', 'init', 'worktree', 'archive', 'bundle']);
const TAKES_TEXT =
  /^(-[a-zA-Z]*m|--message|-F-|--author|--date|--trailer|-S|-G|--grep|--format|--pretty)$/;
const DANGEROUS =
  /^(--ignore-other-worktrees|--unsafe-paths|--no-index|--separate-git-dir|--reference|--template)(=|$)/;

/**
 * What a git command means for the fence. `whole`: the workspace is a whole working tree; else it is
 * a part of one, and commands for all of the tree reach beyond it.
 */
export function judgeGit(
  words: readonly ShellWord[],
  { whole }: { readonly whole: boolean },
): GitVerdict {
  const values = words.slice(1).map((word) => word.value);
  const { subcommand, rest, moves, redirect } = readGit(values);
  const changesTree = subcommand !== undefined && MAKES_FILES.has(subcommand);
  const verdict = { moves, operands: operandsOf(rest), changesTree };
  if (redirect !== undefined) {
    return { ...verdict, problem: `\`git ${redirect}\` leads git to another place` };
  }
  if (subcommand === 'worktree' && rest[0] !== 'list') {
    return { ...verdict, problem: '`git worktree` changes the trees of others' };
  }
  if (subcommand === 'config') {
    const steering = rest.find(
      (value) =>
        STEERING_KEY.test(value) || /^(-f|--file|--global|--system|--blob)(=|$)/.test(value),
    );
    const reads = rest.some((value) => /^(--get\S*|-l|--list|get|list)$/.test(value));
    if (steering !== undefined && !reads) {
      return {
        ...verdict,
        problem: `\`git config ${steering}\` would change git for the main checkout too`,
      };
    }
  }
  const flag = rest.find((value) => DANGEROUS.test(value));
  if (flag !== undefined) return { ...verdict, problem: `\`${flag}\` reaches beyond this tree` };
  if (!whole && subcommand !== undefined && TREE_WIDE.has(subcommand)) {
    return {
      ...verdict,
      problem: `\`git ${subcommand}\` changes files all over the repository, of which this agent works in one directory`,
    };
  }
  return verdict;
}

/** Without texts, and without options that have none attached. */
function operandsOf(rest: readonly string[]): readonly string[] {
  const operands: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const value = rest[at] ?? '';
    if (TAKES_TEXT.test(value)) at++;
    else if (/^(-m|--message=|--author=|--date=|--format=|--pretty=|--grep=)/.test(value)) continue;
    else operands.push(value);
  }
  return operands;
}
