import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { visible } from '../lib/visible.js';
import type { FileStat } from '../platform/fs/fs.js';
import { isInside, join, toPosix } from '../platform/fs/paths.js';
import { parseLocatedJson } from '../settings/files/json.js';
import type { CheckOptions } from '../settings/schema/type-check.js';
import type { ConfigProblem } from '../settings/types.js';
import type { ComponentField, Manifest, PluginFiles } from './manifest.js';
import type { PluginPaths } from './plugin.js';

/** A plugin whose manifest is read. */
export interface OpenedPlugin {
  readonly directory: string;
  readonly manifest: Manifest;
  readonly paths: PluginPaths;
  readonly projectDir: string;
  readonly fs: PluginFiles;
  /** What is known of tools, rules and agents, by which hooks are checked. */
  readonly check: CheckOptions;
}

/** One place where hooks or servers stand. */
export interface ComponentTable {
  readonly value: Readonly<Record<string, unknown>>;
  readonly file: string;
  lineOf(way: readonly (string | number)[]): number | undefined;
}

interface ComponentTables {
  readonly tables: readonly ComponentTable[];
  readonly problems: readonly ConfigProblem[];
}

const MOST_BYTES = 2 * 1024 * 1024;

/** The usual file, where it is there, and what the manifest names or holds itself. */
export async function componentTables(
  field: 'hooks' | 'mcpServers',
  usual: string,
  plugin: OpenedPlugin,
): Promise<ComponentTables> {
  const { manifest, fs } = plugin;
  const named = await componentPaths(field, plugin);
  const problems: ConfigProblem[] = [...named.problems];
  const tables: ComponentTable[] = [];
  const first = await usualFile(usual, plugin);
  if (!first.ok) problems.push(first.error);
  const files = new Set([
    ...(first.ok && first.value !== undefined ? [first.value] : []),
    ...(named.paths ?? []),
  ]);
  for (const one of files) {
    const read = await tableIn(one, fs);
    if (read.ok) tables.push(read.value);
    else problems.push(read.error);
  }
  const said = manifest.field(field);
  for (const value of Array.isArray(said) ? said : [said]) {
    if (!isRecord(value)) continue;
    tables.push({ value, file: manifest.file, lineOf: () => manifest.lineOf(field) });
  }
  return { tables, problems };
}

/** Undefined: there is none. fail-closed: one that cannot be looked at, or lies elsewhere, may hold a guard. */
async function usualFile(
  usual: string,
  { directory, fs }: OpenedPlugin,
): Promise<Result<string | undefined, ConfigProblem>> {
  const file = join(directory, usual);
  const remedy = 'Correct it, or leave the plugin out.';
  try {
    if ((await fs.lstat(file)) === undefined) return ok(undefined);
  } catch (thrown) {
    const message = `it cannot be looked at: ${messageOf(thrown)}.`;
    return err({ severity: 'fatal', file, message, remedy });
  }
  const found = await pathInside(`./${usual}`, { directory, fs });
  if (found.ok && found.kind === 'file') return ok(found.path);
  const message = found.ok ? 'it is no regular file.' : `${found.why}.`;
  return err({ severity: 'fatal', file, message, remedy });
}

async function tableIn(
  file: string,
  fs: PluginFiles,
): Promise<Result<ComponentTable, ConfigProblem>> {
  // fail-closed: there may have been a guard in what cannot be read.
  const broken = (message: string, line?: number) =>
    err<ConfigProblem>({
      severity: 'fatal',
      file,
      line,
      message,
      remedy: 'Correct it, or leave the plugin out.',
    });
  try {
    const json = parseLocatedJson(await fs.readText(file, { maxBytes: MOST_BYTES }));
    if (!json.ok) return broken(`it is not valid JSON: ${json.message}.`, json.line);
    if (!isRecord(json.value)) return broken('it is not a JSON object.', 1);
    const [twice] = json.duplicates;
    if (twice !== undefined) return broken(`\`${twice.path.join('.')}\` stands twice.`, twice.line);
    return ok({ value: json.value, file, lineOf: json.lineOf });
  } catch (thrown) {
    return broken(`it cannot be read: ${messageOf(thrown)}.`);
  }
}

/** Values that a person would have had to give, which nobody asks for here. */
const OPTION = /\$\{user_config\./;

/** fail-closed: a program that is started with a part of its command missing is another program. */
export function needsOption(
  what: string,
  value: unknown,
  { file, lineOf }: ComponentTable,
): readonly ConfigProblem[] {
  if (!OPTION.test(JSON.stringify(value) ?? '')) return [];
  const line = lineOf([]);
  const message = `${what} needs an option of the plugin (\${user_config.…}), and options are not read here.`;
  const place = { file, line };
  return [{ severity: 'fatal', ...place, message, remedy: 'Write the value in its place.' }];
}

interface ComponentPaths {
  /** Undefined: the manifest does not say. Otherwise behind all links, in the order of the manifest. */
  readonly paths: readonly string[] | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** Which files and directories of the plugin a field of its manifest names. */
export async function componentPaths(
  field: ComponentField,
  plugin: Pick<OpenedPlugin, 'directory' | 'manifest' | 'fs'>,
): Promise<ComponentPaths> {
  const { manifest } = plugin;
  const said = manifest.field(field);
  if (said === undefined) return { paths: undefined, problems: [] };
  const written = (Array.isArray(said) ? said : [said]).filter((one) => typeof one === 'string');
  const paths: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const one of written) {
    const found = await pathInside(one, plugin);
    const why = found.ok ? wrongKind(field, found) : found.why;
    if (found.ok && why === undefined) paths.push(found.path);
    else {
      const line = manifest.lineOf(field);
      // fail-closed: what is named and not there may be a guard.
      problems.push({
        severity: 'fatal',
        file: manifest.file,
        line,
        message: `\`${field}\`: ${why}.`,
        remedy: 'Name what is inside of the plugin, beginning with "./".',
      });
    }
  }
  return { paths, problems };
}

type Found =
  | { readonly ok: true; readonly path: string; readonly kind: FileStat['kind'] }
  | { readonly ok: false; readonly why: string };

/** What of this kind would bring nothing; undefined: it may bring something. */
function wrongKind(
  field: ComponentField,
  { path, kind }: Extract<Found, { ok: true }>,
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

/** What a path of a plugin's own leads to, behind all links. */
async function pathInside(
  written: string,
  { directory, fs }: Pick<OpenedPlugin, 'directory' | 'fs'>,
): Promise<Found> {
  const shown = visible(written);
  const steps = toPosix(written).split('/');
  if (steps[0] !== '.' || steps.includes('..')) {
    return { ok: false, why: `"${shown}" is no path inside of the plugin` };
  }
  const path = join(directory, written);
  try {
    const stat = await fs.stat(path);
    if (stat === undefined) return { ok: false, why: `"${shown}" is not there` };
    const real = await fs.realPath(path);
    // fail-closed: a link out of the plugin would bring in what nobody has looked at.
    if (!isInside(real, directory)) {
      return { ok: false, why: `"${shown}" leads out of the plugin to ${visible(real)}` };
    }
    return { ok: true, path: real, kind: stat.kind };
  } catch (thrown) {
    return { ok: false, why: `"${shown}" cannot be looked at: ${messageOf(thrown)}` };
  }
}
