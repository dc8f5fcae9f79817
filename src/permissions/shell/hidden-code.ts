import { trimEnd } from '../../lib/trim-end.js';
import { literalWord, type ShellWord, type SimpleCommand } from './model.js';

/** Settings of git that are commands, given for one call or for good, and options with one attached. */
export function gitCode(words: readonly ShellWord[]): readonly string[] {
  const stored = words[1]?.value === 'config' ? words.slice(3).map((word) => word.value) : [];
  const aliases = words.flatMap(({ value }, at) => {
    const given = /^(?:-c)?alias\.[^=]+(?:=(.+))?$/is.exec(value);
    if (given === null) return [];
    const text = given[1] ?? words[at + 1]?.value ?? '';
    // Without the mark it is a subcommand of git with its arguments.
    return text.startsWith('!') ? [] : [`git ${text}`];
  });
  const given = words.flatMap(
    (word) =>
      /^(?:-c)?[a-z][\w-]*\.[^=]+=(.+)$/is.exec(word.value)?.[1] ??
      /^-[xO](.+)$/s.exec(word.value)?.[1] ??
      // A transport that is a command: in there `% ` is a blank.
      /^ext::(.+)$/is.exec(word.value)?.[1]?.replaceAll('% ', ' ') ??
      [],
  );
  return [...stored, ...given, ...aliases].map((text) => text.replace(/^!/, ''));
}

const KEEPS_NAMES =
  /^(test|\[|printf|read|unset|let|declare|typeset|local|readonly|export|wait|getopts|mapfile|readarray|complete|compgen|alias)$/;

/** Builtins evaluate the subscript of a name that they are given; some are given code to run later. */
export function builtinCode(program: string, words: readonly ShellWord[]): readonly string[] {
  if (!KEEPS_NAMES.test(program)) return [];
  return words.slice(1).flatMap(({ value }, index) => {
    const inner = [...value.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(
      (found) => found[1] ?? found[2] ?? '',
    );
    const isCallback = words[index]?.value === '-C';
    const alias = program === 'alias' ? /=(.*)$/s.exec(value)?.[1] : undefined;
    return [...inner, ...(isCallback ? [value] : []), ...(alias === undefined ? [] : [alias])];
  });
}

/** Variables whose value other programs run as a command. */
const HOLDS_COMMAND =
  /PAGER$|EDITOR$|^VISUAL$|COMMAND$|^LESS(OPEN|CLOSE)$|^GIT_(EXTERNAL_DIFF|SSH|PROXY_COMMAND)|ASKPASS$|^BROWSER$|_RSH$|^PS[0-4]$|^SHELL$|^GIT_CONFIG_VALUE_\d+$|^LESSEDIT$|^(CC|CXX|CPP|LD|AR|RUSTC)$|^RUSTC_\w*WRAPPER$|_(RUNNER|LINKER)$|script_shell$/;

/** What an assignment in front of a command, or on its own, may make other programs run. */
export function codeInAssignment(name: string, value: ShellWord): readonly string[] {
  if (!HOLDS_COMMAND.test(name) || !value.literal) return [];
  const inner = [...value.value.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(
    (found) => found[1] ?? found[2] ?? '',
  );
  return [trimEnd(value.value, '|').replace(/^[|!]+/, ''), ...inner];
}

/** Stands for a redirection where only words are looked at; no program is called so. */
const WRITES_TO = literalWord('>');

/** What a command runs, and what it writes by redirections, as words alone. */
export function viewsAndTargets({
  views,
  redirections,
}: SimpleCommand): readonly (readonly ShellWord[])[] {
  const written = redirections.flatMap(({ access, target }) =>
    access === 'write' && target !== undefined ? [target] : [],
  );
  return [...views, ...written.map((target) => [WRITES_TO, target])];
}
