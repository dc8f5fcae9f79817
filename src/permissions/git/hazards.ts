import { isGiven, optionTable } from '../shell/effects/options.js';
import { uncoveredOptions } from '../shell/effects/program.js';
import type { ShellWord } from '../shell/model.js';
import { namingOptions } from '../shell/runners/naming-options.js';
import { gitCall } from './subcommands.js';

/** Options with which git runs a program, writes a file or leaves its place; their abbreviations count too. */
const OPTIONS =
  optionTable(`config-env exec-path git-dir work-tree namespace output ext-diff textconv
  open-files-in-pager upload-pack receive-pack exec template no-index contents paginate sendmail-cmd extcmd
  to-cmd cc-cmd header-cmd smtp-server strategy tree-filter index-filter msg-filter env-filter
  commit-filter parent-filter
      unsafe-paths expire-to filter-to object-dir export-marks`);

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
      isGiven(value, OPTIONS) ||
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
