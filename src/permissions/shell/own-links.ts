import { basename, resolve } from '../../env/paths.js';
import { programOf, type ShellWord, type SimpleCommand } from './model.js';
import { mayTakeTree } from './tree-programs.js';

/**
 * Why the paths of a command line may lead elsewhere than they do now: it makes a link, and goes
 * through it.
 */
export function ownLinkIn(commands: readonly SimpleCommand[]): string | undefined {
  for (const maker of commands) {
    const links = maker.views.flatMap((words) => linksMade(words, maker.directories));
    if (links.length === 0) continue;
    const others = commands.filter((command) => command !== maker);
    // fail-closed: what lies behind the link was not there to be looked at.
    if (others.some((command) => goesThrough(command, links))) {
      return 'it goes through a link that it makes itself';
    }
  }
  return undefined;
}

/** Where the link will be: named last, or inside of what is named last. */
function linksMade(
  words: readonly ShellWord[],
  directories: readonly string[] | undefined,
): readonly string[] {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  const isLink =
    /^g?(ln|cp)$/.test(program) &&
    rest.some(({ value }) => /^-[a-zA-Z]*s|^--sym/.test(value) || value.startsWith('--s'));
  if (!isLink && !/^(mount|bindfs|mergerfs)$/.test(program)) return [];
  const operands = rest.filter(({ value }) => !value.startsWith('-'));
  const named = operands.map(({ value }) => value);
  const [first = ''] = named;
  const last = named.length > 1 ? (named.at(-1) ?? '') : basename(first);
  const inside = named.map((name) => `${last}/${basename(name)}`);
  return (directories ?? []).flatMap((directory) =>
    [last, ...inside].map((name) => resolve(directory, name)),
  );
}

function goesThrough(command: SimpleCommand, links: readonly string[]): boolean {
  const { words, redirections, directories = [], views } = command;
  const named = [...words.slice(1), ...redirections.flatMap(({ target }) => target ?? [])].flatMap(
    ({ value }) => [value, value.replace(/^-*\w[\w-]*=/, '')],
  );
  const takes = programOf(words) === 'cd' || views.some(takesTree);
  const isBehind = (path: string): boolean =>
    links.some((link) => path.startsWith(`${link}/`) || (takes && path === link));
  return directories.some(
    (directory) =>
      links.some((link) => directory === link || directory.startsWith(`${link}/`)) ||
      named.some((name) => isBehind(resolve(directory, name))),
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
