import { isRecord } from '../../lib/own.js';

const KEY = 'x-mcp-header';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
const MAX_NODES = 20_000;

/**
 * Whether the parameters that a tool wants repeated as HTTP headers are declared as the protocol
 * demands: by a plain header name of their own, for simple values, reachable through `properties`
 * alone. Tools that break this must not be offered over HTTP.
 */
export function hasSoundHeaderParameters(inputSchema: Readonly<Record<string, unknown>>): boolean {
  const names = new Set<string>();
  const open: { readonly node: unknown; readonly isReachable: boolean; readonly isTop: boolean }[] =
    [{ node: inputSchema, isReachable: true, isTop: true }];
  for (let seen = 0; open.length > 0; seen++) {
    // fail-closed: what is too large to be looked through is not offered.
    if (seen > MAX_NODES) return false;
    const { node, isReachable, isTop } = open.pop() ?? {
      node: undefined,
      isReachable: false,
      isTop: false,
    };
    if (Array.isArray(node)) {
      for (const item of node) open.push({ node: item, isReachable: false, isTop: false });
      continue;
    }
    if (!isRecord(node)) continue;
    if (Object.hasOwn(node, KEY) && !(isReachable && !isTop && isSound(node, names))) return false;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isRecord(value)) {
        for (const child of Object.values(value))
          open.push({ node: child, isReachable, isTop: false });
      } else if (!DATA.has(key)) {
        open.push({ node: value, isReachable: false, isTop: false });
      }
    }
  }
  return true;
}

/** Their values are data, not schemas. */
const DATA = new Set(['default', 'const', 'enum', 'examples', KEY]);

function isSound(node: Readonly<Record<string, unknown>>, names: Set<string>): boolean {
  const name = node[KEY];
  if (typeof name !== 'string' || !TOKEN.test(name)) return false;
  if (typeof node.type !== 'string' || !TYPES.has(node.type)) return false;
  const lower = name.toLowerCase();
  if (names.has(lower)) return false;
  names.add(lower);
  return true;
}
