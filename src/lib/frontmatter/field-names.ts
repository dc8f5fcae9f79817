import { editDistance } from '../text/nearest.js';

/** `allowed-tools`, `allowedTools` and `Allowed_Tools` are one name of a field. */
export function canonicalName(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

/** Other words for a list of tools that are taken away, in canonical form. */
export const BANS =
  /^(?:den(?:y|ied)|block(?:ed)?|ban(?:ned)?|disabled?|forbidden|excluded?)tools?$/;

/**
 * Whether a name is up to two mistakes away from another, both in canonical form. Names shorter than
 * `long` are as near to other words, so that one mistake is the most for them.
 */
export function isNearName(name: string, other: string, long: number): boolean {
  const most = other.length < long ? 1 : 2;
  return Math.abs(name.length - other.length) <= most && editDistance(name, other) <= most;
}
