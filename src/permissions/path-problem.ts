import type { Malformed } from './rule.js';

/** Why a path rule cannot mean what it says; undefined when it can. */
export function pathProblem(spec: string): Malformed | undefined {
  if (spec.startsWith('!')) {
    return {
      why: 'rules have no exceptions, and whatever another rule covers stays covered',
      remedy: 'Remove it, and list what is meant.',
      exception: true,
    };
  }
  if (/^~[^/]/.test(spec)) {
    return {
      why: "another user's home is not known",
      remedy: 'Write the absolute path, //home/name/….',
    };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(spec)) {
    return { why: 'a web address is not a path', remedy: 'Write the path, or WebFetch(domain:…).' };
  }
  if (/^\$\{?\w+\}?(\/|$)|^%\w+%/.test(spec)) {
    return {
      why: 'variables are not replaced in rules',
      remedy: 'Write ~/… for the home directory, or the absolute path, //….',
    };
  }
  if (/^(["']).*\1$/s.test(spec)) {
    return { why: 'quotes would be part of the name', remedy: 'Remove the quotes.' };
  }
  return spec.includes('\0')
    ? { why: 'no path holds a NUL character', remedy: 'Remove it.' }
    : undefined;
}
