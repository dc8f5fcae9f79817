import { readOnlyUse } from '../effects/uses.js';
import { spelledOut, takesText } from '../file-commands.js';
import type { ShellWord } from '../model.js';
import { factsOf } from '../programs/index.js';
import { sedUses } from '../sed.js';

/**
 * The names that code of another language mentions, which may be programs that it starts. Nobody here
 * reads those languages, so a name is all there is to go by.
 */
export function namesInForeignCode(words: readonly ShellWord[], input: string): readonly string[] {
  const code = foreignCode(words, input);
  if (code === '') return runBySed(words).flatMap(namesIn);
  return [...new Set([code, code.replace(JOINED, ''), ...runBySed(words)].flatMap(namesIn))];
}

function namesIn(code: string): readonly string[] {
  return code.match(/[A-Za-z_][\w.-]*/g) ?? [];
}

/** Commands in scripts of sed, where no blank needs to stand in front of them. */
export function runBySed(words: readonly ShellWord[]): readonly string[] {
  return sedUses(words).flatMap(({ runs }) => runs);
}

/** Texts in quotes that may be names of files, and the words of those that may be commands. */
export function filesInForeignCode(words: readonly ShellWord[], input: string): readonly string[] {
  const { interprets } = factsOf(words);
  const code = foreignCode(words, input);
  if (interprets === 'transfers') return wordsOf(words, input);
  if (code === '') return filesOfSed(words);
  const quoted = [...quotedIn(code), ...quotedIn(code.replace(JOINED, ''))];
  const found = [
    ...quoted,
    // Perl says with it what the file is opened for.
    ...quoted.flatMap((text) => /^[<>+|]+\s*(.+)$/s.exec(text)?.[1] ?? []),
    ...quoted.flatMap((text) => (/\s/.test(text) ? wordsIn(text) : [])),
    ...(interprets === 'bare' ? wordsIn(code) : []),
    ...filesOfSed(words),
    ...(interprets === 'database' ? filesOfDatabase(code) : []),
  ];
  return [...new Set(found)];
}

/** Texts with wildcards in them, with or without quotes: patterns of files, perhaps. */
export function patternsInForeignCode(
  words: readonly ShellWord[],
  input: string,
): readonly string[] {
  const code = foreignCode(words, input);
  const texts = [code, code.replace(JOINED, '')].flatMap((text) =>
    text
      .split(/[\s"'`;|&<>()=]+/)
      .flatMap((word) => [word, ...word.split(/[,[\]{}]+/), word.replace(/^[^.\w~/*]+/, '')]),
  );
  return [...new Set(texts)].filter((text) => /[*?[{]/.test(text));
}

/** Patterns that code looks files up with, where hidden ones count too: `rglob('x')` of Python. */
export function lookedUpByForeignCode(
  words: readonly ShellWord[],
  input: string,
): readonly string[] {
  const code = foreignCode(words, input);
  if (!/pathlib|rglob|DOTMATCH|\bdot\s*:|include_hidden/.test(code)) return [];
  const calls = code.matchAll(/glob(?:Sync)?\s*\(\s*["'`]([^"'`\n]{1,300})["'`]/g);
  return [...calls].map((found) => found[1] ?? '');
}

function quotedIn(code: string): readonly string[] {
  return [...code.matchAll(/(["'`])([^"'`\n]+)\1/g)].map((found) => found[2] ?? '');
}

/** Between two texts that a language makes one of: `".e" + "nv"`, `".e"."nv"`, `".e" "nv"`. */
const JOINED = /(["'`])\s*(?:(?:\+|\.{1,2}|<>|~|&)\s*)?\1/g;

/** Separated by all that stands between words in shells and languages like them. */
function wordsIn(text: string): readonly string[] {
  return text.split(/[\s"'`;|&<>()[\]{}$!,+]+/).filter((word) => word !== '');
}

/** Commands for a file transfer: `put file`. */
function wordsOf(words: readonly ShellWord[], input: string): readonly string[] {
  const texts = [...words.slice(1).map(({ value }) => value), input.replace(/["']/g, ' ')];
  return [...new Set(texts.flatMap((text) => text.split(/\s+/)))].filter(Boolean);
}

/** Clients of databases have commands of their own that name files without quotes. */
function filesOfDatabase(code: string): readonly string[] {
  const found = code.matchAll(/(?:^|[\s;])[.\\][a-z]+\s+([^\n;]+)/g);
  return [...found].flatMap((one) => (one[1] ?? '').split(/\s+/));
}

/** Files that scripts of sed name without quotes, and the words of commands in them. */
function filesOfSed(words: readonly ShellWord[]): readonly string[] {
  return sedUses(words).flatMap(({ reads, writes, runs }) => [
    ...reads,
    ...writes,
    ...runs.flatMap((run) => wordsIn(run.replaceAll('\\/', '/'))),
  ]);
}

/** Whether it reads code of another language. */
export function isForeign(words: readonly ShellWord[]): boolean {
  const { interprets } = factsOf(words);
  return interprets !== undefined && interprets !== 'transfers';
}

function foreignCode(words: readonly ShellWord[], input: string): string {
  if (!isForeign(words)) return '';
  const texts = words.slice(1).filter((word) => /[\s'"();!|]/.test(word.value));
  return [...texts.map((word) => word.value), input].join('\n').slice(0, LONGEST).trim();
}

const LONGEST = 100_000;

/** No name of a file holds as many signs. */
const MOST_SIGNS = 64;
/** Systems take no longer path. */
const LONGEST_PATH = 4096;
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
  return words
    .slice(1)
    .flatMap(spelledOut)
    .flatMap((value) => {
      if (LEFT_OUT.test(value)) return [];
      // Some programs take quotes off themselves: `curl -F 'f=@"name"'`.
      const bare = value.replace(/["'\\]/g, '');
      const set = /^[A-Z][A-Z0-9_]*=(.*)$/s.exec(value)?.[1];
      return [
        ...attachedIn(value),
        ...(bare === value ? [] : [bare, ...attachedIn(bare)]),
        ...(set === undefined ? [] : namesInValue(set)),
      ];
    });
}

/** What a variable for a program may name: a file, or options of which one does (`-r ./file`). */
export function namesInValue(value: string): readonly string[] {
  return value.split(/\s+/).flatMap((word) => [word, ...attachedIn(word)]);
}

function attachedIn(value: string): readonly string[] {
  const text = value.replace(ADDRESS, '');
  const names: string[] = [];
  if (/^-[^-]/.test(text)) {
    const first = Math.max(2, text.length - LONGEST_PATH);
    for (let at = first; at < text.length; at++) names.push(text.slice(at));
  }
  const signs = [...text.matchAll(/[=@:,;<]/g)].map(({ index }) => index);
  const [first] = signs;
  if (first !== undefined) names.push(text.slice(0, first));
  signs.forEach((at, index) => {
    names.push(text.slice(at + 1, signs[index + 1]));
    if (index >= signs.length - MOST_SIGNS) names.push(text.slice(at + 1));
  });
  // `file://name`: relative for some programs.
  return names
    .flatMap((name) => (name.startsWith('//') ? [name.slice(2), name] : [name]))
    .filter(Boolean);
}
