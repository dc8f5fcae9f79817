import { visible } from '../../lib/text/visible.js';
import type { ConfigProblem } from '../../settings/types.js';
import type { AskedServer } from '../approval/project-approvals.js';
import { isPendingServer, judgeProjectServers } from '../approval/server-approval.js';
import type { McpEntry, ServerDeclaration, Standing } from '../server.js';
import {
  contentHash,
  type Declaration,
  declare,
  filledText,
  startVariables,
} from './declaration.js';
import { parseEntry } from './entry.js';
import type { EntryWarning } from './entry-reader.js';
import { entryLines, findSentKey, valueLines } from './entry-text.js';
import type { Variables } from './expand.js';
import { nameProblem, TakenKeys } from './names.js';
import { blockedReason, readServerLists, type ServerLists } from './server-lists.js';
import { readSources } from './sources.js';
import type { McpConfigDeps, McpConfiguration, RawServer, RawServers } from './types.js';

export type { McpConfigDeps, McpConfiguration } from './types.js';

/**
 * Loads every declared server and its standing without starting any. An unusable entry stays in the list with
 * its reason and does not affect others.
 */
export async function loadMcpConfiguration(deps: McpConfigDeps): Promise<McpConfiguration> {
  const read = await readSources(deps);
  const project = await deps.fs.realPath(deps.levels.at(-1) ?? deps.cwd);
  const problems: ConfigProblem[] = [...read.problems];
  const { lists, problems: listProblems } = readServerLists(deps.values, deps.startEnv);
  problems.push(...listProblems);
  const tell = (message: string): void =>
    void problems.push({
      severity: 'warning',
      message,
      remedy: 'Make the state directory (PORTCULLIS_HOME) writable.',
    });
  const variables: Variables = { ...deps.env, CLAUDE_PROJECT_DIR: project };
  const ofProject = judgeProjectServers({ project, tell, variables, ...deps });
  const judge: Judging = {
    read,
    lists,
    refusal: (entry) =>
      entry.type === 'proxy' && deps.values.get('disableClaudeAiConnectors')?.value === true
        ? 'disableClaudeAiConnectors forbids connectors of an account'
        : undefined,
    variables,
    problems,
  };
  const declared: Declaration[] = [];
  for (const server of read.servers) {
    const { entry, standing } = judged(server, judge);
    const settled = standing ?? (await ofProject(server, askedOf(server, entry)));
    declared.push(declare(server, entry, settled));
  }
  const { servers, hidden } = settleNames(declared, problems);
  if (deps.interactive !== true) problems.push(...servers.flatMap(waiting));
  return {
    servers,
    hidden,
    problems,
    exclusive: read.exclusive,
    project,
    describe: (server) => entryLines(writtenOf(server), variables),
    standsFor: (server) => valueLines(startVariables(writtenOf(server)), variables),
    written: writtenOf,
  };
}

function askedOf({ name, raw }: RawServer, entry: McpEntry | undefined): AskedServer {
  return { name, contentHash: contentHash(raw), filled: filledText(raw, entry) };
}

/** Without a dialog a warning has to explain why the server is missing. */
function waiting({ name, origin, standing }: ServerDeclaration): readonly ConfigProblem[] {
  if (!isPendingServer(standing)) return [];
  const { why, remedy } = standing;
  const message = `MCP server "${visible(name)}" is not used: ${visible(why)}.`;
  return [{ severity: 'warning', ...origin, message, remedy: `To use it: ${visible(remedy)}` }];
}

interface Judging {
  readonly read: RawServers;
  readonly lists: ServerLists;
  /** Why another setting forbids the entry. */
  refusal(entry: McpEntry): string | undefined;
  readonly variables: Variables;
  readonly problems: ConfigProblem[];
}

interface Judged {
  readonly entry: McpEntry | undefined;
  /** Undefined when the project's approvals decide. */
  readonly standing: Standing | undefined;
}

const READY: Standing = { kind: 'ready' };

function judged(server: RawServer, judge: Judging): Judged {
  const { name } = server;
  const parsed = parseEntry(server.raw, {
    scope: server.scope,
    variables: judge.variables,
    ofHost: server.ofHost,
  });
  for (const warning of parsed.warnings) judge.problems.push(problemOf(server, warning));
  const unfit = parsed.ok ? keyProblem(server, judge) : parsed;
  const wrong = nameProblem(name) ?? unfit?.reason;
  if (wrong !== undefined || !parsed.ok) {
    const reason = wrong ?? 'it cannot be understood';
    const way = unfit?.way ?? [];
    const problem = { way, message: `${reason}.`, remedy: 'It is not used.' };
    judge.problems.push(problemOf(server, problem));
    return { entry: undefined, standing: { kind: 'invalid', reason } };
  }
  const { entry, idle } = parsed;
  const reason = judge.refusal(entry) ?? blockedReason(judge.lists, { name, entry });
  if (reason !== undefined) return { entry, standing: { kind: 'blocked', reason } };
  const said = switched(server, judge) ?? idle;
  return { entry, standing: said ?? (server.scope === 'project' ? undefined : READY) };
}

/** fail-closed: a project's server never receives model or cloud keys, whatever the variable is called. */
function keyProblem(
  { raw, scope }: RawServer,
  { variables }: Judging,
): { readonly reason: string; readonly way: readonly string[] } | undefined {
  const key = scope === 'project' ? findSentKey(raw, variables) : undefined;
  if (key === undefined) return undefined;
  const reason = `\${${key.name}} holds a key that is never sent to a server of a project`;
  return { reason, way: [key.field] };
}

function problemOf(server: RawServer, { way, message, remedy }: EntryWarning): ConfigProblem {
  return {
    severity: 'warning',
    file: server.file,
    line: server.line(way),
    message: `MCP server "${visible(server.name)}": ${visible(message)}`,
    remedy,
  };
}

/** The server is switched off for this project. */
function switched({ name, scope }: RawServer, { read }: Judging): Standing | undefined {
  if (read.switchedOff.has(name))
    return { kind: 'disabled', reason: 'it is switched off for this project (disabledMcpServers)' };
  if (read.switchesUnknown === undefined || (scope !== 'project' && scope !== 'plugin'))
    return undefined;
  // fail-closed: the unreadable file may switch it off.
  const reason = `${read.switchesUnknown} cannot be read, which may switch it off`;
  return { kind: 'disabled', reason };
}

interface Settled {
  readonly servers: readonly Declaration[];
  readonly hidden: readonly Declaration[];
}

/** Keeps one server per name and refuses servers whose tool names would collide. */
function settleNames(declared: readonly Declaration[], problems: ConfigProblem[]): Settled {
  const chosen = new Map<string, Declaration>();
  const hidden: Declaration[] = [];
  for (const one of declared) {
    const before = chosen.get(one.name);
    if (before === undefined) chosen.set(one.name, one);
    else if (yields(before)) {
      chosen.set(one.name, one);
      hidden.push(before);
    } else hidden.push(one);
  }
  // `declared` is ordered from the strongest source down, also for names that changed hands.
  const left = declared.filter((one) => chosen.get(one.name) === one);
  const taken = new TakenKeys<Declaration>();
  const refused = new Map<Declaration, Declaration>();
  for (const one of [...left.filter((each) => !yields(each)), ...left.filter(yields)]) {
    if (one.standing.kind === 'invalid') continue;
    const other = taken.find(one.key);
    if (other === undefined) taken.add(one.key, one);
    else refused.set(one, refusedFor(one, other, problems));
  }
  return { servers: left.map((one) => refused.get(one) ?? one), hidden };
}

/** An unapproved project entry does not replace a person's server of the same name. */
function yields({ scope, standing }: Declaration): boolean {
  return scope === 'project' && standing.kind !== 'ready';
}

/** fail-closed: a rule or an answer for one server would also apply to the other. */
function refusedFor(one: Declaration, other: Declaration, problems: ConfigProblem[]): Declaration {
  const reason = `the names of its tools cannot be told from those of "${visible(other.name)}"`;
  problems.push({
    severity: 'warning',
    ...one.origin,
    message: `MCP server "${visible(one.name)}": ${reason}.`,
    remedy: 'Rename one of the two.',
  });
  return declare(one.server, undefined, { kind: 'invalid', reason });
}

/** Undefined for a declaration from another source. */
function writtenOf(server: ServerDeclaration & Partial<Declaration>): unknown {
  return server.server?.raw;
}
