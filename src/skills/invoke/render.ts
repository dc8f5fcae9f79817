import { err, ok, type Result } from '../../lib/result.js';
import { embeddedCommands } from '../../lib/text/embedded-commands.js';

/** The values for a skill's text. */
export interface RenderValues {
  /** As typed; empty for none. */
  readonly args: string;
  /** Names of positional arguments: the first is for word 0. */
  readonly names: readonly string[];
  /** By name, such as `CLAUDE_SKILL_DIR`; unknown names stay as written. */
  readonly variables: ReadonlyMap<string, string>;
}

/** A rendered part of a skill's text, which is not processed again. */
export type RenderedPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'command';
      readonly command: string;
      /** The command with its markers, shown when it is not run. */
      readonly written: string;
      /** Its line in the text, from 0. */
      readonly line: number;
    };

/** A limit, because arguments may be inserted in many places. */
export const LONGEST_TEXT = 4 * 1024 * 1024;

/**
 * Inserts arguments and variables into a skill's text in one pass over the author's text: inserted values are
 * never searched for further arguments, variables or commands. Arguments without a placeholder are appended.
 */
export function renderSkill(
  source: string,
  values: RenderValues,
): Result<readonly RenderedPart[], string> {
  // The line ends that the check of trust saw and a shell needs.
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

/** Inserts values into a file's name; an argument stays one name, whatever it contains. */
export function fillTarget(target: string, values: RenderValues): string {
  return createFilling(values).in(target);
}

interface Filling {
  /** Stops inserting once the text is too long. */
  in(text: string): string;
  /** Whether an argument was inserted. */
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

const LONGEST_NAME = 64;
const NAME = /^[A-Za-z_][\w-]*$/;
/** A preceding backslash escapes an argument, unless it is escaped itself. */
const TOKEN =
  /((?<!\\)\\)?\$(?:\{(CLAUDE_[A-Z_]+)\}|ARGUMENTS\[(\d+)\]|(ARGUMENTS)(?!\w)|(\d+)(?!\w)|([A-Za-z_][\w-]*))/g;

/** The match and its groups, which precede position and text. */
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

/** The longest known name at the start of the text: `$branch-x` is `branch` when there is no `branch-x`. */
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
 * Splits arguments into words with shell quoting: `fix "the login" it\'s` are three. A backslash is literal
 * unless it precedes a blank, a quote or a backslash. With an unclosed quote, all quotes are literal.
 */
export function splitArguments(text: string): readonly string[] {
  return quotedWords(text) ?? text.split(/\s+/).filter((word) => word !== '');
}

const BLANK = /\s/;

function quotedWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  /** Undefined between words; `''` is an empty word. */
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

/** A command in a skill's text, by positions in the text. */
interface CommandSpan {
  /** Including its markers; the output replaces all of it. */
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The commands of a skill's text that run, in order. Found in the author's text before values are inserted,
 * so that no argument can start, end or be a command.
 */
export function findCommands(text: string): readonly CommandSpan[] {
  return embeddedCommands(text).filter(({ runs }) => runs);
}
