import { sha256 } from '../env/hash.js';
import { canonicalJson } from '../settings/trust-digest.js';
import type { ConfigProblem } from '../settings/types.js';
import { visible } from '../util/visible.js';
import { weakHash } from '../util/weak-hash.js';
import { type ProjectServers, projectServers } from './config-approval.js';
import { nameProblem, namesCollide, serverKey } from './config-names.js';
import { readSources } from './config-sources.js';
import type { McpConfigDeps, McpConfiguration, RawServer, RawServers } from './config-types.js';
import { parseEntry } from './entry.js';
import { entryLines } from './entry-text.js';
import type { Variables } from './expand.js';
import type { McpEntry, ServerDeclaration, Standing } from './server.js';
import { blockedReason, readServerLists, type ServerLists } from './server-lists.js';

export type { McpConfigDeps, McpConfiguration } from './config-types.js';

/**
 * Every server that files, flags and the host declare, and how each stands. Nothing is started. An
 * entry that cannot be used stays in the list with its reason; it never takes others with it.
 */
export async function loadMcpConfiguration(deps: McpConfigDeps): Promise<McpConfiguration> {
  const read = await readSources(deps);
  const project = await deps.fs.realPath(deps.levels.at(-1) ?? deps.cwd);
  const problems: ConfigProblem[] = [...read.problems];
  const { lists, problems: listProblems } = readServerLists(deps.values, deps.startEnv);
  problems.push(...listProblems);
  const written = new Map<ServerDeclaration, unknown>();
  const tell = (message: string): void =>
    void problems.push({
      severity: 'warning',
      message,
      remedy: 'Make the state directory (PORTCULLIS_HOME) writable.',
    });
  const judge: Judging = {
    read,
    lists,
    refusal: (entry) =>
      entry.type === 'proxy' && deps.values.get('disableClaudeAiConnectors')?.value === true
        ? 'disableClaudeAiConnectors forbids connectors of an account'
        : undefined,
    variables: { ...deps.env, CLAUDE_PROJECT_DIR: project },
    ofProject: projectServers({ project, tell, ...deps }),
    problems,
  };
  const declared: ServerDeclaration[] = [];
  for (const server of read.servers) {
    const one = await declarationOf(server, judge);
    written.set(one, server.raw);
    declared.push(one);
  }
  const { servers, hidden, replaced } = settleNames(declared, problems);
  for (const [now, before] of replaced) written.set(now, written.get(before));
  if (deps.interactive !== true) problems.push(...servers.flatMap(waiting));
  return {
    servers,
    hidden,
    problems,
    exclusive: read.exclusive,
    project,
    describe: (server) => entryLines(written.get(server)),
    written: (server) => written.get(server),
  };
}

/** Where nobody is asked, nobody would know why it is missing. */
function waiting({ name, origin, standing }: ServerDeclaration): readonly ConfigProblem[] {
  if (standing.kind !== 'pending-approval') return [];
  const [why = '', remedy = ''] = standing.reason.split('; ');
  const message = `MCP server "${visible(name)}" is not used: ${visible(why)}.`;
  return [{ severity: 'warning', ...origin, message, remedy: `To use it: ${visible(remedy)}` }];
}

/** Of an entry as written; order of keys and blanks do not count. */
export function contentHash(raw: unknown): string {
  return sha256(canonicalJson(['mcp server', 1, raw]));
}

/** A declaration whose hash is computed when it is wanted: loading what computes it takes its time. */
function declare(
  base: Omit<ServerDeclaration, 'contentHash' | 'entry' | 'standing'>,
  raw: unknown,
  found: Pick<ServerDeclaration, 'entry' | 'standing'>,
): ServerDeclaration {
  let hash: string | undefined;
  return {
    ...base,
    ...found,
    // Keys in another order make another mark: then the server is asked once more what it offers.
    contentMark: weakHash(JSON.stringify(raw) ?? ''),
    get contentHash() {
      hash ??= contentHash(raw);
      return hash;
    },
  };
}

interface Judging {
  readonly read: RawServers;
  readonly lists: ServerLists;
  /** What other settings forbid. */
  refusal(entry: McpEntry): string | undefined;
  readonly variables: Variables;
  readonly ofProject: ProjectServers;
  readonly problems: ConfigProblem[];
}

async function declarationOf(server: RawServer, judge: Judging): Promise<ServerDeclaration> {
  const { name, scope, raw, ofHost, file } = server;
  const { variables, problems } = judge;
  const line = server.line([]);
  const base = {
    name,
    key: serverKey(name),
    scope,
    origin: { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) },
  };
  const parsed = parseEntry(raw, { scope, variables, ofHost });
  const say = (at: readonly (string | number)[], message: string, remedy: string): void => {
    const where = server.line(at);
    problems.push({
      severity: 'warning',
      ...(file === undefined ? {} : { file }),
      ...(where === undefined ? {} : { line: where }),
      message: `MCP server "${visible(name)}": ${visible(message)}`,
      remedy,
    });
  };
  for (const { way, message, remedy } of parsed.warnings) say(way, message, remedy);
  const wrong = nameProblem(name) ?? (parsed.ok ? undefined : parsed.reason);
  if (wrong !== undefined || !parsed.ok) {
    const reason = wrong ?? 'it cannot be understood';
    say(parsed.ok ? [] : parsed.way, `${reason}.`, 'It is not used.');
    return declare(base, raw, { entry: undefined, standing: { kind: 'invalid', reason } });
  }
  const { entry, idle } = parsed;
  const blocked = judge.refusal(entry) ?? blockedReason(judge.lists, { name, entry });
  if (blocked !== undefined)
    return declare(base, raw, { entry, standing: { kind: 'blocked', reason: blocked } });
  const standing = switched(server, judge) ?? idle ?? (await approval(server, judge));
  return declare(base, raw, { entry, standing });
}

/** What a person switched off for this project. */
function switched({ name, scope }: RawServer, { read }: Judging): Standing | undefined {
  if (read.switchedOff.has(name))
    return { kind: 'disabled', reason: 'it is switched off for this project (disabledMcpServers)' };
  if (read.switchesUnknown === undefined || (scope !== 'project' && scope !== 'plugin'))
    return undefined;
  // fail-closed: it may be switched off there.
  const reason = `${read.switchesUnknown} cannot be read, which may switch it off`;
  return { kind: 'disabled', reason };
}

async function approval(server: RawServer, judge: Judging): Promise<Standing> {
  if (server.scope !== 'project') return { kind: 'ready' };
  return await judge.ofProject.standing(server, contentHash(server.raw));
}

interface Settled {
  readonly servers: readonly ServerDeclaration[];
  readonly hidden: readonly ServerDeclaration[];
  /** Declarations that became invalid, with what they were. */
  readonly replaced: ReadonlyMap<ServerDeclaration, ServerDeclaration>;
}

/** One for each name; what is left and could be taken for another is refused. */
function settleNames(declared: readonly ServerDeclaration[], problems: ConfigProblem[]): Settled {
  const chosen = new Map<string, ServerDeclaration>();
  const hidden: ServerDeclaration[] = [];
  for (const one of declared) {
    const before = chosen.get(one.name);
    if (before === undefined) chosen.set(one.name, one);
    else if (yields(before)) {
      chosen.set(one.name, one);
      hidden.push(before);
    } else hidden.push(one);
  }
  // The order of the sources is that of strength, also for a name that yielded its place.
  const left = declared.filter((one) => chosen.get(one.name) === one);
  const replaced = new Map<ServerDeclaration, ServerDeclaration>();
  const passed: ServerDeclaration[] = [];
  const servers = new Map<ServerDeclaration, ServerDeclaration>();
  for (const one of [...left.filter((each) => !yields(each)), ...left.filter(yields)]) {
    const other =
      one.standing.kind === 'invalid'
        ? undefined
        : passed.find(({ key }) => namesCollide(key, one.key));
    if (other === undefined) {
      if (one.standing.kind !== 'invalid') passed.push(one);
      servers.set(one, one);
    } else {
      const refused = refusedFor(one, other, problems);
      replaced.set(refused, one);
      servers.set(one, refused);
    }
  }
  return { servers: left.map((one) => servers.get(one) ?? one), hidden, replaced };
}

/** A repository's entry that nobody agreed to does not take a person's own server away. */
function yields({ scope, standing }: ServerDeclaration): boolean {
  return scope === 'project' && standing.kind !== 'ready';
}

/** fail-closed: a rule or an answer for the one would reach the other. */
function refusedFor(
  one: ServerDeclaration,
  other: ServerDeclaration,
  problems: ConfigProblem[],
): ServerDeclaration {
  const reason = `the names of its tools cannot be told from those of "${visible(other.name)}"`;
  problems.push({
    severity: 'warning',
    ...one.origin,
    message: `MCP server "${visible(one.name)}": ${reason}.`,
    remedy: 'Rename one of the two.',
  });
  return { ...one, entry: undefined, standing: { kind: 'invalid', reason } };
}
