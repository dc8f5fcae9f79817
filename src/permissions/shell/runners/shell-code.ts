import { trimEnd } from '../../../lib/text/trim-end.js';
import { normalise } from '../../../platform/fs/paths.js';
import { gitCall, HAZARDOUS_OPTIONS } from '../../git/subcommands.js';
import { optionTable, parseOptions } from '../effects/options.js';
import { literalWord, nameOf, programOf, type ShellWord, type SimpleCommand } from '../model.js';
import { factsOfName } from '../programs/index.js';

/** Code that a command gives to a shell, as far as it is known. */
export interface GivenCode {
  readonly scripts: readonly string[];
  /** Why it is not known what would run. */
  readonly opaque?: string;
  /** The script and its arguments, where a shell looks it up like a program. */
  readonly lookedUp?: readonly ShellWord[];
}

const NO_CODE: GivenCode = { scripts: [] };
const FROM_INPUT = opaqueCode('a shell reads its commands from its input');
const UNKNOWN_OPTION = opaqueCode('a shell is given options that are not known');
const LATER = opaqueCode('a shell runs a file that is decided at run time');

function opaqueCode(opaque: string): GivenCode {
  return { scripts: [], opaque };
}

/** Shells whose options are those of bash: letters in bundles, `-o name`, `-O name`, `--` at their end. */
const LIKE_BASH = /^(r?bash|d?ash|sh)$/;
/** Long options of bash without a value. */
const LONG =
  'debug|debugger|dump-po-strings|dump-strings|login|noediting|noprofile|norc|posix|pretty-print|restricted|verbose';
const LONG_OPTION = new RegExp(`^--(${LONG})$`);
/** Bash takes its long options with one dash too, where letters would mean something else. */
const LONG_WITH_ONE_DASH = new RegExp(
  `^-(${LONG}|help|init-file|protected|rcfile|version|wordexp)$`,
);

/** What a descriptor is called, from wherever it is named: `/dev/stdin`, `../dev/fd/0`, and `0` in there. */
const NAMES_INPUT = /^\/+(dev|proc)\/|(^|\/)(stdin|\d+)$/;

/** The code that a shell is started with. */
export function codeOfShell(words: readonly ShellWord[]): GivenCode {
  const isLikeBash = LIKE_BASH.test(programOf(words) ?? '');
  let isCode = false;
  let readsInput = false;
  let at = 1;
  for (; at < words.length; at++) {
    const { value, literal, pattern } = words[at] as ShellWord;
    // fail-closed: it may be an option, and what follows it code.
    if (!literal || (pattern !== undefined && /^[-+*?[]/.test(value))) {
      return LATER;
    }
    if (!/^[-+]/.test(value)) break;
    if (value === '--' || value === '-') {
      at++;
      break;
    }
    if (/^--(version|help)$/.test(value) && words.length === 2) return NO_CODE;
    if (isLikeBash && LONG_OPTION.test(value)) continue;
    const letters =
      isLikeBash && LONG_WITH_ONE_DASH.test(value) ? null : /^[-+]([A-Za-z]+)$/.exec(value);
    // fail-closed: what other shells and other options take for a value is not known.
    if (letters === null || !(isLikeBash || /^[-+][cilesxuvfn]+$/.test(value))) {
      return UNKNOWN_OPTION;
    }
    isCode ||= value.includes('c');
    readsInput ||= value.includes('s');
    at += value.replace(/[^oO]/g, '').length;
  }
  const [first] = words.slice(at);
  if (isCode) return codeOf(first === undefined ? [] : [first], { joined: false });
  if (readsInput || first === undefined) return FROM_INPUT;
  if (NAMES_INPUT.test(normalise(first.value))) return FROM_INPUT;
  if (!first.literal) return LATER;
  return first.value.includes('/') ? NO_CODE : { scripts: [], lookedUp: words.slice(at) };
}

/** Words that are code, each by itself or all `joined` to one text. */
export function codeOf(
  words: readonly ShellWord[],
  { joined }: { readonly joined: boolean },
): GivenCode {
  if (words.some((word) => !word.literal || word.pattern !== undefined)) {
    return opaqueCode('code is put together at run time');
  }
  const texts = words.map((word) => word.value);
  return { scripts: joined ? [texts.join(' ')] : texts };
}

/** Commands in a text that something may expand. */
function substitutionsIn(text: string): readonly string[] {
  const found = text.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g);
  return [...found].map(([, bracketed, quoted]) => bracketed ?? quoted ?? '');
}

const NO_OPTIONS = optionTable('');

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
  const { row, rest } = gitCall(words);
  const tables = [HAZARDOUS_OPTIONS, row.startsBy ?? NO_OPTIONS];
  const started = tables.flatMap((table) =>
    parseOptions(rest, table).values.flatMap(({ kind, value }) => (kind === 'shell' ? value : [])),
  );
  return [...stored, ...given, ...aliases, ...started].map((text) => text.replace(/^!/, ''));
}

/** Builtins evaluate the subscript of a name that they are given; some are given code to run later. */
export function builtinCode(program: string, words: readonly ShellWord[]): readonly string[] {
  if (factsOfName(program).names !== true) return [];
  return words.slice(1).flatMap(({ value }, index) => {
    const callback = words[index]?.value === '-C' ? [value] : [];
    const alias = program === 'alias' ? (/=(.*)$/s.exec(value)?.[1] ?? []) : [];
    return [...substitutionsIn(value), ...callback].concat(alias);
  });
}

/** Variables whose value other programs run as a command. */
const HOLDS_COMMAND =
  /PAGER$|EDITOR$|^VISUAL$|COMMAND$|^LESS(OPEN|CLOSE)$|^GIT_(EXTERNAL_DIFF|SSH|PROXY_COMMAND)|ASKPASS$|^BROWSER$|_RSH$|^PS[0-4]$|^SHELL$|^GIT_CONFIG_VALUE_\d+$|^LESSEDIT$|^(CC|CXX|CPP|LD|AR|RUSTC)$|^RUSTC_\w*WRAPPER$|_(RUNNER|LINKER)$|script_shell$/;

/** What assignments in front of a command, or on their own, may make other programs run. */
export function codeInAssignments(list: SimpleCommand['assignments']): readonly string[] {
  return list.flatMap(({ name, value: { value, literal } }) => {
    if (!HOLDS_COMMAND.test(name) || !literal) return [];
    return [trimEnd(value, '|').replace(/^[|!]+/, ''), ...substitutionsIn(value)];
  });
}

/** What a builtin that declares variables assigns to them. */
export function assignedBy(words: readonly ShellWord[]): SimpleCommand['assignments'] {
  const builtin = nameOf(words) ?? '';
  if (builtin === 'printf' && words[1]?.value.startsWith('-v') === true) {
    const isApart = words[1].value === '-v';
    const name = isApart ? (words[2]?.value ?? '') : words[1].value.slice(2);
    // Each of these may be what it becomes.
    return words.slice(isApart ? 3 : 2).map((value) => ({ name, value }));
  }
  if (!/^(export|declare|typeset|readonly|local)$/.test(builtin)) return [];
  return words.slice(1).flatMap((word) => {
    const [, name, value = ''] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word.value) ?? [];
    return name === undefined ? [] : [{ name, value: { ...word, value } }];
  });
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
