import { expandHome, join, resolve } from '../../../platform/fs/paths.js';
import { type PathSpellings, throughProcess } from '../../paths/paths.js';
import { simpleFileUse } from '../../shell/effects/uses.js';
import {
  nameOf,
  programOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../../shell/model.js';
import { cdTarget } from '../../shell/syntax/directories.js';
import { pushProblem } from './branches.js';
import { judgeGit } from './git.js';
import { createLinkWatch, type LinkWatch } from './links.js';
import {
  canWrite,
  decidedLater,
  existing,
  type FencePlace,
  isWithin,
  LOST,
  leadsToHidden,
  leadsUp,
  readProblem,
  short,
  strays,
  unreadable,
  valueProblem,
  viewsOf,
  writeProblem,
} from './places.js';
import { fedNames, type LineVariables, lineVariables, type WordValues } from './values.js';
import {
  asLooks,
  EXPORTS,
  inputOf,
  isInterpreter,
  isScript,
  keepsAbsolute,
  type Looks,
  leaves,
  looksAround,
  looksOf,
  neverNamed,
  pathCandidates,
  pathsInText,
  patternsOf,
  RECURSIVE,
  steeringIn,
  steers,
} from './words.js';

type Words = readonly ShellWord[];

/** Why shell code may not run; undefined when all of it surely stays inside, or only looks. */
export async function shellProblem(
  { reading, text }: { readonly reading: ShellReading; readonly text: string },
  place: FencePlace,
): Promise<string | undefined> {
  // fail-closed: commands that were not found may write anywhere.
  if (reading.opaque !== undefined) return unreadable(reading.opaque);
  const mayWrite = reading.commands.some(canWrite);
  if (mayWrite && reading.complex !== undefined) return unreadable(reading.complex);
  const named = neverNamed(text);
  if (named !== undefined) return `it speaks of ${named}, which decides where commands work`;
  const judge = new Judge(place, { reading, text });
  for (const command of reading.commands) {
    const problem = await judge.command(command);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

class Judge {
  readonly #place: FencePlace;
  readonly #links: LinkWatch;
  readonly #reading: ShellReading;
  readonly #variables: LineVariables;
  /** Whether some command changes to a directory that is not checked. */
  readonly #strays: boolean;

  constructor(place: FencePlace, line: { readonly reading: ShellReading; readonly text: string }) {
    this.#place = place;
    this.#reading = line.reading;
    this.#variables = lineVariables(line, place.view);
    this.#strays = line.reading.commands.some((command) =>
      command.views.some((view) => strays(view, command)),
    );
    this.#links = createLinkWatch(place.fs, [place.fence.workspace, ...place.fence.writable]);
  }

  async command(command: SimpleCommand): Promise<string | undefined> {
    for (const { name, value } of command.assignments) {
      if (steers(name)) return `it sets ${name}, which decides where commands work`;
      const problem = await this.#value(value.value, command);
      if (problem !== undefined) return problem;
    }
    for (const { access, target } of command.redirections) {
      const problem = await this.#redirection(command, access, target);
      if (problem !== undefined) return problem;
    }
    const views = viewsOf(command);
    for (const view of views) {
      const problem = await this.#view(view, command);
      if (problem !== undefined) return problem;
    }
    await this.#links.after(views, command.directories);
    return undefined;
  }

  async #redirection(
    command: SimpleCommand,
    access: 'read' | 'write' | 'none',
    target: ShellWord | undefined,
  ): Promise<string | undefined> {
    if (access === 'none' || target === undefined) return undefined;
    if (access === 'read') {
      return this.#looks(asLooks([target]), command);
    }
    if (!target.literal || target.pattern !== undefined) {
      return unreadable(`the redirection to ${target.raw} is decided at run time`);
    }
    return this.#writes([target.value], command);
  }

  async #view(view: Words, command: SimpleCommand): Promise<string | undefined> {
    const steering = view.map(steeringIn).find((name) => name !== undefined);
    if (steering !== undefined) return `it sets ${steering}, which decides where commands work`;
    const name = nameOf(view);
    if (name?.includes('/') === true) {
      const problem = await this.#reads([name], command, false);
      if (problem !== undefined) return problem;
    }
    for (const { value } of EXPORTS.has(name ?? '') ? view.slice(1) : []) {
      const problem = await this.#value(value, command);
      if (problem !== undefined) return problem;
    }
    if (name === 'cd' || name === 'pushd') return this.#cd(view, command);
    const looks = looksOf(view);
    const program = programOf(view);
    if (program === 'git') return this.#git(view, command, looks === undefined);
    if (looks === undefined) return this.#writer(view, command);
    return this.#looks(looks, command, {
      below: RECURSIVE.has(name ?? ''),
      around: looksAround(view),
    });
  }

  async #looks(
    { reads, patterns, begins, unknown, filesOnly }: Looks,
    command: SimpleCommand,
    { below = false, around = false }: { readonly below?: boolean; readonly around?: boolean } = {},
  ): Promise<string | undefined> {
    if (this.#place.fence.hidden.length === 0) return undefined;
    const named = [...reads];
    const isNamed = [...reads, ...patterns, ...unknown].length > 0;
    // A program that is given no file looks around where it is.
    if (around && !isNamed && this.#isLost(command, '.')) return unreadable(LOST);
    for (const word of unknown) {
      const values = await this.#values(word, command);
      // fail-closed: what is decided at run time may be a file of the main checkout.
      if (values === undefined) return decidedLater(word);
      const problem = await this.#reads(values.paths, command, below || values.below);
      if (problem !== undefined) return problem;
      if (values.below && (await leadsToHidden(values.paths, command, this.#place))) {
        return unreadable(`${word.raw} may go through a link to the main checkout`);
      }
    }
    for (const pattern of patterns) {
      if (this.#isLost(command, pattern)) return unreadable(LOST);
      const found = await this.#expanded([pattern], command);
      // fail-closed: what fits cannot be told, and may be anywhere but below.
      const isAway = async () =>
        leadsUp(pattern) || (await leadsToHidden(['.'], command, this.#place));
      if (found === undefined && (await isAway())) return unreadable(`${pattern} leads elsewhere`);
      named.push(...(found ?? []));
    }
    if (
      filesOnly === true &&
      (await leadsToHidden(around && named.length === 0 ? ['.'] : named, command, this.#place))
    ) {
      return unreadable('it follows the links in directories (diff: add --no-dereference)');
    }
    // fail-closed: of what goes on at run time only the beginning can be judged.
    const odd = begins.find((begin) => /^\/+(proc|dev\/+fd)(\/|$)/.test(begin));
    if (odd !== undefined) return unreadable(`what ${odd} leads to is known to a process alone`);
    return (
      (await this.#reads(named, command, below)) ??
      this.#reads(begins.filter(leadsUp), command, false)
    );
  }

  /** All that a word may stand for that is not plain; undefined: nobody can tell. */
  async #values(word: ShellWord, command: SimpleCommand): Promise<WordValues | undefined> {
    if (word.raw !== '') return await this.#variables.valuesOf(word, command.directories);
    const paths = fedNames(command, this.#reading);
    return paths === undefined ? undefined : { paths, below: false };
  }

  /** Programs write where variables say: into the project they do not lead. */
  async #value(value: string, command: SimpleCommand): Promise<string | undefined> {
    const { fence, view } = this.#place;
    for (const path of [value, ...pathCandidates(value)]) {
      if (path === '') continue;
      const meant = expandHome(path, view.home);
      for (const directory of command.directories ?? [view.call.workspace.cwd]) {
        for (const spelled of await view.judge.spellFrom(directory, meant)) {
          const problem = valueProblem(fence, spelled);
          if (problem !== undefined) return problem;
        }
      }
    }
    return undefined;
  }

  /** Moving into the main checkout is refused at once; elsewhere only looking is left. */
  async #cd(view: Words, command: SimpleCommand): Promise<string | undefined> {
    const { fence, view: call } = this.#place;
    const target = cdTarget(view, call.home);
    if (target === undefined) {
      const words = view.slice(1).filter(({ value }) => !/^[-+]/.test(value));
      return this.#looks(asLooks(words), command);
    }
    if (fence.hidden.length > 0 && throughProcess(command.directories, target)) {
      return unreadable(`what ${target} leads to is known to a process alone`);
    }
    const directories = command.directories ?? (target.startsWith('/') ? ['/'] : []);
    const ways: PathSpellings[] = [];
    for (const directory of directories) {
      ways.push(...(await call.judge.spellFrom(directory, target)));
    }
    for (const way of ways) {
      const problem = readProblem(fence, way, { below: false });
      if (problem !== undefined) return problem;
    }
    // `cd -P link/..` is elsewhere than `cd link/..`; the shell's own choice is not followed here.
    const inside = ways.filter(({ real }) => isWithin(real, fence.writable));
    return inside.length > 0 && inside.length < ways.length
      ? unreadable(`\`cd ${target}\` leads to different places through links`)
      : undefined;
  }

  async #git(view: Words, command: SimpleCommand, writes: boolean): Promise<string | undefined> {
    const { fence, view: call } = this.#place;
    // A repository elsewhere is not this agent's, whatever is asked of it.
    const away = await this.#directoryProblem(command);
    if (away !== undefined) return away;
    const unknown = view.find((word) => !word.literal);
    if (unknown !== undefined) return unreadable(`git is given ${unknown.raw}`);
    const whole = fence.isolation !== undefined;
    const git = judgeGit(view, { whole });
    if (git.problem !== undefined) {
      return `${git.problem}; run git in ${fence.workspace} without it`;
    }
    const pushed = git.push && (await pushProblem(git.push, { fence, judge: call.judge }));
    if (pushed !== undefined) return pushed;
    for (const directory of command.directories ?? []) {
      let at = directory;
      for (const move of git.moves) {
        for (const spelled of await call.judge.spellFrom(at, move)) {
          const problem = writeProblem(fence, spelled);
          if (problem !== undefined) return problem;
        }
        at = resolve(at, move);
      }
    }
    if (!writes) return undefined;
    const wild = await this.#expanded(patternsOf(view), command);
    if (wild === undefined)
      return unreadable('it names files by a pattern that cannot be followed');
    return this.#writes([...git.operands.flatMap(pathCandidates), ...wild], command);
  }

  async #writer(view: Words, command: SimpleCommand): Promise<string | undefined> {
    const program = programOf(view) ?? '';
    const elsewhere = leaves(view);
    if (elsewhere !== undefined) {
      return `\`${elsewhere}\` works elsewhere, later or as somebody else, where no workspace holds it`;
    }
    const away = await this.#directoryProblem(command);
    if (away !== undefined) return away;
    const unknown = view.find((word) => !word.literal);
    if (unknown !== undefined) {
      const what = unknown.raw === '' ? 'arguments from its input' : unknown.raw;
      return unreadable(`\`${program}\` may write, and is given ${what}, decided at run time`);
    }
    if (program === 'find' && view.some(({ value }) => /^-([LH]|follow)$/.test(value))) {
      return unreadable('it goes where links lead');
    }
    if (/^(tar|bsdtar)$/.test(program) && view.some(keepsAbsolute)) {
      return unreadable('it unpacks files by their absolute names');
    }
    const wild = await this.#expanded(patternsOf(view), command);
    if (wild === undefined)
      return unreadable('it names files by a pattern that cannot be followed');
    const simple = simpleFileUse(view);
    if (simple !== undefined) {
      return (
        (await this.#reads(simple.reads, command, true)) ??
        (await this.#writes([...simple.writes, ...wild], command))
      );
    }
    if (program === 'ln' && view.some(({ value }) => value.split('/').includes('..'))) {
      return unreadable('a link that goes up by ".." leads elsewhere once it is moved');
    }
    const plain = view.slice(1).filter((word) => word.pattern === undefined);
    const values = plain.map((word) => word.value).filter((value) => !isScript(program, value));
    const candidates = values.flatMap(pathCandidates);
    // For programs that take code, `/re/ { … }` is no file.
    const named = isInterpreter(view) ? await existing(candidates, this.#place) : candidates;
    const isText = (value: string): boolean => /\s/.test(value) || isInterpreter(view);
    const texts = [...values.filter(isText), ...inputOf(view, command)];
    const mentioned = await existing(texts.flatMap(pathsInText), this.#place);
    return this.#writes([...named, ...mentioned, ...wild], command);
  }

  async #directoryProblem(command: SimpleCommand): Promise<string | undefined> {
    const { fence, view } = this.#place;
    if (command.directories === undefined) {
      return unreadable(LOST);
    }
    for (const directory of command.directories) {
      const spelled = await view.judge.spell(directory);
      const problem =
        writeProblem(fence, spelled) ?? (await this.#links.problem(join(directory, 'any')));
      if (problem !== undefined) return `\`${short(command.raw)}\` would run there: ${problem}`;
    }
    return undefined;
  }

  async #writes(paths: readonly string[], command: SimpleCommand): Promise<string | undefined> {
    const { fence, view } = this.#place;
    for (const path of paths) {
      const meant = expandHome(path, view.home);
      if (this.#isLost(command, meant)) return unreadable(LOST);
      for (const directory of command.directories ?? ['/']) {
        for (const spelled of await view.judge.spellFrom(directory, meant)) {
          const problem =
            writeProblem(fence, spelled) ?? (await this.#links.problem(spelled.literal));
          if (problem !== undefined) return problem;
        }
      }
    }
    return undefined;
  }

  async #reads(
    paths: readonly string[],
    command: SimpleCommand,
    below: boolean,
  ): Promise<string | undefined> {
    const { fence, view } = this.#place;
    if (fence.hidden.length === 0) return undefined;
    for (const path of paths) {
      const meant = expandHome(path, view.home);
      if (throughProcess(command.directories, meant)) {
        return unreadable(`what ${meant} leads to is known to a process alone`);
      }
      if (this.#isLost(command, meant)) return unreadable(LOST);
      for (const directory of command.directories ?? ['/']) {
        for (const spelled of await view.judge.spellFrom(directory, meant)) {
          const problem = readProblem(fence, spelled, { below });
          if (problem !== undefined) return problem;
        }
      }
    }
    return undefined;
  }

  /**
   * fail-closed: from a directory that is not known a relative path leads anywhere. Where only a `cd` is
   * not known that was judged itself, it leads below what that may lead to.
   */
  #isLost({ directories }: SimpleCommand, path: string): boolean {
    if (directories !== undefined || path.startsWith('/')) return false;
    return this.#strays || leadsUp(path);
  }

  /** The files that wildcards stand for now; undefined when that cannot be told. */
  async #expanded(
    patterns: readonly string[],
    command: SimpleCommand,
  ): Promise<readonly string[] | undefined> {
    const files: string[] = [];
    for (const pattern of patterns) {
      if (this.#isLost(command, pattern)) return undefined;
      for (const directory of command.directories ?? ['/']) {
        const found = await this.#place.view.judge.expand(directory, pattern);
        if (found === undefined) return undefined;
        files.push(...found);
      }
    }
    return files;
  }
}
