import type { Client } from '@modelcontextprotocol/client';
import { orAbort } from '../../lib/abort.js';
import { isRecord } from '../../lib/own.js';
import { basename, toPosix } from '../../platform/fs/paths.js';
import { createFetch } from '../../platform/http/fetch.js';
import { VERSION } from '../../version.js';
import type { ElicitAnswer, ElicitRequest, ListKind, McpEntry, RemoteEntry } from '../server.js';
import type { BoundedTransport } from '../transport/bounded-transport.js';
import {
  checkedHeaders,
  hasAuthorization,
  httpTransport,
  sseTransport,
  WatchedTransport,
} from '../transport/http.js';
import { SdkTransport } from '../transport/sdk.js';
import type { StderrLog } from '../transport/stderr-log.js';
import { StdioTransport, stdioRequest } from '../transport/stdio.js';
import { WebSocketTransport } from '../transport/web-socket.js';
import { classify, Failed, type Failure } from './classify.js';
import type { ConnectionDeps } from './deps.js';
import { loadLibrary, type McpLibrary } from './library.js';
import { type ConnectionTimeouts, LONGEST_TIMER_MS } from './timeouts.js';

/** The protocol generations: `legacy` starts with `initialize` and a session, `modern` has neither. */
export type Era = 'legacy' | 'modern';

export interface SessionParts {
  readonly name: string;
  readonly entry: McpEntry;
  readonly deps: ConnectionDeps;
  readonly timeouts: ConnectionTimeouts;
  readonly log: StderrLog | undefined;
  /** The last known generation; spares a legacy server the unknown first request. */
  readonly knownEra: Era | undefined;
  elicit(request: Omit<ElicitRequest, 'server'>, signal: AbortSignal): Promise<ElicitAnswer>;
  changed(kind: ListKind): void;
  /** Called when the connection ends for any reason. */
  closed(): void;
}

/** An established connection. */
export interface Session {
  readonly client: Client;
  readonly era: Era;
  /** The library parses its messages without our checks. */
  readonly isRemote: boolean;
  /** Classifies what a request threw. */
  failure(thrown: unknown): Failure;
  stderr(): string;
  /** Why the server was disconnected for flooding, if it was. */
  cutFor(): string | undefined;
  close(): Promise<void>;
}

interface Opened {
  readonly transport: BoundedTransport;
  readonly hasOwnAuthorization: boolean;
}

/** Connects once; `classify` understands what it throws. */
export async function openSession(parts: SessionParts, signal: AbortSignal): Promise<Session> {
  const library = await loadLibrary();
  const { type } = parts.entry;
  const mayBeModern = type === 'stdio' || type === 'http' || type === 'proxy';
  if (!mayBeModern || parts.knownEra === 'legacy') return shake(library, parts, 'legacy', signal);
  try {
    return await shake(library, parts, 'auto', signal);
  } catch (thrown) {
    if (signal.aborted || !isWorthOldProtocol(classify(library, thrown))) throw thrown;
    return shake(library, parts, 'legacy', signal);
  }
}

/**
 * Whether to retry with the legacy protocol: old servers may crash, hang or send an error page at an unknown
 * method.
 */
function isWorthOldProtocol(failure: Failure): boolean {
  if (failure.kind === 'ended') return failure.end.startError === undefined;
  if (failure.kind === 'http') return failure.status >= 500;
  if (failure.kind === 'network') return ['reset', 'protocol'].includes(failure.network);
  return ['closed', 'timeout', 'protocol'].includes(failure.kind);
}

async function shake(
  library: McpLibrary,
  parts: SessionParts,
  mode: 'auto' | 'legacy',
  signal: AbortSignal,
): Promise<Session> {
  const opened = await orAbort(openTransport(library, parts), signal);
  const { transport } = opened;
  const client = newClient(library, parts, mode);
  try {
    const connecting = client.connect(transport, { signal, timeout: LONGEST_TIMER_MS });
    await orAbort(connecting, signal);
  } catch (thrown) {
    const { kind } = classify(library, thrown);
    const isGone = kind === 'closed' || kind === 'not-sent';
    const ended =
      isGone && transport instanceof StdioTransport ? await transport.end(500) : undefined;
    // The connect has failed already, so an error while closing is ignored.
    await transport.close().catch(() => {});
    const { cutFor } = transport;
    if (cutFor !== undefined) throw new Failed({ kind: 'flooded', message: cutFor });
    if (kind === 'auth' && opened.hasOwnAuthorization) throw new Failed({ kind, isOwn: true });
    throw ended ?? thrown;
  }
  client.onclose = () => parts.closed();
  return toSession(library, parts, client, opened);
}

function toSession(
  library: McpLibrary,
  parts: SessionParts,
  client: Client,
  { transport, hasOwnAuthorization }: Opened,
): Session {
  const era = client.getProtocolEra() ?? 'legacy';
  transport.connected({ answersRequests: era === 'legacy' });
  if (era === 'modern') void listenForChanges(client);
  const isWatched = transport instanceof WatchedTransport;
  return {
    client,
    era,
    isRemote: isWatched,
    failure(thrown) {
      const failure = classify(library, thrown);
      // The header comes from the entry or its helper, so a sign-in would not help.
      if (failure.kind === 'auth' && hasOwnAuthorization) return { ...failure, isOwn: true };
      if (failure.kind === 'http') {
        const hasSession =
          isWatched && (transport.sessionId !== undefined || parts.entry.type === 'sse');
        return { ...failure, isSessionGone: failure.isSessionGone && hasSession };
      }
      if (failure.kind !== 'closed') return failure;
      const { cutFor } = transport;
      if (cutFor !== undefined) return { kind: 'flooded', message: cutFor };
      const isTooLong = transport instanceof StdioTransport && transport.wroteTooLong;
      return isTooLong ? { kind: 'too-long' } : failure;
    },
    stderr: () => (transport instanceof StdioTransport ? transport.stderr : ''),
    cutFor: () => transport.cutFor,
    close: async () => {
      if (isWatched) await transport.leave(parts.timeouts.closeMs);
      await client.close().catch(() => {});
      // The library forgets a transport that closed itself, but its child may have left processes behind.
      await transport.close().catch(() => {});
    },
  };
}

const ANY_SCHEMA = { getValidator: () => (data: unknown) => ({ valid: true as const, data }) };

function newClient(library: McpLibrary, parts: SessionParts, mode: 'auto' | 'legacy'): Client {
  const { deps, timeouts } = parts;
  const info = deps.clientInfo ?? { name: 'portcullis', version: VERSION };
  // In-process servers neither ask nor get asked, because not all hosts relay requests.
  const isSdk = parts.entry.type === 'sdk';
  const client = new library.Client(info, {
    capabilities: isSdk ? {} : { roots: { listChanged: true }, elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode, probe: { timeoutMs: timeouts.probeMs } },
    // Results are validated elsewhere, with limits.
    jsonSchemaValidator: ANY_SCHEMA as never,
  });
  for (const kind of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => parts.changed(kind));
  if (isSdk) return client;
  client.setRequestHandler('roots/list', () => ({
    roots: deps.roots().map((path) => ({ uri: fileUrl(path), name: basename(path) })),
  }));
  client.setRequestHandler('elicitation/create', async (request, context) => {
    const { action, content } = await parts.elicit(asked(request.params), context.mcpReq.signal);
    return { action, content: action === 'accept' ? (content as never) : undefined };
  });
  return client;
}

/** Passes on only the fields that the protocol defines. */
function asked(params: Readonly<Record<string, unknown>>): Omit<ElicitRequest, 'server'> {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const { mode, url, elicitationId, requestedSchema: schema } = params;
  const message = textOf(params.message) ?? '';
  return mode === 'url'
    ? { mode, message, url: textOf(url), elicitationId: textOf(elicitationId) }
    : { mode: 'form', message, requestedSchema: isRecord(schema) ? schema : undefined };
}

async function openTransport(library: McpLibrary, parts: SessionParts): Promise<Opened> {
  const { entry, deps, timeouts, name, log } = parts;
  const monotonic = (): number => deps.clock.monotonic();
  if (entry.type === 'stdio') {
    const request = stdioRequest(name, entry, deps);
    const how = { monotonic, processes: deps.processes, log, closeMs: timeouts.closeMs };
    return { transport: new StdioTransport(request, how), hasOwnAuthorization: false };
  }
  if (entry.type === 'sdk') {
    if (deps.sdkTransport === undefined) throw new Failed({ kind: 'closed' });
    return {
      transport: new SdkTransport(deps.sdkTransport, monotonic),
      hasOwnAuthorization: false,
    };
  }
  const headers = await allHeaders(entry, deps);
  const hasOwnAuthorization = hasAuthorization(headers);
  if (entry.type === 'ws') {
    const { connectMs, closeMs } = timeouts;
    const how = { monotonic, url: entry.url, headers, environment: deps.env, connectMs, closeMs };
    return { transport: new WebSocketTransport(how), hasOwnAuthorization };
  }
  const remote = {
    library,
    url: new URL(entry.url),
    fetch: createFetch({
      environment: deps.env,
      connectTimeoutMs: timeouts.connectMs,
      maxBodyBytes: MAX_MESSAGE_BYTES,
    }),
    headers,
    freshHeaders: deps.headers === undefined ? undefined : () => allHeaders(entry, deps),
    authProvider: hasOwnAuthorization ? undefined : deps.authProvider,
    stepUp: deps.stepUp,
    monotonic,
  };
  const transport = entry.type === 'sse' ? sseTransport(remote) : httpTransport(remote);
  return { transport, hasOwnAuthorization };
}

/**
 * Limits one message: parsed, it takes up to 35 times its size in memory. Stdio and event streams have the
 * same limit in their readers.
 */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

async function allHeaders(
  entry: RemoteEntry,
  deps: ConnectionDeps,
): Promise<Record<string, string>> {
  if (deps.headers === undefined) return checkedHeaders(entry.headers);
  const helped = await deps.headers();
  if (!helped.ok) throw new Failed({ kind: 'headers', message: helped.error });
  const theirs = new Set(Object.keys(helped.value).map((name) => name.toLowerCase()));
  const kept = Object.entries(entry.headers).filter(([name]) => !theirs.has(name.toLowerCase()));
  return checkedHeaders({ ...Object.fromEntries(kept), ...helped.value });
}

/** A stream that ends sooner counts as failed. */
const SHORT_LISTENING_MS = 10_000;
const LISTEN_ATTEMPTS = 3;

/** In the modern protocol only subscribers get change notifications; ends with the connection. */
async function listenForChanges(client: Client): Promise<void> {
  const offers = client.getServerCapabilities();
  const filter = {
    toolsListChanged: offers?.tools?.listChanged === true || undefined,
    promptsListChanged: offers?.prompts?.listChanged === true || undefined,
    resourcesListChanged: offers?.resources?.listChanged === true || undefined,
  };
  if (!Object.values(filter).includes(true)) return;
  for (let failures = 0; failures < LISTEN_ATTEMPTS && client.transport !== undefined; ) {
    const startedAt = performance.now();
    try {
      const subscription = await client.listen(filter);
      if ((await subscription.closed) !== 'remote') return;
    } catch {
      // The server does not support what it advertises; lists are still fetched on demand.
    }
    const lasted = performance.now() - startedAt;
    failures = lasted < SHORT_LISTENING_MS ? failures + 1 : 0;
  }
}

function fileUrl(path: string): string {
  const parts = toPosix(path).split('/').map(encodeURIComponent);
  const encoded = parts.join('/').replace(/^([A-Za-z])%3A/, '/$1:');
  return `file://${encoded.startsWith('/') ? '' : '/'}${encoded}`;
}
