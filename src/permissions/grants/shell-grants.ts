import { relative } from '../../platform/fs/paths.js';
import { isCriticalPath, protectedPart } from '../guards/protected-paths.js';
import { overwrittenBy } from '../paths/copies.js';
import type { PathJudge, PathSpellings } from '../paths/paths.js';
import { linksStay } from '../paths/paths.js';
import { exactRule, rulesForTool } from '../rules/list.js';
import { fits, grantingPath } from '../rules/match.js';
import type { CommandPattern, Rule } from '../rules/rule.js';
import { readOnlyUse, simpleFileUse, takesAnyFiles } from '../shell/effects/uses.js';
import { knownWrites } from '../shell/file-commands.js';
import {
  literalWord,
  nameOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../shell/model.js';
import { factsOf } from '../shell/programs/index.js';
import { hazardsIn, inputHazard } from '../shell/runners/hazards.js';
import { canonicalText, unwrapForGrant } from '../shell/runners/runners.js';
import { cdTarget } from '../shell/syntax/directories.js';
import { runsAnything } from './suggest.js';

/** What may open the commands of one piece of shell code. */
export interface GrantPlace {
  readonly judge: PathJudge;
  readonly cwd: string;
  readonly home: string;
  readonly roots: readonly string[];
  readonly allow: readonly Rule[];
  /** The tool's names, by which its rules are found. */
  readonly names: readonly string[];
  /** Our own directories. */
  readonly own?: readonly string[] | undefined;
  /** Names of the variables that commands find in their environment. Absent: any. */
  readonly exported?: ReadonlySet<string> | undefined;
  /** Whether commands that only look are open without a rule. */
  readonly looking: boolean;
  /** Whether simple file commands inside the working directories are fine. */
  readonly fileCommands: boolean;
}

export type Coverage =
  | { readonly covered: true; readonly by: readonly string[]; readonly writes: readonly string[] }
  | { readonly covered: false; readonly reason: string };

/**
 * Whether every command is covered: it surely changes nothing, a rule allows it, or it is a simple
 * file command where these are accepted. One that is not covered leaves the whole uncovered.
 */
export async function coverageOf(reading: ShellReading, place: GrantPlace): Promise<Coverage> {
  // fail-closed: a grant covers only what is fully understood.
  if (reading.opaque !== undefined) return open(reading.opaque);
  if (reading.complex !== undefined) return open(reading.complex);
  const by = new Set<string>();
  const writes: string[] = [];
  for (const command of reading.commands) {
    const result = await commandCoverage(command, place);
    if (!result.covered) return result;
    for (const one of result.by) by.add(one);
    writes.push(...result.writes);
  }
  return { covered: true, by: [...by], writes };
}

const SAFE_VARIABLES =
  /^(LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|COLUMNS|LINES|NODE_ENV|CI)$/;

async function commandCoverage(command: SimpleCommand, place: GrantPlace): Promise<Coverage> {
  for (const { name, value } of command.assignments) {
    const isSafe = SAFE_VARIABLES.test(name) || isOwnVariable(name, command, place);
    if (!isSafe || !value.literal) return open(`it sets the variable ${name}`);
  }
  const redirected = await redirectionCoverage(command, place);
  if (!redirected.covered || command.words.length === 0) return redirected;
  const { words: given, fed } = unwrapForGrant(command.words);
  const words = printed(given);
  if (words.some(({ literal, braced }) => !literal || braced)) {
    return open(`\`${command.raw}\` has arguments that are decided at run time`);
  }
  const moved =
    command.directories === undefined || command.directories.some((one) => one !== place.cwd);
  if (nameOf(words) === 'git' && moved) {
    return open('git in another directory follows the configuration it finds there');
  }
  const trap = await projectTrap(words, command, place);
  const main =
    (await cdCoverage(words, command, place)) ??
    (trap !== undefined
      ? undefined
      : fed
        ? await fedCoverage(words, command, place)
        : await readOnlyCoverage(words, command, place)) ??
    (command.grouped ? undefined : await ruleCoverage({ words, fed }, command, place)) ??
    (fed || command.grouped ? undefined : await fileCommandCoverage(words, command, place)) ??
    open(`\`${command.raw}\` requires approval${trap === undefined ? '' : `: ${trap}`}`);
  if (!main.covered) return main;
  return {
    covered: true,
    by: [...main.by, ...redirected.by],
    writes: [...main.writes, ...redirected.writes],
  };
}

/** Why a program that only looks may start another one here: the author of the project chose it, and no rule has allowed it. */
async function projectTrap(
  words: readonly ShellWord[],
  { directories }: SimpleCommand,
  { judge, cwd }: GrantPlace,
): Promise<string | undefined> {
  if (nameOf(words) === 'git') return await judge.repositoryTrap(cwd);
  const { chosenBy } = factsOf(words);
  if (chosenBy === undefined) return undefined;
  // fail-closed: without a known directory the file may be there.
  if (directories === undefined) return 'the directory is not known';
  for (const directory of directories) {
    const file = await judge.choosingFile(directory, chosenBy);
    if (file !== undefined) return `${file} chooses the program that runs`;
  }
  return undefined;
}

/**
 * What `echo` prints of a substitution does no more than the commands in there, which are judged like
 * all others.
 */
function printed(words: readonly ShellWord[]): readonly ShellWord[] {
  const isOpen = (word: ShellWord): boolean => !word.literal && isSubstitution(word.raw);
  if (nameOf(words) !== 'echo' || !words.some(isOpen)) return words;
  return words.map((word) => (isOpen(word) ? literalWord(word.value) : word));
}

/** Nothing but text and `$(…)`; what stands in there in brackets is not followed. */
function isSubstitution(raw: string): boolean {
  return !/[$`()\\<>]/.test(raw.replace(/\$\([^()]*\)/g, ''));
}

/** Names that the shell, the linker or the locale system go by. */
const STEERING =
  /^(BASH.*|LD_.*|DYLD_.*|LC_.*|PROMPT_.*|HIST.*|OPT.*|COMP_.*|MAIL.*|EPOCH.*|READLINE_.*|TEXTDOMAIN.*|GIT_.*|PS\d|PATH|IFS|HOME|PWD|OLDPWD|CDPATH|ENV|SHELL|SHELLOPTS|GLOBIGNORE|EXECIGNORE|FIGNORE|FUNCNEST|INPUTRC|LANG|LANGUAGE|POSIXLY_CORRECT|RANDOM|SRANDOM|SECONDS|LINENO|DIRSTACK|GROUPS|UID|EUID|PPID|TIMEFORMAT|TMOUT|TMPDIR|TERM|REPLY|MAPFILE|COPROC|PIPESTATUS|CHILD_MAX|EMACS|auto_resume|histchars|_)$/;

/** `NAME=text` on its own sets a variable of this shell, which no program gets to see. */
function isOwnVariable(name: string, command: SimpleCommand, { exported }: GrantPlace): boolean {
  if (command.words.length > 0 || command.grouped || exported === undefined) return false;
  return !STEERING.test(name) && !exported.has(name);
}

async function cdCoverage(
  words: readonly ShellWord[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<Coverage | undefined> {
  if (nameOf(words) !== 'cd' || !place.looking) return undefined;
  // Back to where the shell was before; what follows has no known directory.
  if (words.length === 2 && words[1]?.raw === '-') return READ_ONLY;
  const target = cdTarget(words, place.home);
  if (target === undefined) return open('it changes to a directory that is decided at run time');
  const outside = await firstClosed('read', [target], command, place);
  return outside === undefined
    ? READ_ONLY
    : open(`it changes to ${outside}, outside the working directories`);
}

async function readOnlyCoverage(
  words: readonly ShellWord[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<Coverage | undefined> {
  const use = place.looking ? readOnlyUse(words, { handsOn: true }) : undefined;
  if (use === undefined) return undefined;
  const reads = [...use.reads];
  // A program that is given no file looks at its directory or its input.
  if (reads.length === 0 && use.patterns.length === 0) reads.push('.');
  const files = await expanded(use.patterns, command, place);
  const isOpen = await mayBecomeOption(use.patterns, command, place);
  if (files === undefined || isOpen) return undefined;
  reads.push(...files);
  if (use.filesOnly === true && !(await linksStayInside(reads, command, place))) return undefined;
  return (await firstClosed('read', reads, command, place)) === undefined ? READ_ONLY : undefined;
}

/** Whether all links below these lead to where may be read. */
async function linksStayInside(
  paths: readonly string[],
  command: SimpleCommand,
  place: GrantPlace,
  isFineName?: (name: string) => boolean,
): Promise<boolean> {
  const { judge } = place;
  const starts = await spellAll(paths, command, place);
  const isFine = async (target: PathSpellings): Promise<boolean> =>
    (await judge.inside(target)) || isGranted(target, place);
  return await linksStay(starts, judge, { isFine, isFineName });
}

/** `find … | xargs cat`: it reads what the find names, where no name there could become another one. */
async function fedCoverage(
  words: readonly ShellWord[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<Coverage | undefined> {
  const { fedBy } = command;
  if (fedBy === undefined || nameOf(fedBy.words) !== 'find' || fedBy.redirections.length > 0)
    return undefined;
  const prints = fedBy.words.some(({ value }) =>
    /^-(printf|print0|ls|exec|execdir|ok|okdir)$/.test(value),
  );
  const found = readOnlyUse(fedBy.words);
  const own = readOnlyUse(words);
  if (prints || found === undefined || own === undefined || !takesAnyFiles(words)) return undefined;
  const starts = found.reads.length === 0 ? ['.'] : found.reads;
  const isFineName = (name: string): boolean => !/[\s'"\\]/.test(name);
  const isPlain = starts.every(isFineName) && found.patterns.length === 0;
  const stays = isPlain && (await linksStayInside(starts, fedBy, place, isFineName));
  return stays ? await readOnlyCoverage(words, command, place) : undefined;
}

/** The files that patterns stand for now, wherever the command may run; undefined: unknown. */
async function expanded(
  patterns: readonly string[],
  { directories }: SimpleCommand,
  { judge }: GrantPlace,
): Promise<readonly string[] | undefined> {
  const files: string[] = [];
  for (const pattern of patterns) {
    // fail-closed: without a known directory a relative pattern fits anything.
    if (directories === undefined && !pattern.startsWith('/')) return undefined;
    for (const directory of directories ?? ['/']) {
      const found = await judge.expand(directory, pattern);
      if (found === undefined) return undefined;
      files.push(...found);
    }
  }
  return files;
}

/** Whether a wildcard in front stands for an option of the program, or for a file of further arguments. */
async function mayBecomeOption(
  patterns: readonly string[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<boolean> {
  const open = patterns.filter((pattern) => /^[*?[]/.test(pattern));
  const files = await expanded(open, command, place);
  const directories = command.directories ?? [];
  const names = files?.flatMap((file) => directories.map((from) => relative(from, file)));
  return names?.some((name) => /^[-@]/.test(name)) !== false;
}

async function ruleCoverage(
  { words, fed }: { words: readonly ShellWord[]; fed: boolean },
  command: SimpleCommand,
  place: GrantPlace,
): Promise<Coverage | undefined> {
  const rules = rulesForTool(place.allow, place.names).commands;
  // An exact rule goes by what was typed, a pattern by what the shell will make of it.
  const exact = exactRule(rules, command.raw);
  if (exact !== undefined) return { covered: true, by: [exact.rule.label], writes: [] };
  const bare = canonicalText(words);
  const whole = words === command.words ? bare : canonicalText(command.words);
  const wrapped = command.words.length - words.length;
  for (const { rule, pattern } of rules) {
    if (pattern.tokens === undefined) continue;
    const fitsWhole = whole !== bare && reachesInside(pattern, wrapped) && fits(pattern, whole);
    if (!fits(pattern, bare) && !fitsWhole) continue;
    const found = [...hazardsIn({ words, fed }), ...inputHazard(words, command)];
    if (!found.every((hazard) => isSpelledOut(hazard, pattern))) continue;
    const writes = simpleFileUse(words)?.writes ?? knownWrites(words);
    // A rule for any program is not one for those that write, or that bring their own.
    const isAny = pattern.text.startsWith('*');
    if (isAny && (writes.length > 0 || bringsProgram(words))) continue;
    const files = writes.length === 0 ? [] : await expanded(wildcardsIn(words), command, place);
    const over = writes.length === 0 ? [] : await overwritten(words, command, place);
    if (files === undefined || over === undefined) continue;
    const touched = [...writes, ...files, ...over];
    if ((await firstClosed('write', touched, command, place)) !== undefined) continue;
    return { covered: true, by: [rule.label], writes };
  }
  return undefined;
}

async function overwritten(
  words: readonly ShellWord[],
  { directories = [] }: SimpleCommand,
  { judge }: GrantPlace,
): Promise<readonly string[] | undefined> {
  return await overwrittenBy(words, directories, judge);
}

function wildcardsIn(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap(({ pattern }) => pattern ?? []);
}

/** Whether a pattern names what one for the beginning of a command leaves out. */
function isSpelledOut(hazard: string, { text }: CommandPattern): boolean {
  const [program, ...rest] = text.split(/\s+/);
  // Only behind the program: `Bash(env:*)` names no option.
  return program === hazard || rest.some((word) => word.replace(/:\*$/, '') === hazard);
}

/** A rule for a wrapper (`Bash(timeout *)`) does not allow the wrapped command. */
function reachesInside({ tokens = [] }: CommandPattern, wrapped: number): boolean {
  const star = tokens.findIndex((token) => token.kind === 'star');
  const known = tokens.slice(0, star === -1 ? tokens.length : star);
  const blanks = known.filter((token) => token.kind === 'char' && token.char === ' ').length;
  return blanks > wrapped;
}

/** Whether it runs a program of its own: by a path, by its arguments, out of an image. */
function bringsProgram(words: readonly ShellWord[]): boolean {
  const isPath = nameOf(words)?.includes('/') === true;
  return isPath || runsAnything(words) || factsOf(words).runsImages === true;
}

async function fileCommandCoverage(
  words: readonly ShellWord[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<Coverage | undefined> {
  const use = place.fileCommands ? simpleFileUse(words) : undefined;
  if (use === undefined) return undefined;
  const over = await overwritten(words, command, place);
  if (over === undefined) return undefined;
  const paths = [...use.reads, ...use.writes, ...over];
  if ((await firstClosed('read', paths, command, place)) !== undefined) return undefined;
  const isKept = (path: PathSpellings): boolean =>
    protectedPart(path, place) !== undefined || isCriticalPath(path, place);
  if ((await spellAll([...use.writes, ...over], command, place)).some(isKept)) return undefined;
  return { covered: true, by: ['acceptEdits'], writes: use.writes };
}

async function redirectionCoverage(command: SimpleCommand, place: GrantPlace): Promise<Coverage> {
  const writes: string[] = [];
  for (const { access, target } of command.redirections) {
    if (access === 'none' || target === undefined) continue;
    if (access === 'write' && target.raw === '/dev/null') continue;
    // A tilde in a target is spelled out nowhere a person would look.
    if (!target.literal || target.pattern !== undefined || target.raw.startsWith('~')) {
      return open(`the redirection to ${target.raw} cannot be followed`);
    }
    const use = access === 'read' ? 'read' : 'redirect';
    if ((await firstClosed(use, [target.value], command, place)) !== undefined) {
      const way = access === 'read' ? 'from' : 'to';
      return open(`the redirection ${way} ${target.value} requires approval`);
    }
    if (access === 'write') writes.push(target.value);
  }
  return { covered: true, by: writes.length > 0 ? ['redirections'] : [], writes };
}

/** What happens to a file: read, written by a command that a rule or mode allows, or by a redirection. */
type Use = 'read' | 'write' | 'redirect';

/** The first path of which this is not open without asking: inside the working directories, else by a rule for paths. */
async function firstClosed(
  use: Use,
  paths: readonly string[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<string | undefined> {
  // fail-closed: without a known directory a relative path is anywhere, and nothing is written.
  const isLost = (path: string): boolean => use !== 'read' || !path.startsWith('/');
  if (command.directories === undefined && paths.some(isLost)) return 'an unknown directory';
  for (const spelled of await spellAll(paths, command, place)) {
    const isAccepted =
      use !== 'redirect' || (place.fileCommands && protectedPart(spelled, place) === undefined);
    if (isAccepted && (await place.judge.inside(spelled))) continue;
    if (!isGranted(spelled, place, use === 'read' ? 'read' : 'write')) return spelled.literal;
  }
  return undefined;
}

async function spellAll(
  paths: readonly string[],
  command: SimpleCommand,
  place: GrantPlace,
): Promise<readonly PathSpellings[]> {
  const spelled: PathSpellings[] = [];
  for (const directory of command.directories ?? [place.cwd]) {
    for (const path of paths) spelled.push(...(await place.judge.spellFrom(directory, path)));
  }
  return spelled;
}

function isGranted(
  path: PathSpellings,
  { allow }: GrantPlace,
  access: 'read' | 'write' = 'read',
): boolean {
  const opens = ({ spec }: Rule): boolean =>
    spec.kind === 'path' && spec.everyTool && (access === 'read' || spec.access === 'write');
  return grantingPath(allow, path, opens) !== undefined;
}

const READ_ONLY: Coverage = { covered: true, by: ['read-only'], writes: [] };

function open(reason: string): Coverage {
  return { covered: false, reason };
}
