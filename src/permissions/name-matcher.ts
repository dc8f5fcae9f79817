import { linearPattern } from '../util/linear-pattern.js';

/** For which tools a hook or callback is meant. */
export interface NameMatcher {
  readonly text: string;
  matches(names: readonly string[]): boolean;
  /** Why it does not mean what was written. */
  readonly problem?: string;
  /** Nobody can tell which names are meant. */
  readonly unreadable?: true;
}

/**
 * Nothing and `*` mean every tool; plain names, joined by `|` or `,`, mean these; everything else is
 * a regular expression that is searched for in the name. Case does not matter: a guard that is meant
 * for `bash` guards Bash.
 */
export function gateMatcher(given: string | undefined): NameMatcher {
  const text = given?.trim() ?? '';
  if (text === '' || text === '*') return { text, matches: () => true };
  if (/^[\w\-, |]+$/.test(text)) return named(text, text.split(/[|,]/));
  const scoped = /^(\w+)\(.*\)$/s.exec(text);
  if (scoped?.[1] !== undefined && !text.includes('|')) {
    // fail-closed: a rule is no matcher; as an expression it would never match anything.
    const problem = `the matcher "${text}" is a rule; it is taken to mean every call of ${scoped[1]}`;
    return { ...exactly(text, [scoped[1]]), problem };
  }
  const pattern = linearPattern(text, { ignoreCase: true });
  if (pattern.ok) {
    return { text, matches: (names) => names.some((name) => pattern.value.test(name)) };
  }
  // fail-closed: a guard whose matcher cannot be read guards everything.
  const problem = `the matcher "${text}" cannot be used (${pattern.error}); it is taken to mean every tool`;
  return { text, matches: () => true, problem, unreadable: true };
}

/** Plain names. One that is an MCP server's stands for the tools of the server. */
function named(text: string, parts: readonly string[]): NameMatcher {
  const names = exactly(text, parts);
  const servers = parts.map((part) => part.trim()).filter((part) => SERVER.test(part));
  if (servers.length === 0) return names;
  // fail-closed: no tool is called so, and the guard would guard nothing.
  const prefixes = servers.map((server) => `${server.toLowerCase().replace(/_+$/, '')}__`);
  const begins = (name: string): boolean =>
    prefixes.some((prefix) => name.toLowerCase().startsWith(prefix));
  const problem = `the matcher "${text}" names no tool by ${servers.join(', ')}; it is taken to mean every tool that begins so`;
  return { text, matches: (all) => names.matches(all) || all.some(begins), problem };
}

/** `mcp__server`, without the tool that comes after it. */
const SERVER = /^mcp__(?!.+?__.)/i;

function exactly(text: string, parts: readonly string[]): NameMatcher {
  const wanted = new Set(
    parts.map((part) => part.trim().toLowerCase()).filter((part) => part !== ''),
  );
  return { text, matches: (names) => names.some((name) => wanted.has(name.toLowerCase())) };
}
