import { isGiven } from '../shell/effects/options.js';
import { uncoveredOptions } from '../shell/effects/program.js';
import type { ShellWord } from '../shell/model.js';
import { namingOptions } from '../shell/runners/naming-options.js';
import { gitCall, HAZARDOUS_OPTIONS } from './subcommands.js';

/** Options in front of a subcommand that take no value and change nothing. */
const LEADING =
  /^(-P|-h|-v|--(no-pager|no-optional-locks|no-replace-objects|no-lazy-fetch|no-advice|help|version|(literal|glob|noglob|icase)-pathspecs))$/;

/** What follows is run, or the option is. */
const RUNS =
  /^(submodule foreach|bisect (run|replay|view|visualize)|filter-branch (?!(-f|--force|--prune-empty|--all|--)$)-.*)$/s;

/** The words of a git command that a rule for its beginning does not cover. */
export function gitHazards(words: readonly ShellWord[]): readonly string[] {
  const { name, row, leading, rest } = gitCall(words);
  const values = rest.map(({ value }) => value);
  // An alias, or a program of its own.
  const isOther = row.unlisted === true && leading.length + 1 < words.length;
  const found = values.filter(
    (value) =>
      /(^|=)ext::/i.test(value) ||
      RUNS.test(`${name} ${value}`) ||
      isGiven(value, HAZARDOUS_OPTIONS) ||
      (row.startsBy !== undefined && isGiven(value, row.startsBy)),
  );
  const unlisted = row.looks === undefined ? [] : uncoveredOptions(row.looks, rest);
  return [
    // In front of the subcommand an option may take the next word, and change everything.
    ...leading.flatMap(({ value }) => (value.startsWith('-') && !LEADING.test(value) ? value : [])),
    ...(isOther ? [name, ...namingOptions(values)] : []),
    ...found,
    ...unlisted.map(({ value }) => value),
    // A wildcard in front may become the name of a file that is an option.
    ...words.filter(({ pattern }) => /^[*?[]/.test(pattern ?? '')).map(({ raw }) => raw),
  ];
}
