import { expandHome, homeDirectory, resolve } from '../platform/fs/paths.js';
import type { GateCall } from './types.js';

type Input = GateCall['input'];

/** Where file tools say which file they mean. */
const PATH_FIELDS = ['file_path', 'notebook_path', 'path'] as const;

/**
 * The input of a file tool with absolute, normalised paths. Hooks, hosts and people compare paths with
 * their own; `../secret/x` and `/project/../secret/x` must not look like something else than `/secret/x`.
 */
export function absoluteInput({
  tool,
  input,
  workspace,
}: Pick<GateCall, 'tool' | 'input' | 'workspace'>): Input {
  if (tool.kind !== 'read' && tool.kind !== 'edit') return input;
  const changed: Record<string, string> = {};
  for (const field of PATH_FIELDS) {
    const path = Object.hasOwn(input, field) ? input[field] : undefined;
    if (typeof path !== 'string' || path === '') continue;
    const meant = path.startsWith('~') ? expandHome(path, homeDirectory()) : path;
    const absolute = resolve(workspace.cwd, meant);
    if (absolute !== path) changed[field] = absolute;
  }
  return Object.keys(changed).length === 0 ? input : { ...input, ...changed };
}
