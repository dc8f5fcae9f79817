import { isRecord, own } from '../../lib/own.js';
import { join, resolve } from '../../platform/fs/paths.js';
import { sideloadRefusal } from '../../settings/merge/switches.js';
import type { ConfigProblem } from '../../settings/types.js';
import type { McpScope } from '../server.js';
import {
  type Document,
  parseDocument,
  type ReadDocument,
  readDocument,
  serversAt,
} from './read.js';
import { mcpStores } from './stores.js';
import type { DynamicServers, McpConfigDeps, RawServer, RawServers } from './types.js';

const MOST_BYTES = 2 * 1024 * 1024;
/** The personal file also holds the history of other programs. */
const MOST_PERSONAL_BYTES = 64 * 1024 * 1024;
const MANAGED_FILE = 'managed-mcp.json';

/** Collects servers and problems, strongest source first. */
class Collected {
  readonly servers: RawServer[] = [];
  readonly problems: ConfigProblem[] = [];

  take(
    read: ReadDocument,
    way: readonly string[],
    how: { scope: McpScope; ofHost?: boolean },
  ): void {
    if (read.kind === 'broken') this.problems.push(read.problem);
    if (read.kind !== 'document') return;
    const { servers, problems } = serversAt(read.document, { way, ...how });
    this.servers.push(...servers);
    this.problems.push(...read.document.problems, ...problems);
  }
}

/** Reads all sources in parallel. */
export async function readSources(deps: McpConfigDeps): Promise<RawServers> {
  const { fs, sources } = deps;
  const wants = (source: string): boolean => deps.strict !== true && sources.includes(source);
  const wantsPersonal = wants('user') || wants('local') || wants('project');
  const keys = wantsPersonal ? await projectKeys(deps) : [];
  const [managed, dynamic, projects, personal, misplaced] = await Promise.all([
    readDocument(fs, {
      file: join(deps.managedDir, MANAGED_FILE),
      severity: 'fatal',
      maxBytes: MOST_BYTES,
      ofAdministrator: true,
    }),
    readDynamic(deps),
    wants('project') ? readProjects(deps) : [],
    wantsPersonal ? readPersonal(deps, keys) : { kind: 'absent' as const },
    wantsPersonal ? misplacedFiles(deps) : [],
  ]);
  const all = new Collected();
  const exclusive = managed.kind !== 'absent';
  all.take(managed, ['mcpServers'], { scope: 'managed' });
  takeManagedSetting(deps, all);
  takeDynamic(dynamic, all, additionRefusal(deps, exclusive));
  if (exclusive) return { ...all, exclusive, switchedOff: new Set() };
  if (wants('local'))
    for (const key of keys) all.take(personal, ['projects', key, 'mcpServers'], { scope: 'local' });
  for (const read of projects) {
    all.take(read, ['mcpServers'], { scope: 'project' });
    all.problems.push(...withoutTable(read));
  }
  if (wants('user')) all.take(personal, ['mcpServers'], { scope: 'user' });
  else if (personal.kind === 'broken') all.problems.push(personal.problem);
  takePlugins(deps, all);
  return {
    servers: all.servers,
    problems: [...new Set(all.problems), ...misplaced],
    exclusive,
    switchedOff: switchesOf(personal, keys),
    ...(personal.kind === 'broken' ? { switchesUnknown: personal.problem.file ?? '' } : {}),
  };
}

function readPersonal(deps: McpConfigDeps, keys: readonly string[]): Promise<ReadDocument> {
  return readDocument(deps.fs, {
    file: mcpStores(deps).personal,
    severity: 'warning',
    maxBytes: MOST_PERSONAL_BYTES,
    worth: (value) =>
      !isEmpty(own(value, 'mcpServers')) ||
      projectsIn(value, keys).some(
        (one) => !isEmpty(own(one, 'mcpServers')) || !isEmpty(own(one, 'disabledMcpServers')),
      ),
  });
}

type Table = Readonly<Record<string, unknown>>;

/** The sections of a personal file about this project. */
function projectsIn(value: Table, keys: readonly string[]): readonly Table[] {
  const projects = own(value, 'projects');
  return isRecord(projects) ? keys.map((key) => own(projects, key)).filter(isRecord) : [];
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

async function readProjects(deps: McpConfigDeps): Promise<readonly ReadDocument[]> {
  const read = await Promise.all(
    deps.levels.map((level) =>
      readDocument(deps.fs, {
        file: join(level, '.mcp.json'),
        severity: 'warning',
        maxBytes: MOST_BYTES,
      }),
    ),
  );
  return read.map((one) => {
    if (one.kind !== 'broken') return one;
    const message = `${one.problem.message} None of its servers is used.`;
    return { kind: 'broken', problem: { ...one.problem, message } };
  });
}

/** A project file without `mcpServers` is probably a mistake. */
function withoutTable(read: ReadDocument): readonly ConfigProblem[] {
  if (read.kind !== 'document') return [];
  const { value, file, lineOf } = read.document;
  // `$schema` and similar keys do not count.
  const keys = Object.keys(value).filter((key) => !key.startsWith('$'));
  if (keys.length === 0 || Object.hasOwn(value, 'mcpServers')) return [];
  const meant = keys.find((key) => /^(mcp[_-]?)?servers?$/i.test(key));
  const line = lineOf([meant ?? keys[0] ?? '']);
  return [
    {
      severity: 'warning',
      file,
      line,
      message: 'it has no key `mcpServers`. None of its servers is used.',
      remedy:
        meant === undefined
          ? 'Write { "mcpServers": { "name": { … } } }.'
          : `Rename \`${meant}\` to \`mcpServers\`.`,
    },
  ];
}

async function projectKeys(deps: McpConfigDeps): Promise<readonly string[]> {
  const root = deps.levels.at(-1) ?? deps.cwd;
  const real = await Promise.all(
    [...new Set([deps.cwd, root])].map((one) => deps.fs.realPath(one)),
  );
  return mcpStores({ ...deps, real }).projectKeys;
}

function switchesOf(personal: ReadDocument, keys: readonly string[]): ReadonlySet<string> {
  if (personal.kind !== 'document') return new Set();
  const off = projectsIn(personal.document.value, keys).flatMap((one) =>
    own(one, 'disabledMcpServers'),
  );
  return new Set(off.filter((one) => typeof one === 'string'));
}

function takeManagedSetting(deps: McpConfigDeps, all: Collected): void {
  const setting = deps.values.get('managedMcpServers');
  if (setting === undefined || !isRecord(setting.value)) return;
  const document: Document = {
    value: { mcpServers: setting.value },
    file: setting.file,
    lineOf: () => setting.line,
    problems: [],
  };
  all.take({ kind: 'document', document }, ['mcpServers'], { scope: 'managed' });
}

interface ReadDynamicServers {
  readonly read: ReadDocument;
  readonly ofHost: boolean;
}

function readDynamic({
  fs,
  cwd,
  dynamic = [],
}: McpConfigDeps): Promise<readonly ReadDynamicServers[]> {
  return Promise.all(
    dynamic.map(async (given: DynamicServers): Promise<ReadDynamicServers> => {
      if (typeof given !== 'string') return { read: tableOf(given), ofHost: true };
      const isText = given.trimStart().startsWith('{');
      const flag = { file: '--mcp-config', severity: 'fatal' } as const;
      const read = isText
        ? parseDocument(given, flag, false)
        : await readDocument(fs, {
            file: resolve(cwd, given),
            severity: 'fatal',
            maxBytes: MOST_BYTES,
            required: true,
          });
      return { read: withServers(isText ? read : namingFlag(read, given)), ofHost: isText };
    }),
  );
}

/** Reports an unreadable file under the name given to the flag. */
function namingFlag(read: ReadDocument, given: string): ReadDocument {
  if (read.kind !== 'broken') return read;
  const { problem } = read;
  const message = `--mcp-config ${JSON.stringify(given)}: ${problem.message}`;
  return { ...read, problem: { ...problem, message } };
}

/** fail-closed: a requested file without servers is an error. */
function withServers(read: ReadDocument): ReadDocument {
  if (read.kind !== 'document' || isRecord(read.document.value.mcpServers)) return read;
  return {
    kind: 'broken',
    problem: {
      severity: 'fatal',
      file: read.document.file ?? '--mcp-config',
      message: 'it holds no table `mcpServers`.',
      remedy: 'Write { "mcpServers": { "name": { … } } }.',
    },
  };
}

/** Why flags and hosts may not add servers. */
function additionRefusal(deps: McpConfigDeps, exclusive: boolean): string | undefined {
  return exclusive ? `an administrator keeps the list (${MANAGED_FILE})` : sideloadRefusal(deps);
}

function takeDynamic(
  given: readonly ReadDynamicServers[],
  all: Collected,
  refusal: string | undefined,
): void {
  for (const { read, ofHost } of given) {
    const found = new Collected();
    found.take(read, ['mcpServers'], { scope: 'dynamic', ofHost });
    all.problems.push(...found.problems);
    // Servers in the host's process are part of the host and not subject to the administrator's list.
    const isOwn = ({ raw }: RawServer): boolean => ofHost && isRecord(raw) && raw.type === 'sdk';
    const refused = refusal === undefined ? [] : found.servers.filter((one) => !isOwn(one));
    all.servers.push(...found.servers.filter((one) => !refused.includes(one)));
    if (refused.length > 0) {
      // fail-closed: the administrator excludes other servers, so the request is an error.
      all.problems.push({
        severity: 'fatal',
        file: read.kind === 'document' ? (read.document.file ?? '--mcp-config') : '--mcp-config',
        message: `servers cannot be added: ${refusal}.`,
        remedy: 'Leave --mcp-config out.',
      });
    }
  }
}

function takePlugins({ plugins = [], strict }: McpConfigDeps, all: Collected): void {
  for (const { servers, file } of plugins) {
    if (strict !== true) all.take(tableOf(servers, file), ['mcpServers'], { scope: 'plugin' });
    else {
      const message = 'the servers of this plugin are not used: only those of --mcp-config are.';
      all.problems.push({ severity: 'warning', file, message, remedy: 'Name them there.' });
    }
  }
}

function tableOf(servers: Readonly<Record<string, unknown>>, file?: string): ReadDocument {
  const document = {
    value: { mcpServers: servers },
    file,
    lineOf: () => undefined,
    problems: [],
  };
  return { kind: 'document', document };
}

/** Warns about server files at places that are never read. */
async function misplacedFiles(deps: McpConfigDeps): Promise<readonly ConfigProblem[]> {
  const root = deps.levels.at(-1) ?? deps.cwd;
  const { personal, project } = mcpStores(deps);
  const places = [
    [join(root, '.claude', 'mcp.json'), project],
    [join(root, 'mcp.json'), project],
    [join(root, 'claude.json'), project],
    [join(deps.configDir, 'mcp.json'), personal],
    [join(deps.home, 'claude.json'), personal],
  ] as const;
  const seen = new Set<string>();
  const found = await Promise.all(
    places.map(async ([file, right]): Promise<readonly ConfigProblem[]> => {
      if (seen.has(file)) return [];
      seen.add(file);
      if (!(await holdsServers(deps, file))) return [];
      const message = 'servers in this file are not read.';
      return [{ severity: 'warning', file, message, remedy: `Move them to ${right}.` }];
    }),
  );
  return found.flat();
}

async function holdsServers({ fs }: McpConfigDeps, file: string): Promise<boolean> {
  try {
    const stat = await fs.stat(file);
    if (stat?.kind !== 'file' || stat.size > MOST_BYTES) return false;
    return (await fs.readText(file, { maxBytes: MOST_BYTES })).includes('"mcpServers"');
  } catch {
    // An unreadable file needs no hint.
    return false;
  }
}
