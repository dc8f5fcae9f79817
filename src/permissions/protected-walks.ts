import { resolve } from '../platform/fs/paths.js';
import { isWritingCode, writesSomewhere } from './protected-doubts.js';
import { protectedOnWalk, type WalkFinding, type WalkPlace } from './protected-walk.js';
import { mayWriteUnknown, possibleFileUse } from './shell/file-commands.js';
import { lookedUpByForeignCode } from './shell/foreign-code.js';
import { programOf, type ShellReading, type SimpleCommand } from './shell/model.js';
import { FINDERS, SHELLS } from './shell/runner-tables.js';
import { fedCommand } from './shell/runners.js';
import { type WalkContext, type WrittenWalk, writtenWalks } from './shell/written-walks.js';
import { contextOf, directoriesOf } from './tree-context.js';
import { targetsOf } from './tree-uses.js';
import { treeBudget } from './tree-walk.js';
import type { CallView } from './view.js';

/**
 * A protected thing that a command comes across by itself, without anybody naming it, and changes:
 * `find . -delete`, `find . | xargs rm`, `chmod -R`, `cp -r x/. .`.
 */
export async function protectedByWalk(
  view: CallView,
  isHeld: (path: string) => boolean,
): Promise<WalkFinding> {
  const reading = await view.shell();
  if (reading === undefined) return undefined;
  const text = view.call.subject.command ?? '';
  const place: WalkPlace = {
    judge: view.judge,
    budget: treeBudget(),
    elevated: /\b(?:sudo|doas|su|pkexec|run0)\b/.test(text),
    cwd: view.call.workspace.cwd,
    isHeld,
  };
  const around = surroundings(reading, text);
  for (const command of reading.commands) {
    const context = {
      ...contextOf(command, view),
      ...around,
      isWritingCode: (words: SimpleCommand['words']) => isWritingCode(words, command.input),
      lookedUp: (words: SimpleCommand['words']) => lookedUpByForeignCode(words, command.input),
    };
    for (const words of command.views) {
      const walks = writtenWalks(words, context);
      const found = await onWalks(walks, directoriesOf(command, words), { view, place });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

type Around = Pick<WalkContext, 'codeWrites' | 'printsAreWritten' | 'mayInject'>;

function surroundings({ commands, opaque }: ShellReading, text: string): Around {
  // fail-closed: what cannot be followed may write whatever it is told.
  const isOpen = opaque !== undefined || commands.some(writesSomewhere);
  const isKept = keepsNames(text) || commands.some(feedsShell);
  return {
    codeWrites: isOpen || commands.some(writesFound),
    printsAreWritten: commands.some(writesWhatItIsFed) || (isOpen && isKept),
    mayInject: commands.some(({ assignments }) => assignments.some(holdsTests)),
  };
}

/** A value that is more than a name, to a program that takes words with dashes for what to do. */
function holdsTests({ value }: SimpleCommand['assignments'][number]): boolean {
  return /(^|\s)(-\w|[(!,])/.test(value.value);
}

/** Names go into variables, or a substitution lists them. */
function keepsNames(text: string): boolean {
  if (/\b(read|mapfile|readarray)\b/.test(text)) return true;
  const [, ...substitutions] = text.split(/\$\(|`|<\(/);
  return substitutions.some((inner) =>
    /\b(find|fd|fdfind|ls|tree|du|[a-z]*grep|rg|ag|ack)\b/.test(inner.split(')', 1)[0] ?? ''),
  );
}

/** `xargs rm`, and code of another language that may take names out of its input. */
function writesWhatItIsFed({ piped, words, views, input }: SimpleCommand): boolean {
  if (fedCommand(words) !== undefined && views.some(mayWriteUnknown)) return true;
  return piped === true && views.some((view) => isWritingCode(view, input));
}

/** `xargs sh -c '…'`: what the shell does with the names is read like any other code. `| sh` runs them. */
function feedsShell({ words, views, piped }: SimpleCommand): boolean {
  const isShell = (value: string): boolean => SHELLS.has(value.split('/').at(-1) ?? '');
  if (fedCommand(words)?.some(({ value }) => isShell(value)) === true) return true;
  return piped === true && views.some((view) => isShell(programOf(view) ?? ''));
}

/** Code in a text in which the name of what was found is put. */
function writesFound({ views, redirections }: SimpleCommand): boolean {
  const isFound = (name: string): boolean => name.includes('{}');
  return (
    redirections.some(({ access, target }) => access === 'write' && isFound(target?.value ?? '')) ||
    views
      .filter((words) => !FINDERS.has(programOf(words) ?? ''))
      .some((words) => possibleFileUse(words).writes.some(isFound))
  );
}

async function onWalks(
  walks: readonly WrittenWalk[],
  directories: readonly string[] | undefined,
  { view, place }: Judging,
): Promise<WalkFinding> {
  const { roots } = view.call.workspace;
  for (const walk of walks) {
    for (const directory of directories ?? roots) {
      const from = (walk.moves ?? []).reduce((at, move) => resolve(at, move), directory);
      for (const begin of await startsOf(walk, from, { view, place })) {
        const found = await protectedOnWalk(walk, begin, place);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

interface Judging {
  readonly view: CallView;
  readonly place: WalkPlace;
}

type Start = Parameters<typeof protectedOnWalk>[1];

/** A copy under a name that is not there yet changes nothing that anybody trusts, unless by that name. */
async function knownTargets(
  paths: readonly string[],
  { judge, isHeld }: WalkPlace,
): Promise<readonly string[]> {
  const isThere = async (path: string): Promise<boolean> =>
    isHeld(path) || (await judge.disk.lstat(path).catch(() => 'unseen')) !== undefined;
  const there = await Promise.all(paths.map(isThere));
  return paths.filter((_, at) => there[at]);
}

async function startsOf(
  walk: WrittenWalk,
  from: string,
  { view, place }: Judging,
): Promise<readonly Start[]> {
  const { start, onto } = walk;
  const { roots } = view.call.workspace;
  const given =
    start.pattern === undefined ? [start.value] : await view.judge.expand(from, start.pattern);
  // fail-closed: what is not known may be where everything is.
  if (!start.literal || given === undefined) {
    return roots.map((path) => ({ from, text: undefined, path, onto: [] }));
  }
  const found = given.map(async (name): Promise<readonly Start[]> => {
    const named = onto === undefined ? [] : await targetsOf(onto, { from, start: name }, view);
    const targets = await knownTargets(named, place);
    const spelled = await view.judge.spellFrom(from, name);
    const text = start.pattern === undefined ? name : undefined;
    return spelled.map(({ literal }) => ({ from, text, path: literal, onto: targets }));
  });
  return (await Promise.all(found)).flat();
}
