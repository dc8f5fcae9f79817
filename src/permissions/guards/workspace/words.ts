import { own } from '../../../lib/own.js';
import { wordSet } from '../../../lib/patterns/word-set.js';
import { STEPS_OF_LOOK } from '../../paths/counted-disk.js';
import { matches, segmentTokens } from '../../rules/wildcard.js';
import { effectsOfWords } from '../../shell/effects/effects.js';
import { HERE } from '../../shell/effects/program.js';
import { readOnlyUse } from '../../shell/effects/uses.js';
import { nameOf, programOf, type ShellWord } from '../../shell/model.js';
import { modelOf } from '../../shell/programs/index.js';
import { isPlainScript } from '../../shell/sed.js';
import type { FencePlace } from './places.js';

/** What a command looks at, when looking is all that it can do. */
export interface Looks {
  readonly reads: readonly string[];
  readonly patterns: readonly string[];
  /** Words that are decided at run time, where they may be files. */
  readonly unknown: readonly ShellWord[];
  /** Of directories among what it reads it follows the links. */
  readonly filesOnly?: true;
  /** It goes down into directories by itself. */
  readonly below?: boolean;
  /** Without a file it looks at the directory that it runs in. */
  readonly around?: boolean;
}

/** Builtins that touch no file: what they are given is text, names or numbers. */
const NO_FILES = wordSet(
  `echo true false : exit pwd seq tr shift kill return break continue ulimit umask type sleep cd`,
);

/** The same with words that are known: `jobs -x` runs one, `hash -p` gives one another meaning. */
const NO_FILES_PLAINLY: Readonly<Record<string, RegExp>> = {
  jobs: /^-[lnprs]+$/,
  hash: /^-[rl]+$/,
  wait: /^(-[nf]+|%?\w+)$/,
};

/** Builtins that set variables. */
const SETS = wordSet('export declare typeset local readonly unset read mapfile readarray getopts');

/** Undefined: it may do more than look. */
export function looksOf(words: readonly ShellWord[]): Looks | undefined {
  const [, ...rest] = words;
  const name = nameOf(words);
  if (words.length === 0) return asLooks([]);
  if (name === undefined) return undefined;
  const plain = own(NO_FILES_PLAINLY, name);
  if (plain !== undefined) {
    // fail-closed: with anything else it may run what it is given.
    const isPlain = rest.every((word) => word.literal && plain.test(word.value));
    return isPlain ? asLooks([]) : undefined;
  }
  // With `-v` printf sets a variable, and a format that is not known may be that.
  const isPlainPrintf = name === 'printf' && rest[0]?.literal === true && !isOption(rest[0]);
  // `X=$(date)` sets X, whatever to; `$a=1` sets anything.
  const isPlainSetter =
    SETS.has(name) && rest.every(({ literal, value }) => literal || value.includes('='));
  if (NO_FILES.has(name) || isPlainPrintf || isPlainSetter) return asLooks([]);
  const targets = effectsOfWords(words).flatMap((one) => (one.kind === 'path' ? [one] : []));
  const how = {
    // Without an option, too, diff compares what lies in directories.
    below: name === 'diff' || targets.some(({ recursion }) => recursion !== undefined),
    around: targets.some(({ target }) => target === HERE),
    ...(targets.some(({ recursion }) => recursion?.follows === true)
      ? { filesOnly: true as const }
      : {}),
  };
  const known = readOnlyUse(words);
  if (known !== undefined) return { ...known, ...how, unknown: [] };
  // Such programs change nothing with any options, so arguments that are not known make no difference.
  const program = modelOf(name);
  const isText = program?.operands === 'text';
  const anyOptions = program?.custom === undefined && (program?.plain === true || isText);
  if (!anyOptions || words.every((word) => word.literal)) return undefined;
  // What follows `-e` is searched for.
  const files = rest.filter((word, at) => word.literal || (!isText && words[at]?.value !== '-e'));
  return { ...asLooks(files.filter((word) => !word.literal || !isOption(word))), ...how };
}

function isOption({ value }: ShellWord): boolean {
  return value.startsWith('-');
}

/** Words that are files, all of them. */
export function asLooks(words: readonly ShellWord[]): Looks {
  const plain = words.filter((word) => word.literal && word.pattern === undefined);
  const reads = plain.map((word) => word.value);
  const unknown = words.filter(({ literal }) => !literal);
  return { reads, patterns: patternsOf(words), unknown };
}

export function patternsOf(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap((word) => word.pattern ?? []);
}

const URL_LIKE = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/[^/]/i;
/** Systems take no longer path. */
const LONGEST_PATH = 4096;

/** Everything in an argument that may be the name of a file. Rather too much than too little. */
export function pathCandidates(value: string): readonly string[] {
  if (URL_LIKE.test(value)) return [];
  const found = new Set<string>();
  const isOption = value.startsWith('-');
  if (!isOption) found.add(value);
  for (const part of value.split(/[=:,@]/).slice(1)) found.add(part);
  // `-vC..`: the value of a short option hangs on behind any number of letters.
  if (isOption && !value.startsWith('--')) {
    const letters = value.search(/[/.~=]|$/);
    for (let at = Math.max(2, value.length - LONGEST_PATH); at <= letters; at++)
      found.add(value.slice(at));
  }
  const file = /^file:\/\/(.*)$/is.exec(value)?.[1];
  if (file !== undefined) found.add(file);
  return [...found].filter((path) => path !== '');
}

/** Names of places elsewhere inside a longer text: code of some language, a command, a script. */
export function pathsInText(text: string): readonly string[] {
  const found = new Set<string>();
  const place =
    /(?:^|[\s'"`([{=:,;|&<>+!@])((?:~|\.{1,2}|[\w.-]+\/\.\.)?(?:\/[^\s'"`()[\]{}<>|;&,]*)|\.\.)(?=$|[\s'"`()[\]{}<>|;&,])/g;
  for (const match of text.slice(0, LONGEST_TEXT).matchAll(place)) found.add(match[1] ?? '');
  return [...found];
}

const LONGEST_TEXT = 100_000;

/** The paths in a text that may be files: nothing is, whose first directory is not there. */
export async function existing(
  paths: readonly string[],
  { fs, view }: Pick<FencePlace, 'fs' | 'view'>,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of paths) {
    view.judge.budget.spend(STEPS_OF_LOOK);
    const top = /^\/+([^/]+)/.exec(path)?.[1];
    // A lone slash in a text is a sign, not a place.
    if (/^\/+$/.test(path)) continue;
    if (top === undefined || (await fs.lstat(`/${top}`)) !== undefined) kept.push(path);
  }
  return kept;
}

/** Whether a word, wildcards among it, may lead elsewhere than below where it is looked up. */
export function leadsUp(pattern: string): boolean {
  return (
    /^[/~]/.test(pattern) ||
    pattern.split('/').some((part) => part.startsWith('.') && matches(segmentTokens(part), '..'))
  );
}

const INTERPRETERS =
  /^(python[\d.]*|pypy3?|perl|ruby|irb|node|deno|bun|tsx|php|lua\w*|[gmn]?awk|g?sed|vim?|nvim|ex|ed|emacs|osascript|expect|tclsh\d*|gdb|lldb|sqlite3|psql|mysql|jshell|Rscript|R|julia|elixir|iex|erl|scala|groovy|ghci?|ocaml|make|gmake|jq|yq|(ba|da|z|k|fi|a)?sh)$/;

/** Programs that are given code, so that an argument with slashes may be an expression. */
export function isInterpreter(words: readonly ShellWord[]): boolean {
  return INTERPRETERS.test(programOf(words) ?? '');
}

/** Programs that work as somebody else, elsewhere or later, so that no path of theirs says where. */
const LEAVES = wordSet(
  `sudo doas su pkexec runuser chroot nsenter unshare bwrap firejail proot systemd-run at batch
  ssh crontab mount umount tmux screen gdbserver docker podman nerdctl lxc vagrant`,
);

export function leaves(words: readonly ShellWord[]): string | undefined {
  const program = programOf(words) ?? '';
  return LEAVES.has(program) ? program : undefined;
}

const STEERS =
  /^(GIT_(?!AUTHOR_|COMMITTER_|EDITOR$|SEQUENCE_EDITOR$|PAGER$|TERMINAL_PROMPT$|MERGE_AUTOEDIT$|OPTIONAL_LOCKS$)\w+|LD_\w+|DYLD_\w+|BASH_\w+|CDPATH|HOME|PWD|OLDPWD|IFS|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|DIRSTACK|GLOBIGNORE)$/;

/** Whether a variable of this name decides where things happen, or what runs. */
export function steers(name: string): boolean {
  return STEERS.test(name);
}

/** The name of such a variable that a word sets: `GIT_DIR=…`, `-uX GIT_DIR=…`. */
export function steeringIn(word: ShellWord): string | undefined {
  const name = /^(?:-\w)?([A-Za-z_]\w*)\+?=/.exec(word.value)?.[1];
  return name !== undefined && steers(name) ? name : undefined;
}

/** Names that have no business in a command at all, however they come to be set. */
const NEVER_NAMED =
  /\b(GIT_DIR|GIT_WORK_TREE|GIT_COMMON_DIR|GIT_INDEX_FILE|GIT_OBJECT_DIRECTORY|GIT_CONFIG_\w+|CDPATH|OLDPWD|DIRSTACK|BASH_ENV|LD_PRELOAD)\b/;

export function neverNamed(text: string): string | undefined {
  return NEVER_NAMED.exec(text)?.[1];
}

export function keepsAbsolute({ value }: ShellWord, at: number): boolean {
  // The first bundle of letters needs no dash.
  if (!value.startsWith('--')) return (at === 1 ? /^[^/.=]*P/ : /^-[^/.=]*P/).test(value);
  return /^--(absolute-n\w*|unlink-first|keep-directory-symlink)$/.test(value);
}

/** A script of sed that can only change text is no file. */
export function isScript(program: string, value: string): boolean {
  return (
    /^g?sed$/.test(program) &&
    /^[\d$/sy]/.test(value) &&
    /[/|#,;]/.test(value) &&
    isPlainScript(value)
  );
}

/** Builtins that give variables to programs. */
export const EXPORTS = wordSet('export declare typeset readonly');
