import type { Malformed } from './rule.js';

/**
 * Why a name in a rule can never match: with these signs other patterns say more than `*` does, and no
 * such name holds one. fail-closed: somebody relies on the restriction.
 */
export function signsProblem(name: string, what: string): Malformed | undefined {
  const sign = SIGNS.exec(name)?.[0];
  if (sign === undefined) return undefined;
  return {
    why: `no ${what} has ${sign} in its name, and * alone is a pattern`,
    remedy: 'Write a rule for each name, or * in the place of what differs.',
  };
}

/** No name of a skill, an agent's type or a tool holds one. */
const SIGNS = /[?[\]{}|^$]|^!/;

/**
 * Why a path with alternatives does not cover what it says: in paths they are letters like others.
 * fail-closed: a file may be called so, but who writes a restriction so means several.
 */
export function alternativesProblem(path: string): Malformed | undefined {
  // What stands behind a backslash or in a set is meant to be a letter.
  const rest = path.replace(/\\.|\[[^\]]*\]/gs, '');
  const found = /\||\{[^{}]*(?:,|\.\.)[^{}]*\}/.exec(rest)?.[0];
  if (found === undefined) return undefined;
  return {
    why: `${found} does not stand for alternatives`,
    remedy: `Write a rule for each path; for a file that is called so, \\${found.charAt(0)}.`,
  };
}
