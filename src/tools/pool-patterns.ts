/** Whether one of a tool's names is meant. */
export type ToolMatcher = (names: readonly string[]) => boolean;

/**
 * Lists of tools as agents and flags write them: `Read`, `mcp__srv`, `mcp__srv__*`, `mcp__s*`, `*`.
 * A part in parentheses limits calls, not the tool, and is ignored here. Case does not matter; a name that no
 * tool has matches nothing.
 */
export function createToolMatcher(patterns: readonly string[]): ToolMatcher {
  const exact = new Set<string>();
  const globs: (readonly string[])[] = [];
  for (const pattern of patterns) {
    const name = (pattern.split('(')[0] ?? '').trim().toLowerCase();
    if (name === '') continue;
    if (name.includes('*')) globs.push(name.split('*'));
    else exact.add(name);
    if (isServer(name)) globs.push([`${name}__`, '']);
  }
  if (globs.length === 0) return (names) => names.some((name) => exact.has(name.toLowerCase()));
  return (names) =>
    names.some((name) => {
      const folded = name.toLowerCase();
      return exact.has(folded) || globs.some((parts) => fits(folded, parts));
    });
}

/**
 * For lists that let tools in. A server whose name holds `__`, or ends with `_`, has tools that read like
 * those of a server with a shorter name: who lets that one's in does not mean these.
 */
export function createAllowMatcher(
  patterns: readonly string[],
): (names: readonly string[], serverKey: string | undefined) => boolean {
  const all = createToolMatcher(patterns);
  const byKey = new Map<string, ToolMatcher>();
  return (names, key) => {
    if (!all(names)) return false;
    if (key === undefined || !/__|_$/.test(key)) return true;
    const known = byKey.get(key) ?? createToolMatcher(patterns.filter((one) => mayMean(one, key)));
    byKey.set(key, known);
    return known(names);
  };
}

/** fail-closed: a pattern that names a whole server names this one or another. */
function mayMean(pattern: string, key: string): boolean {
  const name = pattern.trim().toLowerCase();
  const mine = `mcp__${key.toLowerCase()}`;
  if (name === mine || name.startsWith(`${mine}__`)) return true;
  const plain = name.split('*')[0] ?? '';
  return (
    !plain.startsWith('mcp__') || !(isServer(name) || plain.slice('mcp__'.length).includes('__'))
  );
}

/** `mcp__server`: all of its tools. */
function isServer(name: string): boolean {
  return /^mcp__(?!.*__)[^*]+$/.test(name);
}

/** The parts of a pattern between its stars, one after the other, without going back. */
function fits(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}
