import { programOf, type ShellWord } from './model.js';

/** Programs that read code of another language, in their arguments or from their input. */
const INTERPRETERS =
  /^(i?python[\d.]*|pypy3?|perl|ruby|irb|node|deno|bun|php|lua\w*|[gmn]?awk|g?sed|vim?|n?vim|ex|ed|emacs|osascript|expect|tclsh\d*|wish|gdb|lldb|sqlite3|psql|mysql|mariadb|jshell|Rscript|R|julia|elixir|iex|erl|scala|groovy|ghci?|ocaml|make|gmake|at|batch|crontab|newgrp|less|man|zsh|fish|screen|tmux|m4|dc|bc|gnuplot|octave|guile|racket|sbcl|p?rename|file-rename|mailx?|mongosh?|redis-cli|ts-node|tsx|nodejs|raku|crystal|nim)$/;

/**
 * The names that code of another language mentions, which may be programs that it starts. Nobody here
 * reads those languages, so a name is all there is to go by.
 */
export function namesInForeignCode(words: readonly ShellWord[], input: string): readonly string[] {
  const code = foreignCode(words, input);
  return code === '' ? [] : [...new Set(code.match(/[A-Za-z_][\w.-]*/g) ?? [])];
}

/** Texts in quotes that may be names of files. */
export function filesInForeignCode(words: readonly ShellWord[], input: string): readonly string[] {
  const code = foreignCode(words, input);
  if (/^([st]?ftp|lftp|smbclient)$/.test(programOf(words) ?? '')) return wordsOf(words, input);
  if (code === '') return filesOfSed(words);
  const quoted = [...code.matchAll(/(["'`])([^"'`\n]{1,300})\1/g)].map((found) => found[2] ?? '');
  return [...new Set([...quoted, ...filesOfSed(words), ...filesOfDatabase(words, code)])].slice(
    0,
    MOST_FILES,
  );
}

/** Commands for a file transfer: `put file`. */
function wordsOf(words: readonly ShellWord[], input: string): readonly string[] {
  const texts = [...words.slice(1).map(({ value }) => value), input.replace(/["']/g, ' ')];
  return [...new Set(texts.flatMap((text) => text.split(/\s+/)))]
    .filter(Boolean)
    .slice(0, MOST_FILES);
}

/** Clients of databases have commands of their own that name files without quotes. */
function filesOfDatabase(words: readonly ShellWord[], code: string): readonly string[] {
  if (!/^(sqlite3|psql|mysql|mariadb)$/.test(programOf(words) ?? '')) return [];
  const found = code.matchAll(/(?:^|[\s;])[.\\][a-z]+\s+([^\n;]+)/g);
  return [...found].flatMap((one) => (one[1] ?? '').split(/\s+/));
}

/** The commands `r`, `R`, `w` and `W` of sed name files without quotes. */
function filesOfSed(words: readonly ShellWord[]): readonly string[] {
  if (!/^g?sed$/.test(programOf(words) ?? '')) return [];
  return words
    .slice(1)
    .flatMap(({ value }) => [...value.matchAll(/[rRwW]\s*([^\s;}]+)/g)])
    .map((found) => found[1] ?? '');
}

function foreignCode(words: readonly ShellWord[], input: string): string {
  if (!INTERPRETERS.test(programOf(words) ?? '')) return '';
  const texts = words.slice(1).filter((word) => /[\s'"();!|]/.test(word.value));
  return [...texts.map((word) => word.value), input].join('\n').slice(0, LONGEST).trim();
}

const LONGEST = 100_000;
const MOST_FILES = 200;
