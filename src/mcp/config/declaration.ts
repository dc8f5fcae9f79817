import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { EntryOrigin, McpEntry, ServerDeclaration, Standing } from '../server.js';
import { variablesIn } from './expand.js';
import { serverKey } from './names.js';
import type { RawServer } from './types.js';

/**
 * A server as a file, a flag or the host declares it. What takes its time is computed when it is wanted:
 * the hash of the entry, and its line.
 */
export class Declaration implements ServerDeclaration {
  readonly name: string;
  readonly key: string;
  readonly scope: ServerDeclaration['scope'];
  readonly entry: McpEntry | undefined;
  readonly origin: EntryOrigin;
  readonly standing: Standing;
  readonly #server: RawServer;
  #hash: string | undefined;

  constructor(server: RawServer, entry: McpEntry | undefined, standing: Standing) {
    this.name = server.name;
    this.key = serverKey(server.name);
    this.scope = server.scope;
    this.entry = entry;
    this.origin = new Origin(server);
    this.standing = standing;
    this.#server = server;
  }

  get contentHash(): string {
    this.#hash ??= contentHash(this.#server.raw);
    return this.#hash;
  }

  get filled(): string | undefined {
    return filledText(this.#server.raw, this.entry);
  }

  /** As it stands there, before variables were put in. */
  get written(): unknown {
    return this.#server.raw;
  }

  /** fail-closed: the same entry, which may not be used after all. */
  refused(reason: string): Declaration {
    return new Declaration(this.#server, undefined, { kind: 'invalid', reason });
  }
}

class Origin implements EntryOrigin {
  readonly file?: string;
  readonly #server: RawServer;

  constructor(server: RawServer) {
    if (server.file !== undefined) this.file = server.file;
    this.#server = server;
  }

  get line(): number | undefined {
    return this.#server.line([]);
  }
}

/** As parts of a message. */
export function placeOf({ file, line }: EntryOrigin): { file?: string; line?: number } {
  return {
    file,
    line,
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
