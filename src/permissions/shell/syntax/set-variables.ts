import type { Command, SyntaxNode, WordPart } from 'unbash';
import { isLocaleVariable, isPlainLocale } from '../../../platform/locale.js';
import { literalWord, type ShellWord, type SimpleCommand } from '../model.js';
import { isCode, isEvaluated } from './evaluated-words.js';

/** Variables whose value the analysis goes by. */
const FOLLOWED = ['HOME', 'PWD', 'OLDPWD', 'CDPATH', 'IFS', 'PATH'] as const;
/** Builtins that set the variables they name. */
const SETTERS =
  /^(read|mapfile|readarray|getopts|declare|typeset|local|readonly|export|unset|let|wait|printf)$/;
/** Builtins that run text, which may set any. */
const RUNS_TEXT = /^(eval|\.|source|trap|alias|enable)$/;
const NAME = /^[A-Za-z_]\w*/;

/** Variables that a piece of syntax sets besides the commands in it. */
export function variablesSetBy(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'Assignment':
      return [node.name];
    case 'For':
    case 'Select':
      return [node.name.value];
    case 'FileDescriptorVariable':
      return [node.name];
    case 'ParameterExpansion':
      return node.operation?.type === 'Default' && node.operation.operator.endsWith('=')
        ? [node.parameter]
        : [];
    case 'Coproc':
    case 'ArithmeticCommand':
    case 'ArithmeticExpansion':
    case 'ArithmeticFor':
      return FOLLOWED;
    case 'Command':
      return setByBuiltin(node);
    default:
      return [];
  }
}

function setByBuiltin({ name, args }: Command): readonly string[] {
  const words = [name, ...args].flatMap((word) => (word?.type === 'Word' ? [word] : []));
  const at = words.findIndex(({ value }) => !/^(command|builtin|-.*)$/s.test(value));
  const [builtin, ...operands] = words.slice(at);
  if (at === -1 || builtin === undefined) return [];
  if (RUNS_TEXT.test(builtin.value)) return FOLLOWED;
  if (!SETTERS.test(builtin.value)) return [];
  // Without an option in front it only prints.
  if (builtin.value === 'printf' && /^["']?[^-$`"'\\~*?[{]/.test(operands[0]?.text ?? ' '))
    return [];
  return operands.flatMap((word) => {
    if (isStatic(word.parts)) return namesIn(word.value);
    const assigned = /^([A-Za-z_]\w*)\+?=/.exec(word.text)?.[1];
    // fail-closed: a name that is decided at run time may be any.
    return assigned === undefined ? FOLLOWED : [assigned];
  });
}

/** No builtin takes a longer option. */
const LONGEST_OPTION = 200;

/** The name a word begins with; of an option (`-vHOME`) the name behind any of its letters. */
function namesIn(value: string): readonly string[] {
  if (!value.startsWith('-')) return NAME.exec(value) ?? [];
  // fail-closed: the names in it are not looked for, so it may set any, the locale too.
  if (value.length > LONGEST_OPTION) return [...FOLLOWED, 'LC_ALL'];
  return [...value].flatMap((_, from) => NAME.exec(value.slice(from)) ?? []);
}

function isStatic(parts: readonly WordPart[] = []): boolean {
  return parts.every((part) =>
    part.type === 'DoubleQuoted'
      ? isStatic(part.parts)
      : /^(Literal|SingleQuoted)$/.test(part.type),
  );
}

/** The assignments that a loop over these words makes; none where no program goes by the variable. */
export function assignedInTurn(
  name: string,
  words: readonly ShellWord[],
): readonly { readonly name: string; readonly value: ShellWord }[] {
  // No program goes by a variable of one small letter.
  if (/^[a-z]$/.test(name) && !words.some((value) => isCode(name, value))) return [];
  // What it is set to at run time matters only where bash evaluates it.
  const values = words.map((value) =>
    value.literal || isEvaluated(name) ? value : literalWord(''),
  );
  return (values.length === 0 ? [literalWord('')] : values).map((value) => ({ name, value }));
}

/** Why one of these values may be run by the shell itself. */
export function evaluatedAssignment(assignments: SimpleCommand['assignments']): string | undefined {
  // fail-closed: bash runs it when it evaluates the expression, at a place the analysis does not follow.
  const found = assignments.find(({ name, value }) => isCode(name, value));
  return found === undefined ? undefined : `the value of ${found.name} may be run as code`;
}

/** Why a command may make the shell read the next line in other characters than it was judged in. */
export function localeIn({
  words,
  assignments = [],
}: Pick<SimpleCommand, 'words'> & Partial<SimpleCommand>): string | undefined {
  const given = words.flatMap((word) => {
    const [, name, value = ''] = /^([A-Z_]+)\+?=(.*)$/s.exec(word.value) ?? [];
    return name === undefined ? [] : [{ name, value: { ...word, value } }];
  });
  const odd = [...assignments, ...given].find(
    ({ name, value }) =>
      isLocaleVariable(name) && !(value.literal && isPlainLocale(name, value.value)),
  );
  // fail-closed: there bash may find a quote or a backslash inside a character.
  return odd === undefined ? undefined : `it sets ${odd.name} to a locale that is not UTF-8 or C`;
}
