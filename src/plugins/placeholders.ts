import { isRecord } from '../lib/own.js';
import type { PluginPaths } from './plugin.js';

/** The variables that a plugin's programs find its directories in. */
export function pluginVariables({ root, data }: PluginPaths): Readonly<Record<string, string>> {
  return { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data };
}

const DIRECTORIES = /\$\{(CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|CLAUDE_PROJECT_DIR)\}/g;

/** A server's entry with its directories put in, which its program also finds in its environment. */
export function withPaths(
  entry: unknown,
  place: { readonly paths: PluginPaths; readonly projectDir: string },
): unknown {
  const variables = pluginVariables(place.paths);
  const values = new Map([...Object.entries(variables), ['CLAUDE_PROJECT_DIR', place.projectDir]]);
  const filled = filledIn(entry, (text) =>
    text.replace(DIRECTORIES, (whole, name: string) => values.get(name) ?? whole),
  );
  if (!isRecord(filled) || typeof filled.command !== 'string') return filled;
  const own = isRecord(filled.env) ? filled.env : undefined;
  // What is no table stays as it is, so that whoever checks the entry says so.
  if (filled.env !== undefined && own === undefined) return filled;
  return { ...filled, env: { ...own, ...variables } };
}

function filledIn(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((one) => filledIn(one, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one, fill)]));
}
