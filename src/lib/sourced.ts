export type SettingSource =
  | 'managed'
  | 'cli'
  | 'local'
  | 'project'
  | 'user'
  | 'plugin'
  | 'sdk'
  | 'mcp'
  | 'builtin'
  /** The answer to a permission question. */
  | 'answer';

/** A value with where it came from. Travels with every rule, hook, skill, server and agent. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: SettingSource;
  readonly file?: string;
  readonly line?: number;
  /** Whether the place it came from may grant or execute. */
  readonly trusted: boolean;
}

/** `file:line`, or the name of the source when it is not a file. */
export function originOf(sourced: Sourced<unknown>): string {
  if (sourced.file === undefined) return sourced.source === 'cli' ? 'command line' : sourced.source;
  return sourced.line === undefined ? sourced.file : `${sourced.file}:${sourced.line}`;
}
