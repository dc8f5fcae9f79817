import type { CallView } from '../../permissions/gate/view.js';
import { contextOf, directoriesOf } from '../../permissions/paths/tree-uses.js';
import { matches, segmentTokens } from '../../permissions/rules/wildcard.js';
import { possibleFileUse } from '../../permissions/shell/file-commands.js';
import type { ShellWord, SimpleCommand } from '../../permissions/shell/model.js';
import { treesOf } from '../../permissions/shell/trees/trees.js';
import { resolve } from '../../platform/fs/paths.js';

/** A directory that a call goes through, and what it reads there. */
export interface ReadTree {
  /** Absolute, as it is named. */
  readonly directory: string;
  /** Whether a file of this name is read, as far as can be told. */
  takes(name: string): boolean;
}

/** The directories whose files a call reads without naming each of them. */
export async function treesRead(
  view: Pick<CallView, 'call' | 'shell' | 'facts'>,
): Promise<readonly ReadTree[]> {
  const { subject, input } = view.call;
  if (subject.command !== undefined) return await treesReadByCode(view);
  const { glob } = input;
  const takes = typeof glob === 'string' ? namesOf(glob) : every;
  const trees: ReadTree[] = [];
  for (const { path, access } of subject.paths) {
    if (access === 'read') trees.push({ directory: resolve(path), takes });
  }
  return trees;
}

async function treesReadByCode(
  view: Pick<CallView, 'call' | 'shell' | 'facts'>,
): Promise<readonly ReadTree[]> {
  const { commands = [] } = (await view.shell()) ?? {};
  const known = commands.map((command) => walked(command, view));
  // What is read without a name that can be seen may be all that the line names a directory of. Of a
  // command that goes through a directory itself that one is known.
  const isBlind = commands.some(
    ({ views }, at) =>
      known[at]?.length === 0 && views.some((words) => possibleFileUse(words).unknown),
  );
  return [...known.flat(), ...(isBlind ? commands.flatMap(named) : [])];
}

function walked(
  command: SimpleCommand,
  view: Pick<CallView, 'call' | 'facts'>,
): readonly ReadTree[] {
  const context = contextOf(command, view as CallView);
  return command.views.flatMap((words) =>
    treesOf(words, context).flatMap(({ start, moves = [], skips }) => {
      if (!start.literal || start.pattern !== undefined) return [];
      const takes = (name: string): boolean => skips?.file?.(name) !== true;
      return (directoriesOf(command, words) ?? []).map((from) => ({
        directory: resolve(...[from, ...moves, start.value]),
        takes,
      }));
    }),
  );
}

function named({ words, directories = [] }: SimpleCommand): readonly ReadTree[] {
  const isPlain = ({ literal, pattern }: ShellWord): boolean => literal && pattern === undefined;
  return words
    .slice(1)
    .filter(isPlain)
    .flatMap(({ value }) =>
      directories.map((from) => ({ directory: resolve(from, value), takes: every })),
    );
}

const every = (): boolean => true;

function namesOf(glob: string): (name: string) => boolean {
  const last = glob.split('/').at(-1) ?? '';
  // What is more than a plain pattern may stand for anything.
  if (/[{}!]/.test(last)) return every;
  return (name) => matches(segmentTokens(last), name);
}
