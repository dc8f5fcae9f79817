import { visible } from '../../lib/text/visible.js';
import { contentHash } from '../config/declaration.js';
import { parseEntry } from '../config/entry.js';
import { credentialsOf } from '../config/entry-text.js';
import type { Variables } from '../config/expand.js';
import { nameProblem, namesCollide, serverKey } from '../config/names.js';
import { blockedReason, type ServerLists } from '../config/server-lists.js';
import type { ServerDeclaration } from '../server.js';

/** A server in an agent's definition. */
export interface BroughtServer {
  readonly name: string;
  readonly config: unknown;
}

export interface AgentSource {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** A project's file declares the agent, so its servers count as a project's. */
  readonly ofProject: boolean;
  /** Only a host's agent can have in-process servers. */
  readonly ofHost: boolean;
}

export interface BroughtServers {
  /** The usable servers. */
  readonly declarations: readonly ServerDeclaration[];
  /** Tells people which servers are unused and why. */
  readonly notes: readonly string[];
}

/** Checks an agent's servers by the same rules as all others, without starting them. */
export function readBrought(
  servers: readonly BroughtServer[],
  by: AgentSource,
  around: {
    readonly variables: Variables;
    readonly lists: ServerLists;
    /** Names of the session's servers. */
    readonly taken: readonly string[];
  },
): BroughtServers {
  const declarations: ServerDeclaration[] = [];
  const notes: string[] = [];
  for (const { name, config } of servers) {
    const key = serverKey(name);
    const parsed = parseEntry(config, {
      scope: by.ofProject ? 'project' : 'agent',
      variables: around.variables,
      ofHost: by.ofHost,
    });
    const others = [...around.taken.map(serverKey), ...declarations.map((one) => one.key)];
    const why =
      nameProblem(name) ??
      // fail-closed: a rule or an answer for one server would also apply to the other.
      (others.some((other) => namesCollide(other, key))
        ? 'the session has a server whose tools are called like this one’s'
        : undefined) ??
      (by.ofProject ? credentialProblem(config, around.variables) : undefined) ??
      (parsed.ok
        ? (parsed.idle?.reason ?? blockedReason(around.lists, { name, entry: parsed.entry }))
        : parsed.reason);
    if (why !== undefined || !parsed.ok) {
      notes.push(`its server "${visible(name)}" is not used: ${visible(why ?? '')}`);
      continue;
    }
    declarations.push({
      name,
      key,
      scope: 'agent',
      entry: parsed.entry,
      origin: {
        file: by.file,
        line: by.line,
      },
      standing: { kind: 'ready' },
      contentHash: contentHash(config),
    });
  }
  return { declarations, notes };
}

/** fail-closed: trusting a project does not cover passing credentials, which need approval by name. */
function credentialProblem(config: unknown, variables: Variables): string | undefined {
  const names = credentialsOf(config, variables);
  if (names.length === 0) return undefined;
  return `it wants ${names.join(', ')}, and a project's agent is given no credentials; declare the server in .mcp.json, where each can be approved, or in your own settings`;
}
