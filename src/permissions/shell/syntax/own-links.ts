import { basename, resolve } from '../../../platform/fs/paths.js';
import { goesThrough } from '../effects/uses.js';
import { programOf, type ShellWord, type SimpleCommand } from '../model.js';

/** Beyond this nobody follows where names lead. */
const MOST_PLACES = 20_000;
/** Systems take no longer one. */
const LONGEST_PATH = 4096;

/**
 * Why the paths of a command line may lead elsewhere than they do now: it makes a link, and another command goes
 * through it. Once there is a link, all that the line moves or copies may be that link in a new place.
 */
export function ownLinkIn(commands: readonly SimpleCommand[]): string | undefined {
  if (!commands.some(({ views }) => views.some(makesLink))) return undefined;
  let places = 0;
  const placed: { command: SimpleCommand; links: readonly string[]; named: readonly string[] }[] =
    [];
  for (const command of commands) {
    const links = pathsOf(command, command.views.flatMap(placesMade));
    const named = pathsOf(command, namesIn(command));
    places += links.length + named.length;
    // fail-closed: a link may be where nobody looked.
    if (places > MOST_PLACES || [...links, ...named].some(({ length }) => length > LONGEST_PATH)) {
      return 'it may make links in more places than are followed';
    }
    placed.push({ command, links, named });
  }
  const makers = new Map<string, SimpleCommand | 'several'>();
  for (const { command, links } of placed) {
    for (const link of links) {
      const maker = makers.get(link);
      makers.set(link, maker === undefined || maker === command ? command : 'several');
    }
  }
  const goesThrough = placed.some(({ command, named }) => {
    // A command does not go through the link that it makes.
    const isLink = (path: string): boolean => (makers.get(path) ?? command) !== command;
    const enters = command.views.some(entersLast);
    return named.some((path) => (enters && isLink(path)) || directoriesAbove(path).some(isLink));
  });
  // fail-closed: what lies behind the link was not there to be looked at.
  return goesThrough ? 'it goes through a link that it makes itself' : undefined;
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
