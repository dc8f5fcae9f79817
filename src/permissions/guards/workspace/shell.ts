import { expandHome } from '../../../platform/fs/paths.js';
import { type PathSpellings, throughProcess } from '../../paths/paths.js';
import {
  nameOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../../shell/model.js';
import { directoriesAfter } from '../../shell/syntax/directories.js';
import {
  createLinkWatch,
  type Line,
  LOST,
  type Need,
  needsOf,
  unreadable,
  viewsOf,
} from './needs.js';
import { type FencePlace, leadsAway, readProblem, valueProblem, writeProblem } from './places.js';
import { lineValues } from './values.js';
import { leadsUp, looksOf, neverNamed } from './words.js';

type Words = readonly ShellWord[];

/** Why shell code may not run; undefined when all of it surely stays inside, or only looks. */
export async function shellProblem(
  reading: ShellReading,
  place: FencePlace,
): Promise<string | undefined> {
  const text = place.view.call.subject.command ?? '';
  // fail-closed: commands that were not found may write anywhere.
  if (reading.opaque !== undefined) return unreadable(reading.opaque);
  const { commands, complex } = reading;
  if (complex !== undefined && commands.some(canWrite)) return unreadable(complex);
  const named = neverNamed(text);
  if (named !== undefined) return `it speaks of ${named}, which decides where commands work`;
  const { fence, view } = place;
  const line: Line = {
    ...place,
    links: createLinkWatch(place, [fence.workspace, ...fence.writable]),
    valuesOf: lineValues({ reading, text }, view),
    strays: commands.some((command) => command.views.some((words) => strays(words, command))),
  };
  for (const command of commands) {
    for await (const need of needsOf(command, line)) {
      const problem = typeof need === 'string' ? need : await needProblem(need, command, line);
      if (problem !== undefined) return problem;
    }
    await line.links.after(viewsOf(command), command.directories);
  }
  return undefined;
}

/** Why one of these files is out of reach. */
async function needProblem(
  need: Exclude<Need, string>,
  command: SimpleCommand,
  line: Line,
): Promise<string | undefined> {
  const { fence, view } = line;
  const { access, patterns = [], below = false, from = command.directories } = need;
  if (access === 'read' && fence.hidden.length === 0) return undefined;
  const paths = [...(need.paths ?? [])];
  for (const pattern of patterns) {
    const found = isLost(pattern, command, line) ? undefined : await expanded(pattern, from, line);
    if (found !== undefined) paths.push(...found);
    // fail-closed: what fits cannot be told, and may be anywhere but below.
    else if (access !== 'read') {
      return unreadable('it names files by a pattern that cannot be followed');
    } else if (leadsUp(pattern) || (await leadsAway(['.'], command.directories, line))) {
      return unreadable(`${pattern} leads elsewhere`);
    }
  }
  for (const path of paths) {
    const meant = expandHome(path, view.home);
    if (access === 'read' && throughProcess(from, meant)) {
      return unreadable(`what ${meant} leads to is known to a process alone`);
    }
    if (access !== 'value' && isLost(meant, command, line)) return unreadable(LOST);
    for (const directory of from ?? [access === 'value' ? view.call.workspace.cwd : '/']) {
      for (const spelled of await view.judge.spellFrom(directory, meant)) {
        const problem = await pathProblem(spelled, { access, below }, line);
        if (problem !== undefined) return problem;
      }
    }
  }
  const { walk } = need;
  if (walk !== undefined && (await leadsAway(walk.starts, from, line, { walk }))) {
    return unreadable(
      'names of files are handed on, and one among them has blanks or is a link that may lead to the main checkout (find: add -type f, and -print0 with xargs -0)',
    );
  }
  const reached = access === 'write' ? 'write' : 'read';
  return need.follows === true && (await leadsAway(paths, from, line, { access: reached }))
    ? unreadable('it follows the links in directories (diff: add --no-dereference)')
    : undefined;
}

async function pathProblem(
  path: PathSpellings,
  { access, below }: { readonly access: 'read' | 'write' | 'value'; readonly below: boolean },
  { fence, links }: Line,
): Promise<string | undefined> {
  if (access === 'read') return readProblem(fence, path, { below });
  if (access === 'value') return valueProblem(fence, path);
  return writeProblem(fence, path) ?? (await links.problem(path.literal));
}

/**
 * fail-closed: from a directory that is not known a relative path leads anywhere. Where only a `cd` is
 * not known that was judged itself, it leads below what that may lead to.
 */
function isLost(path: string, { directories }: SimpleCommand, line: Line): boolean {
  if (directories !== undefined || path.startsWith('/')) return false;
  return line.strays || leadsUp(path);
}

/** The files that a pattern stands for now; undefined when that cannot be told. */
async function expanded(
  pattern: string,
  from: readonly string[] | undefined,
  { view }: Line,
): Promise<readonly string[] | undefined> {
  const files: string[] = [];
  for (const directory of from ?? ['/']) {
    const found = await view.judge.expand(directory, pattern);
    if (found === undefined) return undefined;
    files.push(...found);
  }
  return files;
}

/** `cd -`, `cd ..` in a loop, and all but `cd` after which the directory is not known. */
function strays(words: Words, command: SimpleCommand): boolean {
  const nowhere = { home: '/', assigned: new Set<string>() };
  if (nameOf(words) !== 'cd') return directoriesAfter(words, ['/'], nowhere) === undefined;
  const isUp = ({ value }: ShellWord): boolean => /^[-+]/.test(value) || leadsUp(value);
  const isLed = command.directories === undefined || words.some(({ value }) => /^[-+]/.test(value));
  return isLed && words.slice(1).some(isUp);
}

/** Whether it may do more than look. */
function canWrite(command: SimpleCommand): boolean {
  return (
    command.redirections.some(({ access }) => access === 'write') ||
    viewsOf(command).some((words) => looksOf(words) === undefined)
  );
}
