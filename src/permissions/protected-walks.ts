import { treeBudget } from './budget.js';
import { isWritingCode, writesSomewhere } from './protected-doubts.js';
import type { RestrictionMatch } from './restriction-match.js';
import type { Rule } from './rule.js';
import { mayWriteUnknown, possibleFileUse } from './shell/file-commands.js';
import { lookedUpByForeignCode } from './shell/foreign-code.js';
import { literalWord, programOf, type ShellReading, type SimpleCommand } from './shell/model.js';
import { FINDERS, SHELLS } from './shell/runner-tables.js';
import { fedCommand } from './shell/runners.js';
import type { TreeUse } from './shell/tree-use.js';
import { isUnknownProgram, type WalkContext, writtenTrees } from './shell/written-walks.js';
import { contextOf, directoriesOf } from './tree-context.js';
import { restrictingUses } from './tree-uses.js';
import type { CallView } from './view.js';

/**
 * A protected thing that a command comes across by itself, without anybody naming it, and changes:
 * `find . -delete`, `find . | xargs rm`, `chmod -R`, `cp -r x/. .`.
 */
export async function protectedByWalk(
  view: CallView,
  isHeld: (path: string) => boolean,
): Promise<RestrictionMatch | undefined> {
  const reading = await view.shell();
  if (reading === undefined) return undefined;
  const text = view.call.subject.command ?? '';
  const { judge, home } = view;
  const { roots } = view.call.workspace;
  const place = {
    rules: [protectedRule(isHeld)],
    view,
    look: {
      judge,
      home,
      budget: treeBudget(),
      elevated: /\b(?:sudo|doas|su|pkexec|run0)\b/.test(text),
    },
    // A copy under a name that is not there yet changes nothing that anybody trusts, unless by that name.
    isTarget: async (path: string) =>
      isHeld(path) || (await judge.disk.lstat(path).catch(() => 'unseen')) !== undefined,
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
      const uses = writtenTrees(words, context)
        .flatMap((use) => fromRoots(use, roots))
        .flatMap(outsideCopies);
      const directories = directoriesOf(command, words) ?? roots;
      const found = await restrictingUses(uses, { ...place, directories });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The protected paths as a rule, for the walk that other rules are compared in. */
function protectedRule(isHeld: (path: string) => boolean): Rule {
  const text = 'protected paths';
  return {
    kind: 'ask',
    text,
    label: text,
    origin: { value: { text, root: '/' }, source: 'builtin', trusted: true },
    spec: {
      kind: 'path',
      access: 'write',
      pattern: { anchor: [], segments: [], folded: true },
      everyTool: true,
      isMeant: isHeld,
    },
    matchesTool: () => true,
  };
}

/** fail-closed: a start that is not known may be where everything is. */
function fromRoots(use: TreeUse, roots: readonly string[]): readonly TreeUse[] {
  return use.start.literal ? [use] : roots.map((root) => ({ ...use, start: literalWord(root) }));
}

/** Packages bring many protected names along, and none of them counts in there. */
const COPIES = 'node_modules';

function outsideCopies(use: TreeUse): readonly TreeUse[] {
  const { start, onto, skips } = use;
  if (onto === undefined && start.value.split('/').includes(COPIES)) return [];
  const directory = (name: string, path?: string): boolean =>
    name === COPIES || skips?.directory?.(name, path) === true;
  return [{ ...use, skips: { ...skips, directory } }];
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
  const fed = fedCommand(words);
  if (fed !== undefined && views.some(mayWriteUnknown)) return true;
  // fail-closed: a program that the table does not know may write what it is given.
  if (fed !== undefined && !isShell(fed[0]?.value ?? '') && isUnknownProgram(fed)) return true;
  return piped === true && views.some((view) => isWritingCode(view, input));
}

function isShell(program: string): boolean {
  return SHELLS.has(program.split('/').at(-1) ?? '');
}

/** `xargs sh -c '…'`: what the shell does with the names is read like any other code. `| sh` runs them. */
function feedsShell({ words, views, piped }: SimpleCommand): boolean {
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
