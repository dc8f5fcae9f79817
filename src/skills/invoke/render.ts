import { err, ok, type Result } from '../../lib/result.js';
import { embeddedCommands } from '../../lib/text/embedded-commands.js';

/** What is put into the text of a skill. */
export interface RenderValues {
  /** As typed; empty: none. */
  readonly args: string;
  /** Names of positional arguments: the first is for word 0. */
  readonly names: readonly string[];
  /** By name, `CLAUDE_SKILL_DIR`; what is not among them stays as it is written. */
  readonly variables: ReadonlyMap<string, string>;
}

/** A piece of a skill's text with everything put in. Nothing of it is looked at again. */
export type RenderedPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'command';
      /** What a shell would get. */
      readonly command: string;
      /** With its marks, for where it is not run. */
      readonly written: string;
      /** From 0: its line in the text. */
      readonly line: number;
    };

/** More than anybody reads; arguments may stand in many places. */
export const LONGEST_TEXT = 4 * 1024 * 1024;

/**
 * Puts arguments and variables into the text of a skill. One pass over what the author wrote: what
 * is put in is never searched for further arguments, variables or commands. Arguments that found no
 * place are added at the end.
 */
export function renderSkill(
  source: string,
  values: RenderValues,
): Result<readonly RenderedPart[], string> {
  // As trust has seen it, and as a shell wants it.
  const text = source.replace(/\r\n?/g, '\n');
  const fill = createFilling(values);
  const parts: RenderedPart[] = [];
  let at = 0;
  let line = 0;
  for (const span of findCommands(text)) {
    parts.push({ kind: 'text', text: fill.in(text.slice(at, span.start)) });
    line += countLines(text.slice(at, span.start));
    parts.push(commandPart(text, span, { fill, line }));
    line += countLines(text.slice(span.start, span.end));
    at = span.end;
  }
  parts.push({ kind: 'text', text: fill.in(text.slice(at)) });
  if (values.args.trim() !== '' && !fill.isUsed()) {
    parts.push({ kind: 'text', text: `\n\nARGUMENTS: ${values.args}` });
  }
  if (fill.isTooLong()) {
    return err(`its text with all arguments in it has more than ${LONGEST_TEXT} characters`);
  }
  return ok(parts.filter((part) => part.kind === 'command' || part.text !== ''));
}

/** A file's name with its arguments and variables in it. An argument is one name, whatever it holds. */
export function fillTarget(target: string, values: RenderValues): string {
  return createFilling(values).in(target);
}

interface Filling {
  /** Stops putting things in once it is too long. */
  in(text: string): string;
  /** Whether some argument was put in. */
  isUsed(): boolean;
  isTooLong(): boolean;
}

function commandPart(
  text: string,
  { start, from, to, end }: CommandSpan,
  { fill, line }: { readonly fill: Filling; readonly line: number },
): RenderedPart {
  const command = fill.in(text.slice(from, to));
  const written = `${text.slice(start, from)}${command}${text.slice(to, end)}`;
  return { kind: 'command', command: command.trim(), written, line };
}

/** Longer names are no names that anybody would write. */
const LONGEST_NAME = 64;
const NAME = /^[A-Za-z_][\w-]*$/;
/** A backslash in front takes the meaning of an argument away; one that is escaped itself does not. */
const TOKEN =
  /((?<!\\)\\)?\$(?:\{(CLAUDE_[A-Z_]+)\}|ARGUMENTS\[(\d+)\]|(ARGUMENTS)(?!\w)|(\d+)(?!\w)|([A-Za-z_][\w-]*))/g;

/** The match and its groups, in front of position and text. */
const GROUPS = 7;

function createFilling({ args, names, variables }: RenderValues): Filling {
  const named = new Map(
    names.flatMap((name, index) =>
      NAME.test(name) && name.length <= LONGEST_NAME ? [[name, index] as const] : [],
    ),
  );
  const words = splitArguments(args);
  let used = false;
  let length = 0;
  /** What takes the place of a match. */
  const textFor = (match: readonly (string | undefined)[]): string => {
    const [written = '', slash = '', variable, item, all, word, run = ''] = match;
    if (variable !== undefined) {
      return `${slash}${variables.get(variable) ?? written.slice(slash.length)}`;
    }
    const name = nameIn(run, named);
    if (run !== '' && name === undefined) return written;
    if (slash !== '') return written.slice(slash.length);
    const index = named.get(name ?? '') ?? Number(item ?? word);
    const value = all === undefined ? words[index] : args;
    used ||= value !== undefined && args.trim() !== '';
    return name === undefined ? (value ?? written) : `${value ?? ''}${run.slice(name.length)}`;
  };
  return {
    in(text) {
      length += text.length;
      return text.replace(TOKEN, (...match: readonly string[]) => {
        const value = textFor(match.slice(0, GROUPS));
        length += value.length - (match[0]?.length ?? 0);
        return length > LONGEST_TEXT ? '' : value;
      });
    },
    isUsed: () => used,
    isTooLong: () => length > LONGEST_TEXT,
  };
}

/** The longest name that the text begins with: `$branch-x` is `branch` where there is no `branch-x`. */
function nameIn(run: string, named: ReadonlyMap<string, number>): string | undefined {
  let end = run.length > LONGEST_NAME ? run.lastIndexOf('-', LONGEST_NAME) : run.length;
  for (; end > 0; end = run.lastIndexOf('-', end - 1)) {
    if (named.has(run.slice(0, end))) return run.slice(0, end);
  }
  return undefined;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/**
 * Arguments as words, quoted the way shells do: `fix "the login" it\'s` are three. A backslash stands
 * for itself unless it is in front of a blank, a quote or a backslash. Where a quote is never closed,
 * quotes are plain characters.
 */
export function splitArguments(text: string): readonly string[] {
  return quotedWords(text) ?? text.split(/\s+/).filter((word) => word !== '');
}

const BLANK = /\s/;

function quotedWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  /** Undefined between words; `''` is a word that is empty. */
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && isEscaped(text.charAt(at + 1), quote)) {
      word = `${word ?? ''}${text.charAt(++at)}`;
    } else if (quote !== '') {
      if (char === quote) quote = '';
      else word = `${word ?? ''}${char}`;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (!BLANK.test(char)) {
      word = `${word ?? ''}${char}`;
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
}

function isEscaped(next: string, quote: string): boolean {
  if (quote === "'" || next === '') return false;
  if (quote === '"') return next === '"' || next === '\\';
  return next === '"' || next === "'" || next === '\\' || BLANK.test(next);
}

/** A command that stands in the text of a skill. Positions are those of the text. */
interface CommandSpan {
  /** The whole of it, marks included; the output takes its place. */
  readonly start: number;
  readonly end: number;
  /** The command itself. */
  readonly from: number;
  readonly to: number;
}

/**
 * The commands of a skill's text that are run, in order. Looked for in what the author wrote, before
 * anything is put in, so that no argument can begin, end or be a command.
 */
export function findCommands(text: string): readonly CommandSpan[] {
  return embeddedCommands(text).filter(({ runs }) => runs);
}
