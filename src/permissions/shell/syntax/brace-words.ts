import type { BraceExpansionPart, Word, WordPart } from 'unbash';
import type { ShellWord } from '../model.js';

const MOST_WORDS = 64;
/** Text in braces in which no character but those of braces means anything. */
const SAFE = /^[\w.,:/@%+={}-]*$/;
/** Quoted characters are kept apart from the signs of braces by this distance. */
const QUOTED = 0xe000;

/** The words that the shell makes of one with braces; undefined where other syntax in it, or their number, leaves that open. */
export function bracedWords({ text: raw, parts = [] }: Word): readonly ShellWord[] | undefined {
  if (!parts.some(({ type }) => type === 'BraceExpansion')) return undefined;
  let texts: readonly string[] = [''];
  for (const part of parts) {
    const made = part.type === 'BraceExpansion' ? alternativesOf(part) : plainText(part);
    if (made === undefined) return undefined;
    texts = texts.flatMap((text) => [made].flat().map((one) => text + one));
    if (texts.length > MOST_WORDS) return undefined;
  }
  // An empty word vanishes, and a tilde in front may mean a directory.
  if (texts.some((text) => text === '' || /(^|[=:])~/.test(text))) return undefined;
  return texts.map((value) => ({ value, literal: true, raw, braced: true }));
}

function plainText(part: WordPart): string | undefined {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return part.value;
    case 'DoubleQuoted':
      return part.parts.every((child) => child.type === 'Literal')
        ? part.parts.map((child) => (child.type === 'Literal' ? child.value : '')).join('')
        : undefined;
    default:
      return undefined;
  }
}

function alternativesOf({ text, parts }: BraceExpansionPart): readonly string[] | undefined {
  const inner = parts === undefined ? text : innerText(parts);
  if (inner === undefined || (parts === undefined && !SAFE.test(inner))) return undefined;
  const found = expand(parts === undefined ? inner : `{${inner}}`);
  return found?.map((one) =>
    one.replace(/[\ue000-\uefff]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - QUOTED)),
  );
}

function innerText(parts: readonly WordPart[]): string | undefined {
  const texts = parts.map((part) => {
    if (part.type === 'Literal' && SAFE.test(part.text)) return part.text;
    const value = part.type === 'Literal' ? undefined : plainText(part);
    return value === undefined || /[^\0-\u0fff]/.test(value)
      ? undefined
      : value.replace(/[\s\S]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + QUOTED));
  });
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** Undefined where there are too many, or a range that is not one of numbers or letters. */
function expand(text: string): readonly string[] | undefined {
  const open = text.indexOf('{');
  if (open === -1) return [text];
  let depth = 0;
  const commas: number[] = [];
  let close = -1;
  for (let at = open; at < text.length && close === -1; at++) {
    const sign = text.charAt(at);
    if (sign === '{') depth++;
    else if (sign === ',' && depth === 1) commas.push(at);
    else if (sign === '}' && --depth === 0) close = at;
  }
  // fail-closed: braces without a partner, or with one text in them, are left to the shell.
  if (close === -1) return undefined;
  const bounds = [open, ...commas, close];
  const pieces = bounds.slice(1).map((end, index) => text.slice((bounds[index] ?? 0) + 1, end));
  const made =
    commas.length > 0 ? joined(pieces.map(expand)) : rangeOf(text.slice(open + 1, close));
  const tails = expand(text.slice(close + 1));
  if (made === undefined || tails === undefined || made.length * tails.length > MOST_WORDS) {
    return undefined;
  }
  const head = text.slice(0, open);
  return made.flatMap((one) => tails.map((tail) => head + one + tail));
}

function joined(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** `1..5` and `a..e`; with leading zeros or steps it is left to the shell. */
function rangeOf(text: string): readonly string[] | undefined {
  const [, first = '', last = ''] =
    /^(0|-?[1-9]\d{0,8})\.\.(0|-?[1-9]\d{0,8})$/.exec(text) ??
    /^([a-z])\.\.([a-z])$/.exec(text) ??
    /^([A-Z])\.\.([A-Z])$/.exec(text) ??
    [];
  if (first === '') return undefined;
  const isNumber = /\d/.test(first);
  const code = (sign: string): number => (isNumber ? Number(sign) : sign.charCodeAt(0));
  const [from, to] = [code(first), code(last)];
  const size = Math.abs(to - from) + 1;
  if (size > MOST_WORDS) return undefined;
  return Array.from({ length: size }, (_, index) => {
    const value = from + Math.sign(to - from) * index;
    return isNumber ? `${value}` : String.fromCharCode(value);
  });
}
