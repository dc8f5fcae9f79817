import { isRecord } from '../../lib/own.js';

/** What settings say about trees of agents. */
export interface WorktreeSettings {
  /** `head`: what the parent has committed; `fresh`: the default branch of the remote, as last fetched. */
  readonly baseRef: 'fresh' | 'head';
  /** Directories of the project that a tree gets as links, for looking. */
  readonly symlinkDirectories: readonly string[];
  /** The only paths that a tree holds; empty: all. */
  readonly sparsePaths: readonly string[];
}

/** From the value of the key `worktree`. Agents go on from their parent's commit unless told otherwise. */
export function worktreeSettings(value: unknown): WorktreeSettings {
  const given = isRecord(value) ? value : {};
  return {
    baseRef: given.baseRef === 'fresh' ? 'fresh' : 'head',
    symlinkDirectories: texts(given.symlinkDirectories),
    sparsePaths: texts(given.sparsePaths),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
