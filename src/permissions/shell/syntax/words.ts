import type {
  CommandExpansionPart,
  Redirect,
  Redirection,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash';
import { nameOf, type ShellRedirection, type ShellWord } from '../model.js';

interface WordContext {
  readonly home: string;
  /** Undefined once the command line may have changed it. */
  readonly cwd: string | undefined;
  /** Variables that the command line itself sets; their values are not known. */
  readonly assigned: ReadonlySet<string>;
  /** Called for everything inside a word that may hold commands. */
  nested(node: SyntaxNode): void;
}

/** What a word will be, as far as that is certain. */
export function readWord(word: Word, context: WordContext): ShellWord {
  const { text: raw } = word;
  let value = '';
  let literal = true;
  /** Written only once there is a wildcard; until then the value says it all. */
  let pattern: string | undefined;
  let beforePattern: string | undefined;
  const add = (text: string | undefined): void => {
    if (text === undefined) literal = false;
    if (!literal) return;
    value += text;
    if (pattern !== undefined) pattern += escaped(text ?? '');
  };
  const expand = (part: WordPart, quoted: boolean): void => {
    // Also when the value is known: the count of commands must include this one.
    context.nested(part);
    add(knownValue(part, context, quoted));
  };
  const parts = word.parts ?? [{ type: 'Literal' as const, value: word.value }];
  parts.forEach((part, index) => {
    switch (part.type) {
      case 'Literal':
        add(index === 0 && raw.startsWith('~') ? withHome(part.value, raw, context) : part.value);
        break;
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        add(part.value);
        break;
      case 'DoubleQuoted':
        for (const child of part.parts) {
          if (child.type === 'Literal') add(child.value);
          else expand(child, true);
        }
        break;
      case 'Glob':
        if (!literal) break;
        beforePattern ??= value;
        pattern = (pattern ?? escaped(value)) + part.text;
        value += part.value;
        break;
      default:
        expand(part, false);
    }
  });
  // Shells do not agree whether `if=~/x` and `if=a:~+/x` are spelled out.
  if (/^[A-Za-z_]\w*\+?=(.*:)?~/s.test(raw)) literal = false;
  if (literal)
    return pattern === undefined ? { value, literal, raw } : { value, literal, raw, pattern };
  // A wildcard before an unknown part matches other names, not itself.
  return { value: beforePattern ?? value, literal, raw };
}

/** Text behind a tilde without quotes. */
function withHome(text: string, raw: string, { home, assigned }: WordContext): string | undefined {
  // fail-closed: `~user`, `~+`, quotes behind the tilde, and where the command line says itself where the home is.
  return /^~(\/|$)/.test(raw) && !assigned.has('HOME') ? home + text.slice(1) : undefined;
}

function knownValue(part: WordPart, context: WordContext, quoted: boolean): string | undefined {
  if (part.type === 'CommandExpansion') return quoted ? constantOutput(part) : undefined;
  const name = variableName(part) ?? '';
  if (context.assigned.has(name)) return undefined;
  const known = name === 'HOME' ? context.home : name === 'PWD' ? context.cwd : undefined;
  // Outside quotes the shell would split and expand it.
  return quoted || /^[\w./@:+-]*$/.test(known ?? '') ? known : undefined;
}

/** Builtins to which a number is neither a file nor an option. */
const TAKES_NUMBERS = /^(echo|printf|test|\[|exit|return|sleep|seq)$/;
const NUMBER = /\$(?:[?#$]|\{[?#$]\}|\(\([\d\s+*/%()-]*\)\))/g;

/** `$?`, `$#` and `$$` are numbers, whichever: known well enough for `exit $?` and `echo "exit: $?"`. */
export function withNumbers(words: readonly ShellWord[]): readonly ShellWord[] {
  const name = nameOf(words) ?? '';
  if (!TAKES_NUMBERS.test(name)) return words;
  const isPrinted = name === 'echo' || name === 'printf';
  return words.map((word) => {
    const rest = word.raw.replace(NUMBER, '');
    const isNumber = isPrinted ? /^"?[\w\s:;.,=()/+-]*"?$/.test(rest) : /^"?"?$/.test(rest);
    if (word.literal || !isNumber || /^-/.test(word.value)) return word;
    return {
      value: word.raw.replace(NUMBER, '0').replaceAll('"', ''),
      literal: true,
      raw: word.raw,
    };
  });
}

/** So that it stands for itself in a pattern. */
function escaped(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

function variableName(part: WordPart): string | undefined {
  if (part.type === 'SimpleExpansion') return part.text.slice(1);
  if (part.type !== 'ParameterExpansion') return undefined;
  const plain =
    part.prefix === undefined && part.index === undefined && part.operation === undefined;
  return plain ? part.parameter : undefined;
}

/** `"$(cat <<'EOF' … EOF)"` is the usual way to write a long argument: its text is known. */
function constantOutput(part: CommandExpansionPart): string | undefined {
  const script = part.script;
  if (script === undefined || script.errors !== undefined || script.commands.length !== 1) {
    return undefined;
  }
  const [statement] = script.commands;
  const command = statement?.command;
  if (statement?.background === true || command?.type !== 'Command') return undefined;
  const [only] = command.suffix;
  const isBareCat =
    command.name?.text === 'cat' && command.prefix.length === 0 && command.suffix.length === 1;
  if (!isBareCat || only?.type !== 'HereDoc' || only.operator !== '<<') return undefined;
  const isText = only.delimiter?.quoted === true && only.closing !== undefined;
  return isText ? only.body.text.replace(/\n+$/, '') : undefined;
}

/** Text that the command line itself gives to a command. */
export function inputOf(redirections: readonly Redirection[]): string {
  return redirections
    .map((one) => {
      if (one.type === 'HereDoc') return one.body.text;
      return one.type === 'HereString' ? (one.target?.text ?? '') : '';
    })
    .join('\n');
}

/** Whether it gives a structure something to read. */
export function isInput(one: Redirection): boolean {
  return one.type !== 'Redirect' || one.operator.startsWith('<');
}

/** What a redirection to or from a file does. */
export function fileRedirection(
  { operator }: Redirect,
  target: ShellWord | undefined,
): ShellRedirection {
  // fail-closed: a redirection without a visible target leads anywhere.
  if (target === undefined) {
    return { access: 'write', target: { value: '', literal: false, raw: '' } };
  }
  const copies = /^[<>]&$/.test(operator) && target.literal && /^(\d+-?|-)$/.test(target.value);
  if (copies) return { access: 'none' };
  return { access: operator === '<' ? 'read' : 'write', target };
}
