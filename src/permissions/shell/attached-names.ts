import { readOnlyUse } from './effects/uses.js';
import { takesText } from './file-commands.js';
import type { ShellWord } from './model.js';

/** No bundle of options is longer, and no name of a file holds as many signs. */
const MOST = 64;
/** Addresses of other machines are no files. */
const ADDRESS =
  /\b(?:https?|wss?|s?ftps?|ssh|git|s3|gs|redis|postgres(?:ql)?|mysql|mongodb|amqp|tcp|udp|oci):\/\/[^,\s]*/gi;
/** Options that exclude files. */
const LEFT_OUT = /^--?(exclude|ignore|skip)/;

/**
 * What words may name before or behind a sign, or behind the letter of an option, in the grammar of whichever program. Only
 * for doubts: of most words it is no file.
 */
export function attachedNames(words: readonly ShellWord[]): readonly string[] {
  if (takesText(words) || readOnlyUse(words) !== undefined) return [];
  return words.slice(1).flatMap(({ value }) => (LEFT_OUT.test(value) ? [] : namesIn(value)));
}

function namesIn(value: string): readonly string[] {
  const text = value.replace(ADDRESS, '');
  const names: string[] = [];
  if (/^-[a-zA-Z]/.test(text)) {
    for (let at = 2; at < 2 + MOST && at < text.length; at++) names.push(text.slice(at));
  }
  const signs = [...text.matchAll(/[=@:,;]/g)].map(({ index }) => index);
  const [first] = signs;
  if (first !== undefined) names.push(text.slice(0, first));
  signs.forEach((at, index) => {
    names.push(text.slice(at + 1, signs[index + 1]));
    if (index >= signs.length - MOST) names.push(text.slice(at + 1));
  });
  // `file://name`: relative for some programs.
  return names
    .flatMap((name) => (name.startsWith('//') ? [name.slice(2), name] : [name]))
    .filter(Boolean);
}
