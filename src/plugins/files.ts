import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { visible } from '../lib/text/visible.js';
import type { FileStat, FileSystem } from '../platform/fs/fs.js';
import { isInside, join, toPosix } from '../platform/fs/paths.js';
import { parseLocatedJson } from '../settings/files/json.js';
import type { ConfigProblem } from '../settings/types.js';

export type PluginFiles = Pick<FileSystem, 'stat' | 'lstat' | 'readText' | 'realPath' | 'list'>;

/** A plugin's directory with all links resolved. */
export interface PluginPlace {
  readonly directory: string;
  readonly fs: PluginFiles;
}

/** A JSON object of a plugin and its file. */
export interface JsonTable {
  readonly value: Readonly<Record<string, unknown>>;
  readonly file: string;
  lineOf(way: readonly (string | number)[]): number | undefined;
}

export const REMEDY = 'Correct it, or leave the plugin out.';
const MOST_BYTES = 2 * 1024 * 1024;

/** fail-closed: a plugin may bring guards, so a part that cannot be read stops the start. */
export function fatal(
  { file, line }: { readonly file: string; readonly line?: number | undefined },
  message: string,
  remedy = REMEDY,
): ConfigProblem {
  return { severity: 'fatal', file, line, message, remedy };
}

/** Reads a default file that the manifest need not name; undefined when there is none. */
export async function readUsualTable(
  usual: string,
  place: PluginPlace,
): Promise<Result<JsonTable | undefined, ConfigProblem>> {
  const file = join(place.directory, usual);
  try {
    if ((await place.fs.lstat(file)) === undefined) return ok(undefined);
  } catch (thrown) {
    return err(fatal({ file }, `it cannot be looked at: ${messageOf(thrown)}.`));
  }
  const found = await pathInside(`./${usual}`, place);
  if (!found.ok) return err(fatal({ file }, `${found.error}.`));
  if (found.value.kind !== 'file') return err(fatal({ file }, 'it is no regular file.'));
  return await readTable(found.value.path, place.fs);
}

export async function readTable(
  file: string,
  fs: PluginFiles,
): Promise<Result<JsonTable, ConfigProblem>> {
  try {
    const json = parseLocatedJson(await fs.readText(file, { maxBytes: MOST_BYTES }));
    if (!json.ok) {
      return err(fatal({ file, line: json.line }, `it is not valid JSON: ${json.message}.`));
    }
    if (!isRecord(json.value)) return err(fatal({ file, line: 1 }, 'it is not a JSON object.'));
    const [twice] = json.duplicates;
    if (twice !== undefined) {
      const { path, line } = twice;
      return err(fatal({ file, line }, `\`${path.join('.')}\` stands twice.`));
    }
    return ok({ value: json.value, file, lineOf: json.lineOf });
  } catch (thrown) {
    return err(fatal({ file }, `it cannot be read: ${messageOf(thrown)}.`));
  }
}

/** Resolves a path of a plugin through all links. */
export async function pathInside(
  written: string,
  { directory, fs }: PluginPlace,
): Promise<Result<{ readonly path: string; readonly kind: FileStat['kind'] }, string>> {
  const shown = visible(written);
  const steps = toPosix(written).split('/');
  if (steps[0] !== '.' || steps.includes('..')) {
    return err(`"${shown}" is no path inside of the plugin`);
  }
  const path = join(directory, written);
  try {
    const stat = await fs.stat(path);
    if (stat === undefined) return err(`"${shown}" is not there`);
    const real = await fs.realPath(path);
    // fail-closed: a link out of the plugin would load files that were not reviewed with it.
    if (!isInside(real, directory)) {
      return err(`"${shown}" leads out of the plugin to ${visible(real)}`);
    }
    return ok({ path: real, kind: stat.kind });
  } catch (thrown) {
    return err(`"${shown}" cannot be looked at: ${messageOf(thrown)}`);
  }
}
