import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { McpEntry, ServerDeclaration, Standing } from '../server.js';
import { variablesIn } from './expand.js';
import { serverKey } from './names.js';
import type { RawServer } from './types.js';

/** A server as a file, a flag or the host declares it. */
export interface Declaration extends ServerDeclaration {
  readonly server: RawServer;
}

export function declare(
  server: RawServer,
  entry: McpEntry | undefined,
  standing: Standing,
): Declaration {
  const { name, scope, file, raw } = server;
  return {
    name,
    key: serverKey(name),
    scope,
    entry,
    origin: { file, line: server.line([]) },
    standing,
    contentHash: contentHash(raw),
    filled: filledText(raw, entry),
    server,
  };
}

/** Of an entry as written; order of keys and blanks do not count. */
export function contentHash(raw: unknown): string {
  return sha256(canonicalJson(['mcp server', 1, raw]));
}

/**
 * The variables by which an entry chooses what is started or called. What stands in `env` and `headers`
 * is handed over to that, and may change from day to day as tokens do.
 */
export function startVariables(raw: unknown): readonly string[] {
  if (!isRecord(raw)) return [];
  // It is the same for all that is approved of one project.
  return variablesIn([raw.command, raw.args, raw.url]).filter((name) => name !== PROJECT_VARIABLE);
}

/** What an entry starts or calls now, where variables have a part in that: approvals are bound to it. */
export function filledText(raw: unknown, entry: McpEntry | undefined): string | undefined {
  if (startVariables(raw).length === 0 || entry === undefined || entry.type === 'sdk') {
    return undefined;
  }
  const { type } = entry;
  return JSON.stringify(type === 'stdio' ? [type, entry.command, entry.args] : [type, entry.url]);
}

const PROJECT_VARIABLE = 'CLAUDE_PROJECT_DIR';
