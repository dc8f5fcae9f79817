import { isInternalVariable } from '../../platform/environment.js';
import { runsOtherCode } from '../../settings/trust/env.js';

/** Variables that hooks left for later shell commands. */
export interface HookVariables {
  /**
   * Takes over what a hook left: a value sets, undefined takes away. Returns the names that were not
   * taken.
   */
  merge(found: Readonly<Record<string, string | undefined>>): readonly string[];
  /** Frozen; the same object until something changes. */
  current(): Readonly<Record<string, string>>;
}

/** All names and values together; a shell with more does not start on every system. */
const MOST_CHARACTERS = 96 * 1024;
const MOST_VARIABLES = 500;

export function createHookVariables(): HookVariables {
  let current: Readonly<Record<string, string>> = Object.freeze({});
  return {
    merge(found) {
      const next = new Map(Object.entries(current));
      const refused: string[] = [];
      for (const [name, value] of Object.entries(found)) {
        if (value === undefined) next.delete(name);
        else if (!isTaken(name, value)) refused.push(name);
        else {
          const before = next.get(name);
          next.set(name, value);
          if (fits(next)) continue;
          refused.push(name);
          if (before === undefined) next.delete(name);
          else next.set(name, before);
        }
      }
      if (!isSame(next, current)) current = Object.freeze(Object.fromEntries(next));
      return refused;
    },
    current: () => current,
  };
}

/**
 * A hook may hand on secrets, which is often what it is for. What would change the meaning of the
 * commands that are judged before they run is not taken.
 */
function isTaken(name: string, value: string): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) return false;
  if (name === '__proto__') return false;
  // fail-closed: what makes later commands load or run other code is nobody's to leave behind.
  return !isInternalVariable(name) && runsOtherCode(name) === undefined;
}

function fits(variables: ReadonlyMap<string, string>): boolean {
  let characters = 0;
  for (const [name, value] of variables) characters += name.length + value.length;
  return variables.size <= MOST_VARIABLES && characters <= MOST_CHARACTERS;
}

function isSame(
  next: ReadonlyMap<string, string>,
  current: Readonly<Record<string, string>>,
): boolean {
  const before = Object.entries(current);
  return before.length === next.size && before.every(([name, value]) => next.get(name) === value);
}
