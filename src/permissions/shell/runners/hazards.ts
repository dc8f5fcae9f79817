import { gitHazards } from '../../git/hazards.js';
import { effectsOfWords } from '../effects/effects.js';
import type { Hazards } from '../effects/facts.js';
import { isGiven } from '../effects/options.js';
import { uncoveredOptions } from '../effects/program.js';
import { literalWord, nameOf, programOf, type ShellWord, type SimpleCommand } from '../model.js';
import { factsOf, modelOf } from '../programs/index.js';
import { assignsByFormat } from '../programs/text.js';
import { isTransparent } from '../programs/wrappers.js';
import { namingOptions } from './naming-options.js';
import { readsCommands } from './runners.js';

interface HazardQuery {
  readonly words: readonly ShellWord[];
  /** More arguments come from the input. */
  readonly fed: boolean;
}

/** The words that a prefix rule does not cover; no rule spells out one with a blank in it. */
export function hazardsIn({ words, fed }: HazardQuery): readonly string[] {
  const name = nameOf(words) ?? '';
  const program = programOf(words) ?? '';
  const { steers, hazards } = factsOf(words);
  if (steers !== undefined) return [steers === 'whole' ? `what ${program} runs` : name];
  // Options that are not understood: what it runs has to be named by the rule.
  if (isTransparent(name)) return runBy(words);
  if (program === 'env') return envHazards(words);
  if (/^(g?sed|[gmn]?awk)$/.test(program)) {
    // Whatever comes out of the input may be the script.
    return fed ? ['xargs'] : codeHazards([literalWord(program), ...words.slice(1)]);
  }
  const whole = onlyAsWhole(words) ?? variableOption(name, words);
  if (whole !== undefined) return [whole];
  const module = /^python[\d.]*$/.test(program)
    ? words.findIndex(({ value }) => value === '-m')
    : -1;
  if (module !== -1) {
    // `python -m pytest -p x` is `pytest -p x`.
    const leading = hazards === undefined ? [] : listedIn(hazards, words.slice(0, module));
    return [...leading, ...hazardsIn({ words: words.slice(module + 1), fed })];
  }
  if (program === 'git') return [...(fed ? ['xargs'] : []), ...gitHazards(words)];
  return [
    // Whatever comes out of the input may be an option of any program.
    ...(fed && !isPlain(words) ? ['xargs'] : []),
    ...uncoveredIn(words),
    ...namedIn(words),
    ...codeFor(words),
    ...(hazards === undefined ? [] : listedIn(hazards, words)),
  ];
}

/** Why a prefix rule does not cover what a program reads from its input. */
export function inputHazard(
  words: readonly ShellWord[],
  { input, piped, inherits, redirections }: SimpleCommand,
): readonly string[] {
  const isFile = redirections.some(({ access }) => access === 'read');
  const isUnknown = piped === true || inherits === true || isFile;
  if ((!isUnknown && input === '') || !readsCommands(words)) return [];
  // fail-closed: what it reads may run any program.
  const { reaching } = factsOf(words).runsInput ?? {};
  // A here-string stands in the quotes of the shell.
  const texts = [input, input.replace(/["'\\]/g, '')];
  const isHarmless =
    !isUnknown && reaching !== undefined && !texts.some((text) => reaching.test(text));
  return isHarmless ? [] : [`what ${programOf(words)} reads`];
}

/** Options that tell by their names what they do, where no row lists all of them. */
function namedIn(words: readonly ShellWord[]): readonly string[] {
  const row = modelOf(programOf(words));
  const isListed = row !== undefined && row.partial !== true && row.restrictsOnly !== true;
  if (isListed && row.custom === undefined) return [];
  return namingOptions(words.slice(1).map(({ value }) => value));
}

/** Options that are not known, and code that does more than print: files, pipes, commands or further source files. */
function codeHazards(words: readonly ShellWord[]): readonly string[] {
  return effectsOfWords(words).flatMap((effect) =>
    effect.kind === 'unknown' && /^(option|script)$/.test(effect.why)
      ? (effect.word?.value ?? [])
      : [],
  );
}

function listedIn(
  { options, words: pattern, also, inner }: Hazards,
  words: readonly ShellWord[],
): readonly string[] {
  const rest = words.slice(1).map(({ value }) => value);
  const end = inner === true ? rest.findIndex((value) => !value.startsWith('-')) : -1;
  const own = end === -1 ? rest : rest.slice(0, end + 1);
  const isListed = (value: string): boolean =>
    pattern?.test(value) === true || isGiven(value, options);
  const found = own.filter(
    (value, at) => [value, dashed(value)].some(isListed) || also?.(value, at, rest) === true,
  );
  const run = end === -1 ? [] : hazardsIn({ words: words.slice(end + 1), fed: false });
  return [...wildIn(words), ...found, ...run];
}

/** Some programs take a name with underscores for the one with dashes. */
function dashed(value: string): string {
  return value.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-'));
}

/** Code in an argument of a database's program reaches as far as code that it reads. */
function codeFor(words: readonly ShellWord[]): readonly string[] {
  const { interprets, runsInput } = factsOf(words);
  if (interprets !== 'database') return [];
  return words
    .slice(1)
    .map(({ value }) => value)
    .filter((value) => runsInput?.reaching?.test(value.replace(/^\.{0,2}\//, '')) === true);
}

/** A wildcard in front may become the name of a file that is an option. */
export function wildIn(words: readonly ShellWord[]): readonly string[] {
  return words.filter(({ pattern }) => /^[*?[]/.test(pattern ?? '')).map(({ raw }) => raw);
}

/** By the row of the program: what is not listed may do anything. */
function uncoveredIn(words: readonly ShellWord[]): readonly string[] {
  const row = modelOf(programOf(words));
  if (row === undefined) return [];
  const rest = words.slice(1);
  const isOpen = row.plain !== true && row.custom === undefined && row.operands !== 'text';
  const options = uncoveredOptions(row, rest).map(({ value }) => value);
  return [...options, ...(isOpen ? wildIn(rest) : [])];
}

/** Programs of which no option starts another: what the input may hold is no worse than what the rule opens. */
function isPlain(words: readonly ShellWord[]): boolean {
  if (factsOf(words).hazards !== undefined) return false;
  const program = programOf(words) ?? '';
  const row = modelOf(program);
  const takesText = row?.operands === 'text' && row.custom === undefined;
  return row?.plain === true || takesText || PLAIN.test(program);
}

const PLAIN = /^(mkdir|touch|rm|rmdir|mv|cp|chmod|kill|echo)$/;

function onlyAsWhole(words: readonly ShellWord[]): string | undefined {
  const text = words.slice(1).map(({ value }) => value);
  const found = factsOf(words).wholeOnly?.test(text.join(' ')) === true;
  return found ? `${programOf(words)} ${text[0]}` : undefined;
}

function runBy(words: readonly ShellWord[]): readonly string[] {
  const run = words.slice(1).find(({ value }) => !/^-|^[\d.]+[a-z]?$/.test(value));
  return run === undefined ? [] : [run.value];
}

/** Its options, the variables it sets, and what it runs. */
function envHazards(words: readonly ShellWord[]): readonly string[] {
  const rest = words.slice(1).map(({ value }) => value);
  const end = rest.findIndex((value) => !/^-|=/.test(value));
  return end === -1 ? rest : rest.slice(0, end + 1);
}

/** By which a builtin sets a variable, or looks one up. */
function variableOption(name: string, words: readonly ShellWord[]): string | undefined {
  if (!/^(test|\[|printf)$/.test(name)) return undefined;
  return words
    .slice(1)
    .map(({ value }) => value)
    .find((value) => /^-[vR]/.test(value) || (name === 'printf' && assignsByFormat(value)));
}
