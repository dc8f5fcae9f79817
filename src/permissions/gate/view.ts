import { systemCodeOf } from '../../errors.js';
import { meantNames } from '../../lib/tool-names.js';
import { resolve, toPosix } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { ToolSubject, TouchedPath } from '../../tools/tool.js';
import { carriedLink } from '../paths/carried-links.js';
import { overwrittenBy } from '../paths/copies.js';
import { createPathJudge, type PathFileSystem, type PathJudge } from '../paths/paths.js';
import type { WorkingTrees } from '../paths/working-trees.js';
import type { RuleSet } from '../rules/rules.js';
import { possibleFileUse, unknownProgram } from '../shell/file-commands.js';
import {
  programOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../shell/model.js';
import { NAMES_ALONE } from '../shell/programs/find.js';
import { attachedNames, filesInForeignCode, namesInValue } from '../shell/runners/foreign-code.js';
import { canonicalText, fedCommand } from '../shell/runners/runners.js';
import { readShell } from '../shell/syntax/read.js';
import { Budget } from './budget.js';
import type { GateCall, JudgedCall } from './types.js';

export type { TouchedPath } from '../../tools/tool.js';

/** What the shell code of a call may touch, by all that can be seen of it. */
interface ShellPaths {
  readonly paths: readonly TouchedPath[];
  /** Those that a program is given of which nothing is known: it may write them. */
  readonly mayWrite: readonly TouchedPath[];
  /** Why there may be more. */
  readonly unknown?: string | undefined;
}

/** A call with everything that guards ask about it. Each answer is worked out once, when first wanted. */
export interface CallView extends JudgedCall {
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  readonly home: string;
  readonly facts: GateFacts;
  /** The tool's name and its other names. */
  readonly names: readonly string[];
  readonly judge: PathJudge;
  /** The files that the tool's own input names. */
  paths(): Promise<readonly TouchedPath[]>;
  shellPaths(): Promise<ShellPaths>;
  /** Files that embedded code of other languages mentions; it may read or write them. */
  mentionedPaths(): Promise<readonly TouchedPath[]>;
  /** Files that words may name behind a sign or an option's letter: `-d@file`, `OPEN:file`, `src=file`. */
  attachedPaths(): Promise<readonly TouchedPath[]>;
  /** The parsed shell code, one command per line; undefined until it is parsed. */
  commandRead(): string | undefined;
}

/** What stays the same while a call is judged. */
export interface ViewDeps {
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  readonly facts?: GateFacts | undefined;
}

export function viewOf(call: GateCall, deps: ViewDeps): CallView {
  const { tool, subject, workspace } = call;
  const { fs, mode, rules, home, facts = {} } = deps;
  const { roots, cwd } = workspace;
  const { command } = subject;
  const budget = new Budget();
  const judge = createPathJudge(fs, { roots, home, trees: facts.trees, budget });
  let found: readonly TouchedPath[] | undefined;
  let reading: ShellReading | undefined;
  const shell = once(async () => {
    if (command === undefined) return undefined;
    const read = await readShell(command, { cwd, home }, budget);
    reading = { ...read, opaque: read.opaque ?? (await carriedLink(read.carried ?? [], judge)) };
    return reading;
  });
  const commands = async (): Promise<readonly SimpleCommand[]> => (await shell())?.commands ?? [];
  return {
    call,
    mode,
    rules,
    home,
    facts,
    names: meantNames(tool),
    judge,
    shell,
    commandRead: () => (reading === undefined ? undefined : textOf(reading)),
    paths: once(async () => {
      const touched: TouchedPath[] = [];
      for (const { path, access } of namedIn(call, home)) {
        touched.push({ access, spellings: await judge.spell(path) });
      }
      found = touched;
      return touched;
    }),
    pathsFound: () => found,
    mentionedPaths: once(async () => {
      const files = new Set<string>();
      for (const { views, input } of await commands()) {
        for (const words of views) {
          budget.spend(words.length + (input.length >> 4));
          for (const file of filesInForeignCode(words, input)) files.add(file);
        }
      }
      const touched: TouchedPath[] = [];
      for (const file of files) {
        touched.push({ access: 'write', spellings: await judge.spell(resolve(cwd, file)) });
      }
      return touched;
    }),
    attachedPaths: once(async () => {
      const touched: TouchedPath[] = [];
      for (const { views, assignments, directories = [cwd] } of await commands()) {
        const set = assignments.filter(({ value }) => value.literal);
        const inValues = set.flatMap(({ value }) => namesInValue(value.value));
        const names = new Set([...views.flatMap(attachedNames), ...inValues]);
        budget.spend(views.reduce((sum, words) => sum + words.length, 0));
        for (const directory of directories) {
          for (const name of names) {
            const spelled = await judge.spellFrom(directory, name);
            touched.push(...spelled.map((spellings) => ({ access: 'read', spellings }) as const));
          }
        }
      }
      return touched;
    }),
    shellPaths: once(async () => {
      const all = await commands();
      const parts: ShellPaths[] = [];
      for (const one of all) parts.push(await pathsOf(one, judge, cwd));
      const isOdd = all.some(readsPatternsAnew) && all.some((one) => patternsIn(one).length > 0);
      return {
        paths: parts.flatMap(({ paths }) => paths),
        mayWrite: parts.flatMap(({ mayWrite }) => mayWrite),
        unknown: isOdd
          ? 'it changes what patterns of names stand for'
          : parts.find(({ unknown }) => unknown !== undefined)?.unknown,
      };
    }),
  };
}

/** The files of the input, under every reading of their names. */
function namedIn({ subject, workspace }: GateCall, home: string): ToolSubject['paths'] {
  const place = { cwd: workspace.cwd, home };
  return subject.paths.flatMap((one) => [
    one,
    ...otherReadings(one.path, place).map((path) => ({ path, access: one.access })),
  ]);
}

/** `@/etc/x`, `@~/x` and `file:///etc/x` lie in the working directory by the letter, and are meant for elsewhere. */
function otherReadings(path: string, place: { cwd: string; home: string }): readonly string[] {
  if (!path.startsWith(place.cwd)) return [];
  const rest = toPosix(path.slice(place.cwd.length));
  const home = /^\/(?:@|file:\/{0,3})~(\/.*)$/is.exec(rest)?.[1];
  if (home !== undefined) return [resolve(place.home, `.${home}`)];
  const root = /^\/(?:@|file:)(\/.*)$/is.exec(rest)?.[1];
  return root === undefined ? [] : [resolve(root)];
}

function textOf({ commands }: ShellReading): string {
  const text = (word: ShellWord): string => (word.literal ? canonicalText([word]) : word.raw);
  return commands.map((command) => command.words.map(text).join(' ')).join('\n');
}

/** What a number stands for is known to the process alone. */
const THROUGH_OPEN = /^\/+(dev|proc\/[^/]+(\/task\/[^/]+)?)\/+fd\/+[^/]+\/./;

/** Variables that name a place where programs write. */
const IS_WRITTEN = /^(HISTFILE|TE?MP(DIR)?)$/;

interface Wanted {
  readonly access: 'read' | 'write' | 'mayWrite';
  readonly text: string;
}

/** Files that a command names, each once: behind wrappers the same words come again and again. */
function filesOf(command: SimpleCommand, budget: Budget): { wanted: Wanted[]; unknown?: string } {
  const wanted = new Map<string, Wanted>();
  const add = (access: Wanted['access'], texts: readonly string[]): void => {
    for (const text of texts) wanted.set(`${access} ${text}`, { access, text });
  };
  let unknown: string | undefined;
  for (const view of command.views) {
    budget.spend(view.length);
    const use = possibleFileUse(view);
    add('read', use.reads);
    add('write', use.writes);
    const open = unknownProgram(view);
    if (open !== undefined) {
      add('mayWrite', [...possibleFileUse(open).reads, ...attachedNames(open)]);
    }
    if (use.unknown) {
      unknown ??= `\`${view[0]?.raw}\` takes a file name that is decided at run time`;
    }
  }
  const fed = fedCommand(command.words);
  // fail-closed: whatever it is, it may read the files that it is given.
  if (fed !== undefined && !takesNoFiles(fed)) {
    unknown ??= `\`${fed[0]?.raw}\` is given names of files by another command`;
  }
  for (const { access, target } of command.redirections) {
    if (access === 'none' || target === undefined) continue;
    if (target.literal) add(access, [target.value]);
    else unknown ??= 'a redirection leads to a file that is decided at run time';
  }
  // A program may read the file that a variable names: `BASH_ENV=.env bash`.
  for (const { name, value } of command.assignments) {
    if (value.literal && value.value !== '') {
      add(IS_WRITTEN.test(name) ? 'write' : 'read', [value.value]);
    }
  }
  return { wanted: [...wanted.values()], unknown };
}

async function pathsOf(command: SimpleCommand, judge: PathJudge, cwd: string): Promise<ShellPaths> {
  const { wanted, unknown: why } = filesOf(command, judge.budget);
  const used = patternsIn(command);
  let unknown = why;
  const paths: TouchedPath[] = [];
  const mayWrite: TouchedPath[] = [];
  for (const directory of command.directories ?? [cwd]) {
    for (const { access, text } of wanted) {
      try {
        for (const spellings of await judge.spellFrom(directory, text)) {
          if (access === 'mayWrite') mayWrite.push({ access: 'write', spellings });
          else paths.push({ access, spellings });
          if (spellings.perProcess === true) {
            unknown ??= `what ${text} leads to is known to a process alone`;
          }
        }
      } catch (thrown) {
        // A path that this user may not look up is unknown.
        if (access === 'write' || systemCodeOf(thrown) !== 'EACCES') throw thrown;
        unknown ??= `${text} cannot be looked up`;
      }
    }
    for (const words of command.views) {
      const overwritten = await overwrittenBy(words, [directory], judge);
      if (overwritten === undefined) unknown ??= OPEN_PATTERN;
      for (const file of overwritten ?? []) {
        paths.push({ access: 'write', spellings: await judge.spell(file) });
      }
    }
    for (const { pattern, accesses } of used) {
      const files = await judge.expand(directory, pattern);
      if (files === undefined) unknown ??= OPEN_PATTERN;
      for (const file of files ?? []) {
        const spellings = await judge.spell(file);
        paths.push(...accesses.map((access) => ({ access, spellings })));
      }
    }
  }
  if (wanted.some(({ text }) => THROUGH_OPEN.test(text))) {
    unknown ??= 'it goes through a directory that is open at run time';
  }
  const texts = [...wanted.map(({ text }) => text), ...used.map(({ pattern }) => pattern)];
  if (command.directories === undefined && texts.some((text) => !text.startsWith('/'))) {
    unknown ??= 'the directory it runs in is decided at run time';
  }
  return { paths, mayWrite, unknown };
}

const OPEN_PATTERN = 'it names files by a pattern that cannot be followed';

/** Programs, and subcommands of some, for which words out of the input are no files. */
const NO_FILES = /^(kill|git branch|(docker|podman) (rm|rmi|stop|kill|start|inspect))( |$)/;

function takesNoFiles(words: readonly ShellWord[]): boolean {
  // Alone it prints.
  if (words.length === 0) return true;
  return NAMES_ALONE.test(programOf(words) ?? '') || NO_FILES.test(canonicalText(words));
}

interface PatternUse {
  readonly pattern: string;
  readonly accesses: readonly TouchedPath['access'][];
}

/** Wildcards name files to read, and to write where the command writes its operands or stands behind `>`. */
function patternsIn({ views, redirections }: SimpleCommand): readonly PatternUse[] {
  const found: PatternUse[] = [];
  const seen = new Set<ShellWord>();
  for (const words of views) {
    for (const word of words) {
      const { pattern, value } = word;
      if (pattern === undefined || seen.has(word)) continue;
      seen.add(word);
      const writes = possibleFileUse(words).writes.includes(value);
      found.push({ pattern, accesses: writes ? ['read', 'write'] : ['read'] });
    }
  }
  for (const { access, target } of redirections) {
    if (access === 'none' || target?.pattern === undefined) continue;
    found.push({ pattern: target.pattern, accesses: [access] });
  }
  return found;
}

/** Options of the shell by which `*` fits hidden files, other letters, or other directories. */
function readsPatternsAnew({ views, assignments }: SimpleCommand): boolean {
  return (
    assignments.some(({ name }) => name === 'GLOBIGNORE' || name === 'BASHOPTS') ||
    views.some(([first, ...rest]) =>
      first?.value === 'shopt'
        ? rest.length > 0
        : /(^|\/)bash$/.test(first?.value ?? '') && rest.some(({ value }) => /^[-+]O/.test(value)),
    )
  );
}

function once<T extends Promise<unknown>>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** What is true of the whole session and shapes how calls are judged. */
export interface GateFacts {
  /** Names of the variables that commands find in their environment. Absent: any may be among them. */
  exported?(): ReadonlySet<string>;
  /** Whether commands that only look are asked about too. */
  askReadOnly?(): boolean;
  /** Directories of our own: settings of the user and of administrators, our state, plugins. */
  readonly own?: readonly string[];
  /** Directories in which this agent keeps notes: what protects settings does not protect those from it. */
  notes?(agent: AgentRef): readonly string[];
  /** Working trees of agents. Absent: those that are known by their place. */
  readonly trees?: WorkingTrees;
}
