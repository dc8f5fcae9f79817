import { normalise } from '../../platform/fs/paths.js';
import { programOf, type ShellWord } from './model.js';

/** Code that a command gives to a shell, as far as it is known. */
export interface GivenCode {
  readonly scripts: readonly string[];
  /** Why it is not known what would run. */
  readonly opaque?: string;
}

const NO_CODE: GivenCode = { scripts: [] };
const FROM_INPUT: GivenCode = {
  scripts: [],
  opaque: 'a shell reads its commands from its input',
};
const UNKNOWN_OPTION: GivenCode = {
  scripts: [],
  opaque: 'a shell is given options that are not known',
};

/** Shells whose options are those of bash: letters in bundles, `-o name`, `-O name`, `--` at their end. */
const LIKE_BASH = /^(r?bash|d?ash|sh)$/;
/** Long options of bash without a value. */
const LONG =
  /^--(debug|debugger|dump-po-strings|dump-strings|login|noediting|noprofile|norc|posix|pretty-print|restricted|verbose)$/;
/** Bash takes its long options with one dash too, where letters would mean something else. */
const LONG_WITH_ONE_DASH =
  /^-(debug|debugger|dump-po-strings|dump-strings|help|init-file|login|noediting|noprofile|norc|posix|pretty-print|protected|rcfile|restricted|verbose|version|wordexp)$/;

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
      return { scripts: [], opaque: 'a shell runs a file that is decided at run time' };
    }
    if (!/^[-+]/.test(value)) break;
    if (value === '--' || value === '-') {
      at++;
      break;
    }
    if (/^--(version|help)$/.test(value) && words.length === 2) return NO_CODE;
    if (isLikeBash && LONG.test(value)) continue;
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
  return first.literal
    ? NO_CODE
    : { scripts: [], opaque: 'a shell runs a file that is decided at run time' };
}

/** Words that are code, each by itself or all `joined` to one text. */
export function codeOf(
  words: readonly ShellWord[],
  { joined }: { readonly joined: boolean },
): GivenCode {
  if (words.some((word) => !word.literal || word.pattern !== undefined)) {
    return { scripts: [], opaque: 'code is put together at run time' };
  }
  const texts = words.map((word) => word.value);
  return { scripts: joined ? [texts.join(' ')] : texts };
}
