import { isRecord, own } from '../lib/own.js';
import { visible } from '../lib/text/visible.js';
import type { CheckOptions } from '../settings/schema/type-check.js';
import type { ConfigProblem } from '../settings/types.js';
import {
  fatal,
  type JsonTable,
  type PluginPlace,
  pathInside,
  readTable,
  readUsualTable,
} from './files.js';
import type { ComponentField, Manifest } from './manifest.js';
import type { PluginPaths } from './plugin.js';

/** A plugin whose manifest was read. */
export interface OpenedPlugin extends PluginPlace {
  readonly manifest: Manifest;
  readonly paths: PluginPaths;
  readonly projectDir: string;
  /** The known tools, rules and agents that hooks are validated against. */
  readonly check: CheckOptions;
}

/** Reads the default file, if there is one, and the files or inline tables of the manifest. */
export async function componentTables(
  field: 'hooks' | 'mcpServers',
  usual: string,
  plugin: OpenedPlugin,
): Promise<{ readonly tables: readonly JsonTable[]; readonly problems: readonly ConfigProblem[] }> {
  const { manifest, fs } = plugin;
  const first = await readUsualTable(usual, plugin);
  const named = await componentPaths(field, plugin);
  const usualPath = first.ok ? first.value?.file : undefined;
  const others = new Set(named.paths?.filter((path) => path !== usualPath));
  const read = [first, ...(await Promise.all([...others].map((path) => readTable(path, fs))))];
  const said = own(manifest.value, field);
  const inside = (Array.isArray(said) ? said : [said]).filter(isRecord);
  return {
    tables: [
      ...read.flatMap((one) => (one.ok ? (one.value ?? []) : [])),
      ...inside.map((value) => {
        return { value, file: manifest.file, lineOf: () => manifest.lineOf([field]) };
      }),
    ],
    problems: [...named.problems, ...read.flatMap((one) => (one.ok ? [] : one.error))],
  };
}

/** A plugin option that a person would have to enter; Portcullis does not ask for them. */
const OPTION = /\$\{user_config\./;

/** fail-closed: a command with a missing part would start another program. */
export function needsOption(
  what: string,
  value: unknown,
  { file, lineOf }: JsonTable,
): readonly ConfigProblem[] {
  if (!OPTION.test(JSON.stringify(value) ?? '')) return [];
  const message = `${what} needs an option of the plugin (\${user_config.…}), and options are not read here.`;
  return [fatal({ file, line: lineOf([]) }, message, 'Write the value in its place.')];
}

/**
 * Resolved paths that a field of the manifest names, in its order. Undefined: the manifest does not
 * have the field.
 */
export async function componentPaths(
  field: ComponentField,
  plugin: OpenedPlugin,
): Promise<{
  readonly paths: readonly string[] | undefined;
  readonly problems: readonly ConfigProblem[];
}> {
  const { file, value, lineOf } = plugin.manifest;
  const said = own(value, field);
  if (said === undefined) return { paths: undefined, problems: [] };
  const paths: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const one of Array.isArray(said) ? said : [said]) {
    if (typeof one !== 'string') continue;
    const found = await pathInside(one, plugin);
    const why = found.ok ? wrongKind(field, found.value) : found.error;
    if (found.ok && why === undefined) paths.push(found.value.path);
    else {
      // fail-closed: a named component that is missing may be a guard.
      const remedy = 'Name what is inside of the plugin, beginning with "./".';
      problems.push(fatal({ file, line: lineOf([field]) }, `\`${field}\`: ${why}.`, remedy));
    }
  }
  return { paths, problems };
}

/** Why this file cannot be a component of this kind; undefined when it can. */
function wrongKind(
  field: ComponentField,
  { path, kind }: { readonly path: string; readonly kind: string },
): string | undefined {
  const shown = visible(path);
  const isMarkdown = path.toLowerCase().endsWith('.md');
  switch (field) {
    case 'skills':
      return kind === 'directory' ? undefined : `${shown} is no directory`;
    case 'commands':
    case 'agents':
      if (kind === 'directory') return isMarkdown ? `${shown} is called like a file` : undefined;
      return kind === 'file' && isMarkdown ? undefined : `${shown} is no directory and no Markdown`;
    case 'hooks':
    case 'mcpServers':
      return kind === 'file' ? undefined : `${shown} is no file`;
  }
}
