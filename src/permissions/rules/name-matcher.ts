import { type LinearPattern, linearPattern } from '../../lib/patterns/linear-pattern.js';
import { type MatcherPart, matcherParts } from '../../lib/patterns/matcher-parts.js';
import { NAME_LETTERS, sampleMatches } from '../../lib/patterns/pattern-words.js';

/** For which tools a hook or callback is meant. */
export interface NameMatcher {
  matches(names: readonly string[]): boolean;
  /** Why it does not mean what was written. */
  readonly problem?: string;
  /** It is unknown which names are meant. */
  readonly unreadable?: true;
}

/**
 * Nothing and `*` mean every tool. Alternatives are joined by `|` or `,`: a plain name means this
 * one, everything else is a regular expression that is searched for in the name. Case does not
 * matter: a guard that is meant for `bash` guards Bash. With `ofTools`, what no tool can be called is
 * not readable.
 */
export function gateMatcher(
  given: string | undefined,
  { ofTools = false }: { readonly ofTools?: boolean } = {},
): NameMatcher {
  const text = given?.trim() ?? '';
  if (text === '' || text === '*') return { matches: () => true };
  const parts = matcherParts(text).map((part) =>
    // fail-closed: quotes, blanks and look-alike letters stand in no name, so nothing would be guarded.
    ofTools && namesNoTool(part) ? { error: 'no tool can be called so' } : fitsOf(part, text),
  );
  if (parts.length === 0) {
    // fail-closed: a guard that names nothing would guard nothing.
    return everything(`the matcher "${text}" names nothing`);
  }
  const failed = parts.find((part) => 'error' in part);
  if (failed !== undefined) {
    // fail-closed: a guard whose matcher cannot be read guards everything.
    const why = `the matcher "${text}" cannot be used (${failed.error})`;
    return { ...everything(why), unreadable: true };
  }
  const tests = parts.flatMap((part) => ('error' in part ? [] : [part.fits]));
  const problems = parts.flatMap((part) => ('error' in part ? [] : (part.problem ?? [])));
  return {
    matches: (names) => names.some((name) => tests.some((fits) => fits(name))),
    ...(problems.length === 0 ? {} : { problem: problems.join('; ') }),
  };
}

type Fits = (name: string) => boolean;
type PartFits =
  | { readonly fits: Fits; readonly problem?: string; readonly error?: never }
  | { readonly error: string };

function namesNoTool({ kind, text }: MatcherPart): boolean {
  if (kind === 'name') return text.includes(' ');
  return kind === 'expression' && sampleMatches(text, NAME_LETTERS).length === 0;
}

/** `mcp__server`, without the tool that comes after it. */
const SERVER = /^mcp__(?!.+?__.)/i;

function fitsOf(part: MatcherPart, matcher: string): PartFits {
  if (part.kind === 'rule') {
    const problem = `the matcher "${matcher}" holds a rule; ${part.text} is taken to mean every call of ${part.tool}`;
    const itself = exactly(part.tool);
    const pattern = linearPattern(part.text, { ignoreCase: true });
    // fail-closed: `Notebook(Edit)` may be a rule or an expression, so it guards what either one means.
    return { fits: (name) => itself(name) || (pattern.ok && pattern.value.test(name)), problem };
  }
  if (part.kind === 'name')
    return SERVER.test(part.text) ? ofServer(part.text, matcher) : { fits: exactly(part.text) };
  const pattern = linearPattern(part.text, { ignoreCase: true });
  if (!pattern.ok) return { error: pattern.error };
  const glob = GLOB.test(part.text) ? globbed(part.text) : undefined;
  const searched: Fits = (name) => pattern.value.test(name) || glob?.test(name) === true;
  if (part.tool === undefined) return { fits: searched };
  const itself = exactly(part.tool);
  return { fits: (name) => itself(name) || searched(name) };
}

/** A server's name stands for the tools of the server. */
function ofServer(server: string, matcher: string): PartFits {
  // fail-closed: no tool is called so, and the guard would guard nothing.
  const itself = exactly(server);
  const prefix = `${server.toLowerCase().replace(/_+$/, '')}__`;
  const problem = `the matcher "${matcher}" names no tool by ${server}; it is taken to mean every tool that begins so`;
  return { fits: (name) => itself(name) || name.toLowerCase().startsWith(prefix), problem };
}

/** fail-closed: `mcp__git*__*` is an expression, and who writes it means `mcp__github__push`. */
const GLOB = /^mcp__[\w*-]+$/i;

function globbed(text: string): LinearPattern | undefined {
  const pattern = linearPattern(`^${text.replace(/\*/g, '.*')}$`, { ignoreCase: true });
  return pattern.ok ? pattern.value : undefined;
}

function exactly(wanted: string): Fits {
  const folded = wanted.toLowerCase();
  return (name) => name.toLowerCase() === folded;
}

function everything(why: string): NameMatcher {
  return { matches: () => true, problem: `${why}; it is taken to mean every tool` };
}
