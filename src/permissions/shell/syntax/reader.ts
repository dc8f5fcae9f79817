import type * as sh from 'unbash';
import { unreachable } from '../../../lib/result.js';
import type { Budget } from '../../gate/budget.js';
import {
  nameOf,
  OUTERMOST,
  type OuterCode,
  type ShellPlace,
  type ShellReading,
  type ShellRedirection,
  type ShellWord,
  type SimpleCommand,
  UNKNOWN_WORD,
} from '../model.js';
import { renderShell } from '../render/render.js';
import { disguisesOf, timeIn } from '../runners/runners.js';
import { assignedBy, codeInAssignments, viewsAndTargets } from '../runners/shell-code.js';
import { differenceFromBash } from './bash-differences.js';
import { bracedWords } from './brace-words.js';
import { type Directories, directoriesAfter, launchedIn, union } from './directories.js';
import { composedIn } from './evaluated-words.js';
import { survey } from './gated.js';
import { assignedInTurn, evaluatedAssignment, localeIn } from './set-variables.js';
import { fileRedirection, inputOf, isInput, readWord, withNumbers } from './words.js';

const DEEPEST_SCRIPT = 8;

/** All that is asked about each command, whatever it is. */
const STEPS_OF_COMMAND = 400;

type ReaderPlace = ShellPlace & { readonly budget: Budget };

/** Walks through the syntax of one piece of shell code and collects its commands. */
export class Reader {
  readonly #parser: typeof sh;
  readonly #place: ReaderPlace;
  readonly #outer: OuterCode;
  readonly #commands: SimpleCommand[] = [];
  #assigned: ReadonlySet<string> = new Set();
  #source = '';
  #visited = 0;
  #moves = 0;
  #repeats = false;
  #groups = 0;
  /** Whether the command that comes next gets its input from the one in front of it. */
  #piped = false;
  /** That one, where it is a single command. */
  #producer: SimpleCommand | undefined;
  /** How many structures with an input are around the command. */
  #inputs = 0;
  /** The `time` in front of what comes next. */
  #timed: readonly ShellWord[] | undefined;
  /** Where the command is whose words are being read: a substitution in them runs there. */
  #here: Directories;
  #opaque: string | undefined;
  #complex: string | undefined;

  constructor(parser: typeof sh, place: ReaderPlace, outer: OuterCode = OUTERMOST) {
    this.#parser = parser;
    this.#place = place;
    this.#outer = outer;
  }

  read(code: string, directories: Directories): ShellReading {
    // What is nested may cost the parser the square of its depth.
    const openings = code.match(/[({`]/g)?.length ?? 0;
    this.#place.budget.spend(code.length + openings ** 2 / 40);
    const script = this.#parser.parse(code);
    // A shell runs the lines in front of a mistake, so what was understood still counts for restrictions.
    const found = survey(script, this.#parser.forEachChild, this.#place.budget);
    this.#opaque = differenceFromBash(script, code, this.#parser.forEachChild) ?? found.opaque;
    this.#complex = found.complex;
    this.#assigned = this.#outer.assigned;
    if (found.assigned.size > 0) {
      this.#place.budget.spend((this.#assigned.size + found.assigned.size) >> 1);
      this.#assigned = new Set([...this.#assigned, ...found.assigned]);
    }
    this.#repeats = found.repeats;
    this.#source = code;
    this.#script(script, directories);
    // fail-closed: the parser's own traversal must agree that no command was missed.
    if (this.#visited !== found.commands) this.#opaque ??= 'not all of its commands were found';
    this.#opaque ??= composedIn(this.#commands);
    const rendering = renderShell(code, script, this.#parser, this.#place.budget);
    return { commands: this.#commands, opaque: this.#opaque, complex: this.#complex, rendering };
  }

  #script(script: sh.Script, directories: Directories): void {
    const outer = this.#source;
    this.#source = script.source ?? outer;
    this.#statements(script.commands, directories);
    this.#source = outer;
  }

  /** A command of a list may fail and the next runs all the same, where the first began. */
  #statements(statements: readonly sh.Statement[], directories: Directories): Directories {
    let at = directories;
    for (const { command } of statements) {
      const after =
        command.type === 'AndOr' ? this.#andOr(command, at) : this.#pipelineOrNode(command, at);
      at = union(at, after);
    }
    return at;
  }

  /** Where it may be at the end: behind `&&` all in front has succeeded, behind `||` it has failed. */
  #andOr({ commands, operators }: sh.AndOr, directories: Directories): Directories {
    let succeeded = directories;
    let failed: Directories = [];
    commands.forEach((command, index) => {
      const isElse = operators[index - 1] === '||';
      const from = isElse ? failed : succeeded;
      const after = this.#pipelineOrNode(command, from);
      const either = union(from, after);
      const prefixes = command.type === 'Pipeline' ? command.prefixes : [];
      const isNegated = prefixes.some(({ type }) => type === 'Negation');
      // What is negated succeeds where it failed, and then the shell has not moved.
      const next = isNegated ? either : after;
      succeeded = isElse ? union(succeeded, next) : next;
      failed = isElse ? either : union(failed, either);
    });
    return union(succeeded, failed);
  }

  #pipelineOrNode(node: sh.Pipeline | sh.CommandNode, directories: Directories): Directories {
    if (node.type !== 'Pipeline') return this.#node(node, directories);
    const outer = this.#timed;
    this.#timed = timeIn(node) ?? outer;
    if (node.commands.length === 0) this.#push({ words: [], redirections: [], directories });
    const after = this.#parts(node.commands, directories);
    this.#timed = outer;
    return after;
  }

  #parts(parts: readonly sh.CommandNode[], directories: Directories): Directories {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return this.#node(only, directories);
    // Each part of a pipeline is a shell of its own.
    for (const [at, part] of parts.entries()) {
      this.#piped = at > 0;
      this.#producer = parts[at - 1]?.type === 'Command' ? this.#commands.at(-1) : undefined;
      this.#node(part, directories);
    }
    this.#piped = false;
    return directories;
  }

  #node(node: sh.CommandNode, directories: Directories): Directories {
    this.#here = directories;
    if (node.type === 'Command') return this.#command(node, directories);
    const isFed = this.#piped || (node.type === 'Redirected' && node.redirects.some(isInput));
    this.#piped = false;
    if (isFed) this.#inputs++;
    const after = this.#structure(node, directories);
    if (isFed) this.#inputs--;
    return after;
  }

  #structure(node: Exclude<sh.CommandNode, sh.Command>, directories: Directories): Directories {
    switch (node.type) {
      case 'Redirected':
        this.#push({ words: [], redirections: this.#redirections(node.redirects), directories });
        return this.#node(node.command, directories);
      case 'Subshell':
        this.#group(node.body, directories);
        return directories;
      case 'BraceGroup':
        return this.#group(node.body, directories);
      case 'If': {
        let at = this.#list(node.clause, directories);
        at = union(at, this.#list(node.then, at));
        for (const branch of node.elif) {
          at = union(at, this.#list(branch.clause, at));
          at = union(at, this.#list(branch.then, at));
        }
        return node.else === undefined ? at : union(at, this.#list(node.else, at));
      }
      case 'While':
        return this.#loop([node.clause, node.body], directories);
      case 'For':
      case 'Select':
        this.#setInTurn(node.name.value, node.wordlist ?? [], directories);
        return this.#loop([node.body], directories);
      case 'Case':
        this.#word(node.word);
        for (const item of node.items) {
          for (const word of item.pattern) this.#word(word);
          this.#list(item.body, undefined);
        }
        return undefined;
      case 'Function':
      case 'Coproc':
        return this.#inside(node.body);
      case 'ArithmeticFor':
      case 'ArithmeticCommand':
      case 'TestCommand':
        return this.#inside(node);
      default:
        return unreachable(node);
    }
  }

  #group(list: sh.CompoundList, directories: Directories): Directories {
    this.#groups++;
    const after = this.#list(list, directories);
    this.#groups--;
    return after;
  }

  #list({ commands }: sh.CompoundList, directories: Directories): Directories {
    return this.#statements(commands, directories);
  }

  /** A body may run often: if it changes the directory, the final one is unknown. */
  #loop(lists: readonly sh.CompoundList[], directories: Directories): Directories {
    const before = this.#moves;
    let at = directories;
    const first = this.#commands.length;
    for (const list of lists) at = this.#list(list, at);
    if (this.#moves > before) {
      const body = this.#commands.splice(first);
      this.#commands.push(...body.map((command) => ({ ...command, directories: undefined })));
      at = undefined;
    }
    return at;
  }

  /** A loop sets its variable as an assignment would: `for PATH in …` decides which programs run. */
  #setInTurn(name: string, list: readonly sh.Word[], directories: Directories): void {
    const read = list.map((word) => this.#word(word));
    const assignments = assignedInTurn(name, read);
    if (assignments.length > 0)
      this.#push({ words: [], assignments, redirections: [], directories, grouped: false });
  }

  /** `${NAME:=value}` assigns like `NAME=value`. */
  #setByExpansion({ parameter, operation: set }: sh.ParameterExpansionPart, at: Directories): void {
    if (set?.type !== 'Default' || !set.operator.endsWith('=')) return;
    // The traversal visits what is nested in the value.
    const assignments = [{ name: parameter, value: this.#word(set.operand, () => {}) }];
    this.#push({ words: [], assignments, redirections: [], directories: at });
  }

  /** Any other structure: its commands are found, their directory is not followed. */
  #inside(node: sh.SyntaxNode, directories?: Directories): undefined {
    const visit = (child: sh.SyntaxNode): void => {
      if (child.type === 'ParameterExpansion') this.#setByExpansion(child, directories);
      if (child.type === 'Script') this.#script(child, directories);
      else if (child.type === 'Statement') this.#statements([child], directories);
      else if (child.type === 'Command') this.#command(child, directories);
      else if (child.type === 'Redirected') {
        this.#push({ words: [], redirections: this.#redirections(child.redirects), directories });
        visit(child.command);
      } else this.#parser.forEachChild(child, visit);
    };
    if (/^(Command|Redirected|ParameterExpansion)$/.test(node.type)) visit(node);
    else this.#parser.forEachChild(node, visit);
    return undefined;
  }

  #command(command: sh.Command, directories: Directories): Directories {
    this.#visited++;
    this.#here = directories;
    const [isPiped, producer] = [this.#piped, this.#producer];
    this.#producer = undefined;
    // Not for words inside substitutions.
    this.#piped = false;
    const given = command.name === undefined ? [] : [...this.#words(command.name)];
    const assignments = command.prefix.flatMap((item) =>
      item.type === 'Assignment' ? [{ name: item.name, value: this.#value(item) }] : [],
    );
    for (const item of command.args) {
      if (item.type === 'Word') given.push(...this.#words(item));
      else {
        const value = this.#value(item);
        given.push({ ...value, value: `${item.name}=${value.value}`, raw: item.text });
      }
    }
    const words = withNumbers(given);
    const redirections = this.#redirections(command.redirects);
    const input = inputOf(command.redirects);
    const raw = this.#source.slice(command.pos, command.end).trim();
    const isFed = isPiped && !redirections.some(({ access }) => access === 'read');
    const feeding = isFed ? { piped: true as const, fedBy: producer } : {};
    this.#push({ words, assignments, redirections, directories, raw, input, ...feeding });
    const { home } = this.#place;
    const after = directoriesAfter(words, directories, { home, assigned: this.#assigned });
    if (after !== directories) this.#moves++;
    return after;
  }

  #push(
    command: Pick<SimpleCommand, 'words' | 'redirections' | 'directories'> & Partial<SimpleCommand>,
  ): void {
    const { budget } = this.#place;
    const { words, redirections, assignments = [] } = command;
    const size = words.length + redirections.length + assignments.length;
    // Operands are compared with options and with each other: that may cost the square of their number.
    budget.spend(STEPS_OF_COMMAND + size ** 2 / 10);
    const inherits = this.#inputs > 0 ? true : undefined;
    const piped = command.piped === true || inherits === true;
    const { views: seen, scripts, suspects, opaque } = disguisesOf(words, { piped, budget });
    this.#opaque ??= opaque ?? localeIn(command);
    this.#opaque ??= evaluatedAssignment(assignments);
    const assigned = codeInAssignments([...assignments, ...seen.flatMap(assignedBy)]);
    const directories = launchedIn(seen, command.directories);
    const inner = [...suspects, ...assigned].flatMap((code) => this.#viewsIn(code, directories));
    const grouped = this.#groups > 0;
    // What `trap` is given runs later, wherever the shell is then.
    const runsLater = seen.some((view) => nameOf(view) === 'trap');
    const given = { assignments: [], raw: '', input: '', grouped, timed: this.#timed };
    const found = { directories, views: [...seen, ...inner], inherits } as const;
    this.#commands.push({ ...given, ...command, ...found });
    for (const script of scripts) this.#code(script, runsLater ? undefined : directories);
  }

  /** Code in a string for another shell. */
  #code(code: string, directories: Directories): void {
    const inner = this.#inner(directories)?.read(code, directories);
    this.#opaque ??= inner === undefined ? 'its code is nested too deeply' : undefined;
    if (inner === undefined) return;
    this.#commands.push(...inner.commands);
    this.#opaque ??= inner.opaque;
    // fail-closed: another shell reads this text as it is.
    if (inner.rendering?.ok === false) {
      this.#opaque ??= `it runs code that ${inner.rendering.refusal.reason}`;
    }
    this.#complex ??= 'it runs code given as text';
  }

  /** What text would run if it were code, for restrictions to look at. */
  #viewsIn(code: string, directories: Directories): readonly (readonly ShellWord[])[] {
    const inner = this.#inner(directories)?.read(code, directories);
    return inner?.commands.flatMap(viewsAndTargets) ?? [];
  }

  /** Reads code within this code: with the variables that are set here, in these directories. */
  #inner(directories: Directories): Reader | undefined {
    const depth = this.#outer.depth + 1;
    if (depth > DEEPEST_SCRIPT) return undefined;
    const isAtHome = directories?.length === 1 && directories[0] === this.#place.cwd;
    const moved = this.#cwd === undefined || !isAtHome;
    return new Reader(this.#parser, this.#place, { depth, assigned: this.#assigned, moved });
  }

  /** Undefined when `$PWD` may be another directory than the first one. */
  get #cwd(): string | undefined {
    // What is run again may run after a change of directory further down.
    const moved = this.#outer.moved || this.#moves > 0 || this.#repeats;
    return moved ? undefined : this.#place.cwd;
  }

  #redirections(list: readonly sh.Redirection[]): readonly ShellRedirection[] {
    return list.map((redirection): ShellRedirection => {
      if (redirection.type === 'HereDoc') {
        for (const part of redirection.body.parts ?? []) this.#nested(part);
        // What the shell expands is not what is read here.
        const isExpanded = redirection.delimiter?.quoted !== true;
        if (isExpanded) this.#complex ??= 'it is given text that the shell expands';
        return { access: 'none' };
      }
      const { target: word } = redirection;
      const words = word === undefined ? [] : this.#words(word);
      const target = word !== undefined && words.length > 1 ? this.#word(word) : words[0];
      if (redirection.type !== 'HereString') return fileRedirection(redirection, target);
      if (target?.literal !== true) this.#complex ??= 'it is given text that is made at run time';
      return { access: 'none' };
    });
  }

  #value({ value }: sh.Assignment): ShellWord {
    if (value.type === 'Word') return this.#word(value);
    for (const element of value.elements) this.#word(element);
    return UNKNOWN_WORD;
  }

  /** Braces make several words of one. */
  #words(word: sh.Word): readonly ShellWord[] {
    return bracedWords(word) ?? [this.#word(word)];
  }

  #word(word: sh.Word, nested = (node: sh.SyntaxNode): void => this.#nested(node)): ShellWord {
    const { home } = this.#place;
    return readWord(word, { home, cwd: this.#cwd, assigned: this.#assigned, nested });
  }

  /** Substitutions inside a word. */
  #nested(node: sh.SyntaxNode): void {
    const here = this.#here;
    this.#inside(node, here);
    this.#here = here;
  }
}
