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
  const build = new Builder(context);
  // A home directory is meant only where all up to the slash is without quotes.
  const tilde = !word.text.startsWith('~') ? 'none' : /^~(\/|$)/.test(word.text) ? 'home' : 'other';
  if (word.parts === undefined) build.plain(word.value, { tilde });
  else {
    word.parts.forEach((part, index) => {
      build.part(part, { tilde: index === 0 ? tilde : 'none' });
    });
  }
  const read = build.finish(word.text);
  // Shells do not agree whether `if=~/x` is spelled out.
  return /^[A-Za-z_]\w*=~(\/|$)/.test(word.text) ? { ...read, literal: false } : read;
}

/** What a word begins with: `home` for `~` and `~/…`, `other` for `~user`, `~+` and quotes behind the tilde. */
type Tilde = 'none' | 'home' | 'other';

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

class Builder {
  readonly #context: WordContext;
  #value = '';
  /** Written only once there is a wildcard; until then the value says it all. */
  #pattern: string | undefined;
  #beforePattern: string | undefined;
  #literal = true;

  constructor(context: WordContext) {
    this.#context = context;
  }

  finish(raw: string): ShellWord {
    // A wildcard before an unknown part matches other names, not itself.
    const value = this.#literal ? this.#value : (this.#beforePattern ?? this.#value);
    const known = { value, literal: this.#literal, raw };
    return this.#literal && this.#pattern !== undefined
      ? { ...known, pattern: this.#pattern }
      : known;
  }

  part(part: WordPart, { tilde }: { tilde: Tilde }): void {
    switch (part.type) {
      case 'Literal':
        this.plain(part.value, { tilde });
        return;
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        this.#add(part.value);
        return;
      case 'DoubleQuoted':
        for (const child of part.parts) {
          if (child.type === 'Literal') this.#add(child.value);
          else this.#expansion(child, { quoted: true });
        }
        return;
      case 'Glob':
        if (this.#literal) {
          this.#beforePattern ??= this.#value;
          this.#pattern = (this.#pattern ?? escaped(this.#value)) + part.text;
          this.#value += part.value;
        }
        return;
      default:
        this.#expansion(part, { quoted: false });
    }
  }

  /** Text outside quotes, where a leading tilde means a home directory. */
  plain(text: string, { tilde }: { tilde: Tilde }): void {
    if (tilde === 'none') this.#add(text);
    else if (tilde === 'other') this.#unknown();
    // fail-closed: the command line says itself where the home is.
    else if (this.#context.assigned.has('HOME')) this.#unknown();
    else {
      this.#add(this.#context.home);
      this.#add(text.slice(1));
    }
  }

  #expansion(part: WordPart, { quoted }: { quoted: boolean }): void {
    // Also when the value is known: whoever counts the commands must see this one.
    this.#context.nested(part);
    const value = this.#knownValue(part, { quoted });
    if (value === undefined) this.#unknown();
    else this.#add(value);
  }

  #knownValue(part: WordPart, { quoted }: { quoted: boolean }): string | undefined {
    if (part.type === 'CommandExpansion') return quoted ? constantOutput(part) : undefined;
    const name = variableName(part);
    if (name === undefined) return undefined;
    if (this.#context.assigned.has(name)) return undefined;
    const known =
      name === 'HOME' ? this.#context.home : name === 'PWD' ? this.#context.cwd : undefined;
    if (known === undefined) return undefined;
    // Outside quotes the shell would split and expand it.
    return quoted || /^[\w./@:+-]*$/.test(known) ? known : undefined;
  }

  #add(text: string): void {
    if (!this.#literal) return;
    this.#value += text;
    if (this.#pattern !== undefined) this.#pattern += escaped(text);
  }

  #unknown(): void {
    this.#literal = false;
  }
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
