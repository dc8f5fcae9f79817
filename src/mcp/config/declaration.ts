import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { McpEntry, ServerDeclaration, Standing } from '../server.js';
import { variablesIn } from './expand.js';
import { serverKey } from './names.js';
import type { RawServer } from './types.js';

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

/** Hashes an entry as written; key order and whitespace do not matter. */
export function contentHash(raw: unknown): string {
  return sha256(canonicalJson(['mcp server', 1, raw]));
}

/**
 * The variables that decide what an entry starts or calls. Those in `env` and `headers` do not count, because
 * tokens there may change daily.
 */
export function startVariables(raw: unknown): readonly string[] {
  if (!isRecord(raw)) return [];
  // The project directory is the same for every approval of the project.
  return variablesIn([raw.command, raw.args, raw.url]).filter((name) => name !== PROJECT_VARIABLE);
}

/** The expanded command or address when it contains variables; approvals are bound to it. */
export function filledText(raw: unknown, entry: McpEntry | undefined): string | undefined {
  if (startVariables(raw).length === 0 || entry === undefined || entry.type === 'sdk') {
    return undefined;
  }
  const { type } = entry;
  return JSON.stringify(type === 'stdio' ? [type, entry.command, entry.args] : [type, entry.url]);
}

const PROJECT_VARIABLE = 'CLAUDE_PROJECT_DIR';
