import { splitArguments } from './render-arguments.js';
import { type CommandSpan, findCommands } from './shell-commands.js';

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

/**
 * Puts arguments and variables into the text of a skill. One pass over what the author wrote: what
 * is put in is never searched for further arguments, variables or commands. Arguments that found no
 * place are added at the end.
 */
export function renderSkill(text: string, values: RenderValues): readonly RenderedPart[] {
  const fill = createFilling(values);
  const parts: RenderedPart[] = [];
  let at = 0;
  let line = 0;
  for (const span of findCommands(text)) {
    parts.push({ kind: 'text', text: fill.in(text.slice(at, span.start)) });
    line += countLines(text.slice(at, span.from));
    parts.push(commandPart(text, span, { fill, line }));
    line += countLines(text.slice(span.from, span.end));
    at = span.end;
  }
  parts.push({ kind: 'text', text: fill.in(text.slice(at)) });
  if (values.args.trim() !== '' && !fill.used()) {
    parts.push({ kind: 'text', text: `\n\nARGUMENTS: ${values.args}` });
  }
  return parts.filter((part) => part.kind === 'command' || part.text !== '');
}

interface Filling {
  in(text: string): string;
  /** Whether some argument was put in. */
  used(): boolean;
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
const TOKEN =
  /\$(?:\{(CLAUDE_[A-Z_]+)\}|ARGUMENTS\[(\d+)\]|(ARGUMENTS)(?!\w)|(\d+)(?!\w)|([A-Za-z_][\w-]*))/g;

function createFilling({ args, names, variables }: RenderValues): Filling {
  const words = splitArguments(args);
  const named = new Map(
    names.flatMap((name, index) =>
      NAME.test(name) && name.length <= LONGEST_NAME ? [[name, index] as const] : [],
    ),
  );
  let used = false;
  const put = (value: string | undefined): string | undefined => {
    if (value !== undefined && args.trim() !== '') used = true;
    return value;
  };
  /** What a token stands for; undefined: it is none, or nothing is there for it. */
  const valueFor = (token: Token): string | undefined => {
    if (token.kind === 'all') return put(args);
    if (token.kind === 'word') return put(words[token.index]);
    return put(words[token.index]) ?? '';
  };
  const fillIn = (text: string): string => {
    const filled: string[] = [];
    let done = 0;
    for (const match of text.matchAll(TOKEN)) {
      const [whole, variable] = match;
      const at = match.index;
      if (variable !== undefined) {
        filled.push(text.slice(done, at), variables.get(variable) ?? whole);
        done = at + whole.length;
        continue;
      }
      const token = tokenOf(match, named);
      if (token === undefined) continue;
      const isEscaped = text.charAt(at - 1) === '\\' && text.charAt(at - 2) !== '\\';
      const end = at + token.length;
      const written = text.slice(at, end);
      if (isEscaped) filled.push(text.slice(done, at - 1), written);
      else filled.push(text.slice(done, at), valueFor(token) ?? written);
      done = end;
    }
    return [...filled, text.slice(done)].join('');
  };
  return { in: fillIn, used: () => used };
}

type Token = { readonly length: number } & (
  | { readonly kind: 'all' }
  | { readonly kind: 'word' | 'name'; readonly index: number }
);

function tokenOf(match: RegExpExecArray, named: ReadonlyMap<string, number>): Token | undefined {
  const [{ length }, , item, all, word, run] = match;
  if (all !== undefined) return { kind: 'all', length };
  const index = item ?? word;
  if (index !== undefined) return { kind: 'word', index: Number(index), length };
  return run === undefined ? undefined : nameToken(run, named);
}

/** The longest name that the text begins with: `$branch-x` is `branch` where there is no `branch-x`. */
function nameToken(run: string, named: ReadonlyMap<string, number>): Token | undefined {
  if (named.size === 0) return undefined;
  let end = run.length;
  if (end > LONGEST_NAME) end = run.lastIndexOf('-', LONGEST_NAME);
  for (; end > 0; end = run.lastIndexOf('-', end - 1)) {
    const index = named.get(run.slice(0, end));
    if (index !== undefined) return { kind: 'name', index, length: end + 1 };
  }
  return undefined;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
