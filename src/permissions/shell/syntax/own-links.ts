import { basename, resolve } from '../../../platform/fs/paths.js';
import { goesThrough } from '../effects/uses.js';
import { type CarriedFile, programOf, type ShellWord, type SimpleCommand } from '../model.js';

/** Beyond this nobody follows where names lead. */
const MOST_PLACES = 20_000;
/** Systems take no longer one. */
const LONGEST_PATH = 4096;

/** A command line goes where something of its own making is. */
export interface OwnPlaces {
  /** It makes a link, or what it makes is not followed. fail-closed: what lies behind was not there to be looked at. */
  readonly opaque?: string | undefined;
  /** What it has moved or copied there. A link in it would lead elsewhere from the new place. */
  readonly carried: readonly CarriedFile[];
}

/**
 * Through what a command line goes that it has put there itself: the paths behind it may lead elsewhere than they do
 * now. Once it makes a link, all that it moves or copies may be that link in a new place.
 */
export function ownPlacesIn(commands: readonly SimpleCommand[]): OwnPlaces {
  const makes = (words: readonly ShellWord[]): boolean => makesLink(words) || mayMoveLink(words);
  if (!commands.some(({ views }) => views.some(makes))) return { carried: [] };
  const isLinking = commands.some(({ views }) => views.some(makesLink));
  let places = 0;
  const placed: Placed[] = [];
  for (const command of commands) {
    const links = pathsOf(command, command.views.flatMap(placesMade));
    const named = pathsOf(command, namesIn(command));
    places += links.length + named.length;
    // fail-closed: a link may be where nobody looked.
    if (places > MOST_PLACES || [...links, ...named].some(({ length }) => length > LONGEST_PATH)) {
      return { opaque: 'it may make links in more places than are followed', carried: [] };
    }
    placed.push({ command, links, named });
  }
  const through = makersPassed(placed);
  if (isLinking) {
    const opaque = through.size > 0 ? 'it goes through a link that it makes itself' : undefined;
    return { opaque, carried: [] };
  }
  return { carried: [...through].flatMap(carriedBy) };
}

interface Placed {
  readonly command: SimpleCommand;
  readonly links: readonly string[];
  readonly named: readonly string[];
}

/** Commands through whose places another one goes; none goes through the place that it makes alone. */
function makersPassed(placed: readonly Placed[]): ReadonlySet<SimpleCommand> {
  const makers = new Map<string, Set<Placed>>();
  for (const one of placed) {
    for (const link of one.links) makers.set(link, (makers.get(link) ?? new Set()).add(one));
  }
  const passed = new Set<Placed>();
  const follow = (one: Placed, enters: boolean): void => {
    const ways = one.named.flatMap((path) => [
      ...(enters ? [path] : []),
      ...directoriesAbove(path),
    ]);
    for (const way of new Set(ways)) {
      const made = makers.get(way) ?? new Set();
      for (const maker of made) if (maker !== one || made.size > 1) passed.add(maker);
    }
  };
  for (const one of placed) follow(one, one.command.views.some(entersLast));
  // What is carried on was elsewhere before.
  for (const one of passed) follow(one, true);
  return new Set([...passed].map(({ command }) => command));
}

function carriedBy({ views, directories = [] }: SimpleCommand): readonly CarriedFile[] {
  const sources = views.filter(mayMoveLink).flatMap((words) => {
    const named = words.slice(1).filter(({ value }) => !value.startsWith('-'));
    const isFirst = words.some(({ value }) => /^--t|^-[a-zA-Z]*t/.test(value));
    return isFirst || named.length === 1 ? named : named.slice(0, -1);
  });
  return directories.flatMap((directory) => sources.map((source) => ({ directory, source })));
}

const isAbsolute = (name: string): boolean => name.startsWith('/');

function pathsOf({ directories }: SimpleCommand, names: readonly string[]): readonly string[] {
  // Where it runs is not known: then only names from the root on lead anywhere certain.
  const known = directories === undefined ? names.filter(isAbsolute) : names;
  const unique = [...new Set(known)];
  const relative = unique.filter((name) => !isAbsolute(name));
  return [
    ...unique.filter(isAbsolute).map((name) => resolve('/', name)),
    ...(directories ?? []).flatMap((from) => relative.map((name) => resolve(from, name))),
  ];
}

function directoriesAbove(path: string): readonly string[] {
  const found = ['/'];
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) {
    found.push(path.slice(0, at));
  }
  return found;
}

function makesLink(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  const isLink =
    /^g?(ln|cp)$/.test(program) && words.some(({ value }) => /^-[a-zA-Z]*s|^--s/.test(value));
  return isLink || /^(mount|bindfs|mergerfs)$/.test(program);
}

function mayMoveLink(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  if (program === 'git') return words.some(({ value }) => value === 'mv');
  return /^(g?(mv|ln|cp)|link|rsync)$/.test(program);
}

/** Where something will be: named last, inside of what is named last, or inside of what `-t` names. */
function placesMade(words: readonly ShellWord[]): readonly string[] {
  if (!makesLink(words) && !mayMoveLink(words)) return [];
  const values = words.slice(1).map(({ value }) => value);
  const named = values.filter((value) => !value.startsWith('-'));
  const last = named.length > 1 ? (named.at(-1) ?? '') : basename(named[0] ?? '');
  const targets = values.flatMap((value, at) => {
    const [found, long, short] = /^--t[a-z-]*(?:=(.*))?$|^-[a-zA-Z]*?t(.*)$/s.exec(value) ?? [];
    return found === undefined ? [] : [(long ?? short) || (values[at + 1] ?? '')];
  });
  const inside = [last, ...targets].flatMap((target) =>
    named.map((name) => `${target}/${basename(name)}`),
  );
  return [last, ...inside];
}

/** Programs that go into what is named last, not only through the directories in front of it. */
function entersLast(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  if (/^(cd|pushd|p?rename|perl-rename|mmv)$/.test(program)) return true;
  if (program === 'git') return words.some(({ value }) => /^-[a-zA-Z]*[rRa]|^--rec/.test(value));
  return !/^g?mv$/.test(program) && goesThrough(words);
}

function namesIn({ words, redirections, directories = [] }: SimpleCommand): readonly string[] {
  const targets = redirections.flatMap(({ target }) => target ?? []);
  const values = [...words.slice(1), ...targets].map(({ value }) => value);
  const attached = values.map((value) => value.replace(/^-*\w[\w-]*=/, ''));
  return [...values, ...attached, ...directories.map((directory) => `${directory}/.`)];
}
