import { err, ok } from '../../src/lib/result.js';
import type {
  McpConnection,
  RawPrompt,
  RawPromptMessage,
  RawResource,
  RawResourceContent,
  SafeError,
  SafeErrorCode,
} from '../../src/mcp/server.js';

export interface FakeServer {
  readonly resources?: readonly RawResource[];
  readonly contents?: Readonly<Record<string, readonly RawResourceContent[]>>;
  readonly prompts?: readonly RawPrompt[];
  readonly messages?: readonly RawPromptMessage[];
  /** Every request fails so. */
  readonly fails?: SafeErrorCode;
}

/** A server that answers from memory; `seen` holds what it was asked. */
export function fakeConnection(
  name: string,
  server: FakeServer = {},
): McpConnection & { readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const failure = (code: SafeErrorCode): { ok: false; error: SafeError } =>
    err({ code, message: `MCP server "${name}": ${code}`, mayHaveRun: false });
  const answer = async <T>(asked: unknown, value: T | undefined) => {
    seen.push(asked);
    if (server.fails !== undefined) return failure(server.fails);
    return value === undefined ? failure('not-supported') : ok(value);
  };
  const status = { name, scope: 'user', transport: 'stdio', state: 'connected' } as const;
  return {
    seen,
    declaration: {
      name,
      key: name.replace(/[^A-Za-z0-9_-]/g, '_'),
      scope: 'user',
      entry: { type: 'stdio', command: 'none', args: [], env: {} },
      origin: {},
      standing: { kind: 'ready' },
      contentHash: '',
    },
    status: () => status,
    connect: async () => ok(status),
    reconnect: async () => ok(status),
    listTools: () => answer('tools', []),
    listResources: () => answer('resources', server.resources),
    listPrompts: () => answer('prompts', server.prompts),
    call: async () => failure('not-supported'),
    readResource: (uri) => answer({ uri }, server.contents?.[uri]),
    getPrompt: (prompt, args) => answer({ prompt, args }, server.messages),
    onChange: () => undefined,
    close: async () => undefined,
  };
}
