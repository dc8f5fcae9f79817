import { messageOf } from '../../errors.js';
import { removeMember, setMember } from '../../lib/json-edit.js';
import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join, toPosix } from '../../platform/fs/paths.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import type { Variables } from './expand.js';

/** The files of the three writable scopes. */
export interface McpStores {
  /** `~/.claude.json` or the same file in `CLAUDE_CONFIG_DIR`; holds user scope, local scope and switches. */
  readonly personal: string;
  /** `.mcp.json` in the project's root. */
  readonly project: string;
  /** The keys below `projects` that refer to this project, nearest first. */
  readonly projectKeys: readonly string[];
  /** The key for writing: the project's root. */
  readonly projectKey: string;
}

export interface StorePlaces {
  readonly home: string;
  readonly cwd: string;
  /** Ends with the project's root. */
  readonly levels: readonly string[];
  readonly startEnv: Variables;
  readonly configDir: string;
  /** Real paths of the start directory and the root. */
  readonly real?: readonly string[];
}

export function mcpStores(places: StorePlaces): McpStores {
  const root = places.levels.at(-1) ?? places.cwd;
  const { CLAUDE_CONFIG_DIR: elsewhere } = places.startEnv;
  const directory = elsewhere === undefined || elsewhere === '' ? places.home : places.configDir;
  const keys = [places.cwd, root, ...(places.real ?? [])].map(toPosix);
  return {
    personal: join(directory, '.claude.json'),
    project: join(root, '.mcp.json'),
    projectKeys: [...new Set(keys)],
    projectKey: toPosix(root),
  };
}

export type WritableScope = 'local' | 'project' | 'user';
export const WRITABLE_SCOPES: readonly WritableScope[] = ['local', 'project', 'user'];

export interface WriteDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic'>;
  readonly stores: McpStores;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Adds a server to the file of a scope, keeps the rest unchanged and returns the file name. */
export async function addServer(
  deps: WriteDeps,
  server: { readonly scope: WritableScope; readonly name: string; readonly raw: unknown },
): Promise<Result<string, string>> {
  const { file, ways } = placeOf(deps.stores, server.scope);
  const read = await textOf(deps, file);
  if (!read.ok) return read;
  if (ways.some((way) => hasServer(read.value.content, [...way, server.name])))
    return err(`${file} already has a server "${server.name}"; remove it first`);
  const [way = []] = ways;
  const edited = setMember(read.value.text, [...way, server.name], server.raw);
  if (edited === undefined) return err(`${file}: \`${way.join('.')}\` is not a table`);
  return await write(deps, file, read.value, edited);
}

/** Removes a server from the file of a scope; undefined when it is not there. */
export async function removeServer(
  deps: WriteDeps,
  { scope, name }: { readonly scope: WritableScope; readonly name: string },
): Promise<Result<string | undefined, string>> {
  const { file, ways } = placeOf(deps.stores, scope);
  if ((await deps.fs.stat(file).catch(() => undefined)) === undefined) return ok(undefined);
  const read = await textOf(deps, file);
  if (!read.ok) return read;
  let text = read.value.text;
  for (const way of ways) text = removeMember(text, [...way, name]) ?? text;
  if (text === read.value.text) return ok(undefined);
  return await write(deps, file, read.value, text);
}

/** The first path is used for writing. */
function placeOf(
  stores: McpStores,
  scope: WritableScope,
): { readonly file: string; readonly ways: readonly (readonly string[])[] } {
  if (scope === 'project') return { file: stores.project, ways: [['mcpServers']] };
  if (scope === 'user') return { file: stores.personal, ways: [['mcpServers']] };
  const keys = [stores.projectKey, ...stores.projectKeys];
  const ways = [...new Set(keys)].map((key) => ['projects', key, 'mcpServers']);
  return { file: stores.personal, ways };
}

interface FileText {
  readonly text: string;
  readonly mark: string;
  readonly content: unknown;
}

/** fail-closed: a file that does not parse is not overwritten. */
async function textOf({ fs }: WriteDeps, file: string): Promise<Result<FileText, string>> {
  try {
    const there = (await fs.stat(file)) !== undefined;
    const whole = there ? await fs.readText(file, { maxBytes: MOST_BYTES }) : '';
    const mark = whole.startsWith('\uFEFF') ? '\uFEFF' : '';
    const text = whole.slice(mark.length).trim() === '' ? '{}\n' : whole.slice(mark.length);
    const json = parseLocatedJson(text);
    if (!json.ok) return err(`${file}:${json.line} is not valid JSON: ${json.message}`);
    if (!isRecord(json.value)) return err(`${file} is not a JSON object`);
    return ok({ text, mark, content: json.value });
  } catch (thrown) {
    return err(`${file} cannot be read: ${messageOf(thrown)}`);
  }
}

async function write(
  { fs }: WriteDeps,
  file: string,
  { mark }: FileText,
  text: string,
): Promise<Result<string, string>> {
  try {
    // A new personal file may later contain keys.
    await fs.writeAtomic(file, `${mark}${text}`, file.endsWith('.mcp.json') ? {} : { mode: 0o600 });
    return ok(file);
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

function hasServer(content: unknown, way: readonly string[]): boolean {
  let at = content;
  for (const key of way) at = isRecord(at) ? own(at, key) : undefined;
  return at !== undefined;
}
