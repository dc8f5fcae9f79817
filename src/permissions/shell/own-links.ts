import { basename, dirname, resolve } from '../../platform/fs/paths.js';
import { programOf, type ShellWord, type SimpleCommand } from './model.js';
import { mayTakeTree } from './tree-programs.js';

/** Beyond this nobody follows where names lead. */
const MOST_PLACES = 100_000;
const LONGEST_PATH = 16_384;
const TOO_MUCH = 'it may make links in more places than are followed';

/**
 * Why the paths of a command line may lead elsewhere than they do now: it makes a link, and goes
 * through it.
 */
export function ownLinkIn(commands: readonly SimpleCommand[]): string | undefined {
  const links = new Links();
  for (const command of commands) {
    for (const words of command.views) {
      if (makesLink(words)) links.add(placesNamed(words), command);
    }
  }
  // fail-closed: a link may be where nobody looked.
  if (links.isTooMuch) return TOO_MUCH;
  if (links.size === 0) return undefined;
  for (const command of commands) carryOn(links, command);
  const before = links.size;
  // fail-closed: lines may run again, so what is carried on in another order is not followed.
  for (const command of commands) carryOn(links, command);
  if (links.size > before) return 'it moves a link that it makes itself';
  for (const command of commands) {
    // fail-closed: what lies behind the link was not there to be looked at.
    if (goesThrough(command, links)) return 'it goes through a link that it makes itself';
    // fail-closed: what was not looked at may lead through one.
    if (links.isTooMuch) return TOO_MUCH;
  }
  return undefined;
}

/** Where links will be, and which command makes each: it does not go through its own. */
class Links {
  readonly #makers = new Map<string, SimpleCommand | 'several'>();
  readonly #above = new Set<string>();
  #looks = 0;

  get size(): number {
    return this.#makers.size;
  }

  get isTooMuch(): boolean {
    return this.#looks > MOST_PLACES;
  }

  add(names: readonly string[], maker: SimpleCommand): void {
    for (const path of this.resolved(names, maker)) {
      const known = this.#makers.get(path);
      this.#makers.set(path, known === undefined || known === maker ? maker : 'several');
      for (let at = dirname(path); !this.#above.has(at); at = dirname(at)) this.#above.add(at);
    }
  }

  /** Counts what it costs; once that is too much, what it gives no longer matters. */
  resolved(names: readonly string[], { directories }: SimpleCommand): readonly string[] {
    // Where it runs is not known: then only names from the root on lead anywhere certain.
    const known = directories === undefined ? names.filter((name) => name.startsWith('/')) : names;
    const from = directories ?? ['/'];
    this.#looks += known.length * from.length;
    if (this.isTooMuch) return [];
    const paths = from.flatMap((directory) => known.map((name) => resolve(directory, name)));
    // Looking at each of its parts would take long.
    if (paths.some(({ length }) => length > LONGEST_PATH)) this.#looks = Number.POSITIVE_INFINITY;
    return this.isTooMuch ? [] : paths;
  }

  /** Whether a link of another command is there. */
  isAt(path: string, command: SimpleCommand): boolean {
    const maker = this.#makers.get(path);
    return maker !== undefined && maker !== command;
  }

  isBehind(path: string, command: SimpleCommand): boolean {
    for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) {
      if (this.isAt(path.slice(0, at), command)) return true;
    }
    return path !== '/' && this.isAt('/', command);
  }

  /** Whether whoever takes this takes a link of another command along. */
  isIn(path: string, command: SimpleCommand): boolean {
    return this.isAt(path, command) || this.#above.has(path);
  }

  /** The same for all names that begin like this. */
  isLike(start: string, command: SimpleCommand): boolean {
    this.#looks += this.#makers.size;
    return [...this.#makers.keys()].some((at) => at.startsWith(start) && this.isAt(at, command));
  }
}

function makesLink(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  const isLink =
    /^g?(ln|cp)$/.test(program) &&
    words.some(({ value }) => /^-[a-zA-Z]*s|^--sym/.test(value) || value.startsWith('--s'));
  return isLink || /^(mount|bindfs|mergerfs)$/.test(program);
}

/** Where something will be: named last, inside of what is named last, or inside of what `-t` names. */
function placesNamed(words: readonly ShellWord[]): readonly string[] {
  const named = operandsOf(words).map(({ value }) => value);
  const [first = ''] = named;
  const last = named.length > 1 ? (named.at(-1) ?? '') : basename(first);
  return [last, ...targetsOf(words)].flatMap((target, at) => {
    const inside = named.map((name) => `${target}/${basename(name)}`);
    return at === 0 ? [target, ...inside] : inside;
  });
}

function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.slice(1).filter(({ value }) => !value.startsWith('-'));
}

/** The values of `-t` and `--target-directory`, also cut short. */
function targetsOf(words: readonly ShellWord[]): readonly string[] {
  if (!/^g?(ln|cp|mv)$/.test(programOf(words) ?? '')) return [];
  return words.flatMap(({ value }, at) => {
    const [, long, short] = /^--t[a-z-]*(?:=(.*))?$|^-[a-zA-Z]*?t(.*)$/s.exec(value) ?? [];
    if (long === undefined && short === undefined && !value.startsWith('--t')) return [];
    return (long ?? short) || (words[at + 1]?.value ?? '');
  });
}

/** A link that is moved or copied as one is a link in its new place. */
function carryOn(links: Links, command: SimpleCommand): void {
  for (const words of command.views) {
    if (!keepsLinks(words)) continue;
    const operands = operandsOf(words);
    const sources = targetsOf(words).length > 0 ? operands : operands.slice(0, -1);
    if (sources.some((source) => isCarried(source, links, command))) {
      links.add(placesNamed(words), command);
    }
  }
}

function keepsLinks(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  if (/^g?(mv|ln)$|^link$/.test(program)) return !makesLink(words);
  if (program === 'git') return words.some(({ value }) => value === 'mv');
  return (
    /^(g?cp|rsync)$/.test(program) &&
    words.some(({ value }) => /^-[a-zA-Z]*[adlPrR]|^--(arch|no-d|pres|rec|links)/.test(value))
  );
}

function isCarried(source: ShellWord, links: Links, command: SimpleCommand): boolean {
  const { literal, pattern, value } = source;
  if (literal && pattern === undefined) {
    return links.resolved([value], command).some((path) => links.isIn(path, command));
  }
  const [start = ''] = value.split(/[*?[]/);
  return links.resolved([start], command).some((path) => links.isLike(path, command));
}

/** These take a name and make another of it, by rules of their own. */
const RENAMES = /^(rename|prename|perl-rename|mmv)$/;

function goesThrough(command: SimpleCommand, links: Links): boolean {
  const { words, redirections, directories = [], views } = command;
  const named = [...words.slice(1), ...redirections.flatMap(({ target }) => target ?? [])].flatMap(
    ({ value }) => [value, value.replace(/^-*\w[\w-]*=/, '')],
  );
  const takes =
    programOf(words) === 'cd' ||
    views.some((view) => takesTree(view) || RENAMES.test(programOf(view) ?? ''));
  const isThrough = (path: string): boolean =>
    links.isBehind(path, command) || (takes && links.isAt(path, command));
  return (
    directories.some((at) => links.isAt(at, command) || links.isBehind(at, command)) ||
    links.resolved([...new Set(named)], command).some(isThrough)
  );
}

/** These go into directories only when they are told to. */
const TOLD =
  /^(chmod|chown|chgrp|chattr|chcon|setfacl|rm|mv|cp|git|docker|[efz]?grep|diff|gzip|zstd)$/;

function takesTree(words: readonly ShellWord[]): boolean {
  if (!mayTakeTree(words)) return false;
  return (
    !TOLD.test(programOf(words) ?? '') ||
    words.some(({ value }) => /^-[a-zA-Z]*[rRa]|^--(rec|arch|dir)/.test(value))
  );
}
