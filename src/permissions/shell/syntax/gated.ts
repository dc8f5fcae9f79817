import type { Command, Script, Statement, SyntaxNode, Word } from 'unbash';
import { isLocaleVariable } from '../../../platform/locale.js';
import type { Budget } from '../../gate/budget.js';
import { isEvaluated } from './evaluated-words.js';
import { variablesSetBy } from './set-variables.js';

/** Kinds of syntax in which shells find commands that a parser does not show. */
const OPAQUE: ReadonlyMap<string, string> = new Map([
  ['ArithmeticExpansion', 'arithmetic'],
  ['ArithmeticCommand', 'arithmetic'],
  ['ArithmeticFor', 'arithmetic'],
  ['ArrayValue', 'an array'],
  ['AnsiCQuoted', "a $'…' string"],
  ['LocaleString', 'a $"…" string'],
  ['ExtendedGlob', 'an extended glob'],
  ['Transform', 'a transformation of a variable'],
  ['Unknown', 'an unknown operation on a variable'],
  ['Slice', 'a slice of a variable'],
  ['Names', 'an indirect expansion'],
  ['Coproc', 'a coprocess'],
  ['Select', 'a select loop'],
]);

/** Syntax whose commands are all visible, but whose course is not followed. */
const COMPLEX: ReadonlyMap<string, string> = new Map([
  ['Function', 'a function definition'],
  ['Case', 'a case statement'],
  ['TestCommand', 'a [[ … ]] test'],
]);

const REPEATS = new Set(['For', 'While', 'Select', 'Function', 'ArithmeticFor', 'Coproc']);

interface TreeSurvey {
  readonly opaque?: string;
  readonly complex?: string;
  /** How many simple commands the tree holds, at any depth. */
  readonly commands: number;
  /** Variables that are set somewhere in it. */
  readonly assigned: ReadonlySet<string>;
  /** Whether any of it may run more than once. */
  readonly repeats: boolean;
}

type Walk = (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void;

/** The parser reads a substitution to its end at each level that it is nested in. */
const CHARACTERS_PER_STEP = 5;
/** What words and arrays consist of is walked over several times, and written out and read again. */
const STEPS_OF_PART = 40;

/** Looks at every node once. `forEachChild` is the parser's own traversal, so nothing is left out. */
export function survey(script: Script, forEachChild: Walk, budget: Budget): TreeSurvey {
  let opaque: string | undefined;
  let complex: string | undefined;
  let commands = 0;
  let repeats = false;
  const assigned = new Set<string>();
  const waited = new Set<Statement>();
  const printed = new Set<SyntaxNode>();
  const look = (node: SyntaxNode): void => {
    const type = node.type;
    budget.spend(partsIn(node) * STEPS_OF_PART);
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') {
      budget.spend(node.text.length / CHARACTERS_PER_STEP);
    }
    if (node.type === 'Command') for (const part of printedBy(node)) printed.add(part);
    if (OPAQUE.has(type) && !printed.has(node)) opaque ??= `it uses ${OPAQUE.get(type)}`;
    const evaluated = opaque === undefined ? evaluatedBy(node) : undefined;
    if (evaluated !== undefined) opaque = `it uses ${evaluated}`;
    if (COMPLEX.has(type)) complex ??= `it uses ${COMPLEX.get(type)}`;
    if (node.type === 'Command') {
      commands++;
      if (wordsOf(node).some(isLeftWhole)) opaque ??= 'it has a word that was not taken apart';
    }
    if (REPEATS.has(type)) repeats = true;
    if (node.type === 'Script' && 'errors' in node && (node.errors?.length ?? 0) > 0) {
      opaque ??= 'it is not valid shell syntax';
    }
    for (const name of variablesSetBy(node)) {
      assigned.add(name);
      // fail-closed: assignments are looked at with their value, all else may give it any.
      if (node.type !== 'Assignment' && isLocaleVariable(name)) opaque ??= `it sets ${name}`;
    }
    if (node.type === 'Assignment' && node.index !== undefined) opaque ??= 'it uses an array';
    if (node.type === 'FileDescriptorVariable') complex ??= 'it opens a file by variable';
    if (node.type === 'ParameterExpansion') {
      if (node.index !== undefined) opaque ??= 'it uses an array';
      if (node.prefix === '!') opaque ??= 'it uses an indirect expansion';
      // fail-closed: the parser ends the pattern at the first slash, also at one inside a command.
      if (node.operation?.type === 'Replace' && /`|[$<>]\(/.test(node.text)) {
        opaque ??= 'it uses a command inside a replacement in a variable';
      }
    }
    if (node.type === 'Script' || node.type === 'CompoundList') {
      for (const statement of waitedFor(node.commands)) waited.add(statement);
    }
    if (node.type === 'Statement' && node.background === true && !waited.has(node)) {
      complex ??= 'it runs a command in the background';
    }
    forEachChild(node, look);
  };
  look(script);
  return {
    commands,
    assigned,
    repeats,
    opaque,
    complex,
  };
}

function partsIn(node: SyntaxNode): number {
  if (node.type === 'ArrayValue') return node.elements.length;
  return 'parts' in node ? (node.parts?.length ?? 0) : 0;
}

/**
 * Parts of what `echo` and `printf` print that stand for themselves: sums of numbers, and strings with the
 * escapes that every version of bash reads alike.
 */
function printedBy({ name, suffix }: Command): readonly SyntaxNode[] {
  if (name?.text !== 'echo' && name?.text !== 'printf') return [];
  return suffix
    .flatMap((one) => (one.type === 'Word' ? (one.parts ?? []) : []))
    .flatMap((part): readonly SyntaxNode[] =>
      part.type === 'DoubleQuoted'
        ? part.parts.filter(isSum)
        : isSum(part) || isText(part)
          ? [part]
          : [],
    );
}

function isSum(node: SyntaxNode): boolean {
  return node.type === 'ArithmeticExpansion' && /^\$\(\([\d\s+*/%()-]*\)\)$/.test(node.text);
}

function isText(node: SyntaxNode): boolean {
  return node.type === 'AnsiCQuoted' && /^\$'(?:[^\\']|\\[ntr\\'"])*'$/.test(node.text);
}

function wordsOf({ name, suffix }: Command): readonly Word[] {
  return [...(name === undefined ? [] : [name]), ...suffix.filter((one) => one.type === 'Word')];
}

/** fail-closed: signs of the language that the parser took for text, as in `a[|$(b)]''`, bash takes for what they are. */
function isLeftWhole({ text, parts }: Word): boolean {
  const plain =
    parts === undefined
      ? [text]
      : parts.flatMap((part) => (part.type === 'Literal' || part.type === 'Glob' ? part.text : []));
  return plain.some((one) => /[`'"|&;<>()\s]|\$[({]/.test(one.replace(/\\./gs, '')));
}

/** What runs in the background until a bare `wait`, which comes next: none of it outlives the line. */
function waitedFor(statements: readonly Statement[]): readonly Statement[] {
  const waited: Statement[] = [];
  let isWaited = false;
  for (const statement of [...statements].reverse()) {
    const { background, command } = statement;
    if (background !== true) {
      isWaited =
        command.type === 'Command' &&
        command.name?.text === 'wait' &&
        command.prefix.length + command.suffix.length + command.redirects.length === 0;
    }
    if (isWaited) waited.push(statement);
  }
  return waited;
}

const COUNTING = /^-(eq|ne|lt|le|gt|ge)$/;
/** Numbers, and what can be nothing else. */
const PLAIN_NUMBER = /^"?(-?\d+|\$[#?$!]|\$\{#\w*\})"?$/;
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** What a piece of syntax evaluates besides the commands in it, in words for "it uses …". */
function evaluatedBy(node: SyntaxNode): string | undefined {
  switch (node.type) {
    // fail-closed: both sides are arithmetic, in which `a[$(…)]` runs, also when a variable holds it.
    case 'TestBinary':
      return COUNTING.test(node.operator) && !(isNumber(node.left) && isNumber(node.right))
        ? `arithmetic ([[ … ${node.operator} … ]])`
        : undefined;
    // fail-closed: the subscript of a name is arithmetic too.
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) && !PLAIN_NAME.test(node.operand.text)
        ? `a name that is worked out ([[ ${node.operator} … ]])`
        : undefined;
    case 'FileDescriptorVariable':
      return PLAIN_NAME.test(node.name) ? undefined : 'an array';
    case 'For':
      return isEvaluated(node.name.value) ? `the variable ${node.name.value}` : undefined;
    case 'ParameterExpansion':
      return node.operation?.type === 'Default' &&
        /=$/.test(node.operation.operator) &&
        isEvaluated(node.parameter)
        ? `the variable ${node.parameter}`
        : undefined;
    default:
      return undefined;
  }
}

function isNumber(word: Word): boolean {
  return PLAIN_NUMBER.test(word.text);
}
