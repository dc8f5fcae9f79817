// An MCP server over streamable HTTP, as its specification says; logs the method and the headers of every request.
import http from 'node:http';

const RESULTS = {
  initialize: ({ instructions }, { protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'web', version: '1' },
    instructions,
  }),
  'tools/list': ({ tools }) => ({
    tools: tools.map(({ do: _, ...tool }) => ({
      description: `does ${tool.name}`,
      inputSchema: { type: 'object' },
      ...tool,
    })),
  }),
  'tools/call': ({ tools }, { name, arguments: args }) => {
    const { do: action = {} } = tools.find((tool) => tool.name === name) ?? {};
    if (action.structured !== undefined)
      return { content: [], structuredContent: action.structured };
    const text = action.text ?? action.error ?? `echo ${JSON.stringify(args)}`;
    return { content: [{ type: 'text', text }], isError: action.error !== undefined };
  },
};

export async function startHttpServer(spec) {
  const log = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { host: _, 'content-length': __, ...headers } = request.headers;
    log.push(`${request.method} ${request.url} ${JSON.stringify(headers)} ${text}`);
    if (spec.status !== undefined) return response.writeHead(spec.status).end('broken');
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const make = RESULTS[method];
    const answer =
      make === undefined
        ? { error: { code: -32601, message: 'unknown method' } }
        : { result: make(spec, params) };
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(method === 'initialize' ? { 'mcp-session-id': 'session-1' } : {}),
    });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    log,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
