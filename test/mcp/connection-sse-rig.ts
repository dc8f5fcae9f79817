import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

export interface SseRig {
  readonly url: string;
  /** Ends all streams, as a proxy or a restart does. */
  cut(): void;
  streams(): number;
  forget: boolean;
  endpoint: string | undefined;
}

/** A scripted MCP server over SSE. `members` gives those of the answer to a call, in the place of its result. */
export async function sseRig(members?: (id: unknown) => Record<string, unknown>): Promise<SseRig> {
  const open = new Map<string, ServerResponse>();
  let count = 0;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const id = String(++count);
      open.set(id, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${rig.endpoint ?? `/message?s=${id}`}\n\n`);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    const stream = open.get(new URL(request.url ?? '/', 'http://x').searchParams.get('s') ?? '');
    if (rig.forget && method === 'tools/call') {
      rig.forget = false;
      response.writeHead(404).end('no such session');
      return;
    }
    response.writeHead(202).end();
    const say = (more: Record<string, unknown>): void => {
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...more })}\n\n`);
    };
    const reply = (result: unknown): void => say({ result });
    if (method === 'initialize') {
      const serverInfo = { name: 'sse', version: '1' };
      reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (params?.name === 'crash') stream?.destroy();
    else if (method === 'tools/call' && members !== undefined) say(members(id));
    else if (method === 'tools/call') {
      reply({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const rig: SseRig = {
    url: `http://127.0.0.1:${port}/sse`,
    cut: () => {
      for (const stream of open.values()) stream.destroy();
    },
    streams: () => count,
    forget: false,
    endpoint: undefined,
  };
  return rig;
}
