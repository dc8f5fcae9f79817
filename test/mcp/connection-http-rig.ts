import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

export interface Seen {
  readonly http: string;
  readonly method: string;
  readonly name: string;
  readonly headers: IncomingMessage['headers'];
}

export interface HttpRig {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** How often a method came. */
  count(method: string): number;
  /** As after a restart. */
  forgetSessions(): void;
  close(): Promise<void>;
}

type Body = { id?: number | string; method?: string; params?: Record<string, unknown> };

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Body;
  /** How many of this method came before. */
  readonly before: number;
  json(status: number, value: unknown, headers?: Record<string, string>): void;
}

/** A scripted MCP server over HTTP, of the old protocol. `on` returns true where it has answered itself. */
export async function httpRig(
  on: (exchange: Exchange) => boolean | undefined = () => false,
  port = 0,
): Promise<HttpRig> {
  const seen: Seen[] = [];
  const sessions = new Set<string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body: Body = text === '' ? {} : JSON.parse(text);
    const method = body.method ?? '';
    const before = seen.filter((one) => one.method === method).length;
    seen.push({
      http: `${request.method} ${request.url}`,
      method,
      name: String(body.params?.name ?? ''),
      headers: request.headers,
    });
    const json: Exchange['json'] = (status, value, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(value));
    };
    if (on({ request, response, body, before, json }) === true) return;
    answer(request, response, body, sessions, json);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${actual}/mcp`,
    port: actual,
    seen,
    count: (method) => seen.filter((one) => one.method === method).length,
    forgetSessions: () => sessions.clear(),
    close,
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: Body,
  sessions: Set<string>,
  json: Exchange['json'],
): void {
  const { id, method, params } = body;
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'GET' ? 405 : 200).end();
    return;
  }
  if (method === 'initialize') {
    const session = randomUUID();
    sessions.add(session);
    const result = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'rig', version: '1' },
    };
    json(200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': session });
    return;
  }
  const session = request.headers['mcp-session-id'];
  if (typeof session !== 'string') {
    json(400, {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: 'Bad Request: no session' },
    });
  } else if (!sessions.has(session)) {
    json(404, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } });
  } else if (id === undefined) response.writeHead(202).end();
  else if (method === 'tools/list') {
    json(200, {
      jsonrpc: '2.0',
      id,
      result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    });
  } else {
    const text = JSON.stringify(params?.arguments ?? {});
    json(200, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
  }
}
