import { nameOf, programOf, type ShellReading, type SimpleCommand } from './shell/model.js';

/**
 * The names that a command gets from the one in front of it; empty: names of what lies in directories
 * that the line itself names, which are judged there. Undefined: they may be any.
 */
export function fedNames(
  command: SimpleCommand,
  { commands }: Pick<ShellReading, 'commands'>,
): readonly string[] | undefined {
  const values = command.words.map(({ value }) => value);
  if (WALKS.test(programOf(command.words) ?? '')) {
    return values.some((value) => /^-files0-from/.test(value)) ? undefined : [];
  }
  // fail-closed: then they come out of a file.
  if (values.some((value) => /^(-[a-zA-Z0-9]*a|--arg)/.test(value))) return undefined;
  let at = commands.indexOf(command);
  // fail-closed: of what a substitution adds nobody knows whose input it is.
  while (at > 0 && commands[at]?.piped === true && isPlain(commands[at])) at--;
  const first = commands[at];
  const between = commands.slice(at + 1, commands.indexOf(command));
  if (first === undefined || first === command || first.piped === true || !isPlain(first)) {
    return undefined;
  }
  if (!between.every(passesOn)) return undefined;
  if (nameOf(first.words) === 'echo') {
    return first.words.slice(1).flatMap(({ value }) => value.split(/\s+/));
  }
  return listsNames(first) ? [] : undefined;
}

function isPlain(command: SimpleCommand | undefined): boolean {
  return (
    command?.words.every(({ literal }) => literal) === true &&
    command.redirections.every(
      ({ access, target }) => access !== 'read' && target?.literal !== false,
    )
  );
}

const WALKS = /^(find|fd|fdfind)$/;

/** Programs that print names of what they go through, and nothing else. */
function listsNames({ words }: SimpleCommand): boolean {
  const [, ...rest] = words.map(({ value }) => value);
  const has = (option: RegExp): boolean => rest.some((value) => option.test(value));
  switch (programOf(words)) {
    case 'find':
      return !has(/^-(f?printf|fprint0?|f?ls|exec|execdir|ok|okdir|files0-from)$/);
    case 'fd':
    case 'fdfind':
      return !has(/^(-[a-zA-Z]*[xX]|--exec|--exec-batch|--format)/);
    case 'ls':
      // A long list tells where links lead, too.
      return !has(/^-[a-zA-Z]*[lgno]|^--(format|full-time|numeric|hyperlink|zero)/);
    case 'git':
      return rest[0] === 'ls-files' && !has(/^--format/);
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return has(/^-[a-zA-Z]*l|^--files-with-matches$/) && !has(/^--label/);
    case 'rg':
      return (
        has(/^(-[a-zA-Z]*l|--files|--files-with-matches)$/) &&
        !has(/^(-r|--replace|--path-separator)/)
      );
    default:
      return false;
  }
}

/** Leaves lines of its input out or puts them in order, and changes none. */
function passesOn({ words }: SimpleCommand): boolean {
  const rest = words.slice(1).map(({ value }) => value);
  const isNumber = (value: string, at: number): boolean =>
    /^\+?\d+$/.test(value) && /^-[nkmABC]$/.test(rest[at - 1] ?? '');
  // What stands by itself is a file, which is read in place of the input.
  const operands = rest.filter((value, at) => !value.startsWith('-') && !isNumber(value, at));
  const options = rest.filter((value) => value.startsWith('-'));
  switch (programOf(words)) {
    case 'head':
    case 'tail':
    case 'sort':
    case 'uniq':
      return (
        operands.length === 0 && options.every((value) => /^-[abdfhiknqruVv]*\d*$/.test(value))
      );
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return operands.length === 1 && options.every((value) => /^-[EFGPivwxABCm]+\d*$/.test(value));
    default:
      return false;
  }
}
