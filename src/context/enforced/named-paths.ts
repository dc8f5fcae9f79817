import type { CallView, TouchedPath } from '../../permissions/gate/view.js';
import type { TakenDirectory } from '../../permissions/paths/tree-restriction.js';
import { restrictedNames } from '../../permissions/rules/list.js';
import { possibleFileUse } from '../../permissions/shell/file-commands.js';
import type { SimpleCommand } from '../../permissions/shell/model.js';
import { resolve } from '../../platform/fs/paths.js';

/** What a call names, for those who look which rules are near to it. */
export interface Named {
  /** Under all names that a path has, those behind links included. */
  readonly paths: readonly string[];
  /** Files that patterns over several directories stand for. */
  readonly expanded: readonly TouchedPath[];
  readonly whole: readonly TakenDirectory[];
  /** Why there may be more. */
  readonly unknown?: string;
}

/** fail-closed: a link is another name for what lies behind it, not a way around its rules. */
export async function namedBy(view: CallView): Promise<Named> {
  const own = await view.paths();
  return view.call.subject.command === undefined
    ? namedByInput(view, own)
    : await namedByCode(view, own);
}

function namedByInput({ names }: CallView, own: readonly TouchedPath[]): Named {
  const whole = names.includes('Grep')
    ? own.map(({ spellings }) => ({ access: 'read' as const, paths: restrictedNames(spellings) }))
    : [];
  return { paths: unique(own), expanded: [], whole };
}

async function namedByCode(view: CallView, own: readonly TouchedPath[]): Promise<Named> {
  const shell = await view.shellPaths();
  const reading = await view.shell();
  const commands = reading?.commands ?? [];
  const places = await Promise.all(
    commands.flatMap(({ directories }) => directories ?? []).map((one) => view.judge.spell(one)),
  );
  const globs = await expandedBy(view, commands);
  const all = [
    ...own,
    ...shell.paths,
    ...(await view.mentionedPaths()),
    ...globs.expanded,
    ...places.map((spellings) => ({ spellings })),
  ];
  const named = {
    paths: unique(all),
    expanded: globs.expanded,
    whole: [...(await wholeOf(view)), ...globs.whole],
  };
  const unknown = reading?.opaque ?? shell.unknown;
  return unknown === undefined ? named : { ...named, unknown };
}

function unique(touched: readonly Pick<TouchedPath, 'spellings'>[]): readonly string[] {
  return [...new Set(touched.flatMap(({ spellings }) => restrictedNames(spellings)))];
}

async function wholeOf(view: CallView): Promise<readonly TakenDirectory[]> {
  const { takenDirectories } = await import('../../permissions/paths/tree-restriction.js');
  return await takenDirectories(view);
}

interface Expanded {
  readonly expanded: readonly TouchedPath[];
  /** Where patterns begin that stand for too much. */
  readonly whole: readonly TakenDirectory[];
}

/** The view knows what a pattern within one directory stands for; this is about the others. */
async function expandedBy(view: CallView, commands: readonly SimpleCommand[]): Promise<Expanded> {
  const expanded: TouchedPath[] = [];
  const whole: TakenDirectory[] = [];
  for (const { words, directories = [view.call.workspace.cwd] } of commands) {
    for (const { pattern, value } of words) {
      if (pattern === undefined) continue;
      const access = possibleFileUse(words).writes.includes(value) ? 'write' : 'read';
      for (const directory of directories) {
        const files = await filesOf(view, directory, pattern);
        if (files === undefined) {
          // fail-closed: what cannot be followed may lead anywhere below the part that is known.
          const spellings = await view.judge.spell(resolve(directory, beginningOf(pattern)));
          whole.push({ access, paths: restrictedNames(spellings) });
        }
        for (const file of files ?? []) {
          expanded.push({ access, spellings: await view.judge.spell(file) });
        }
      }
    }
  }
  return { expanded, whole };
}

const MOST_FILES = 500;
const WILD = /(?:^|[^\\])(?:\\\\)*[*?[]/;

/** Name by name; undefined when that is too much or cannot be told. */
async function filesOf(
  { judge }: CallView,
  directory: string,
  pattern: string,
): Promise<readonly string[] | undefined> {
  const names = pattern.split('/');
  let found = [directory];
  let plain = '';
  for (const [at, name] of names.entries()) {
    const isWild = WILD.test(name);
    plain += at === 0 ? name : `/${name}`;
    if (!isWild && at < names.length - 1) continue;
    const next: string[] = [];
    for (const one of found) {
      const files = isWild ? await judge.expand(one, plain) : [resolve(one, unescaped(plain))];
      if (files === undefined || next.length + files.length > MOST_FILES) {
        // A file in the place of a directory holds nothing.
        if (files === undefined && found.length > 1) continue;
        return undefined;
      }
      next.push(...files);
    }
    found = next;
    plain = '.';
  }
  return found;
}

/** The directory in front of the first wildcard. */
function beginningOf(pattern: string): string {
  const names = pattern.split('/');
  const plain = names.slice(
    0,
    names.findIndex((name) => WILD.test(name)),
  );
  const begin = unescaped(plain.join('/'));
  return begin === '' ? (pattern.startsWith('/') ? '/' : '.') : begin;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
