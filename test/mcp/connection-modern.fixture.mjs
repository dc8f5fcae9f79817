// A server of the new protocol generation, for stdio and (imported) for HTTP.
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const say = (text) => ({ content: [{ type: 'text', text }] });
const anything = fromJsonSchema({ type: 'object' });

export function modernServer({ onGrow } = {}) {
  const server = new McpServer(
    { name: 'modern', version: '2' },
    { capabilities: { tools: { listChanged: true } }, instructions: 'be modern' },
  );
  server.registerTool('echo', { description: 'echo', inputSchema: anything }, async (args) =>
    say(JSON.stringify(args)),
  );
  server.registerTool(
    'routed',
    {
      description: 'a parameter that goes into a header',
      inputSchema: fromJsonSchema({
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      }),
    },
    async (args) => say(JSON.stringify(args)),
  );
  server.registerTool(
    'misrouted',
    {
      description: 'a header that cannot be one',
      inputSchema: fromJsonSchema({
        type: 'object',
        properties: { region: { type: 'object', 'x-mcp-header': 'Region' } },
      }),
    },
    async () => say('never'),
  );
  server.registerTool(
    'ask',
    { description: 'ask', inputSchema: anything },
    async (_args, context) => {
      const told = acceptedContent(context.mcpReq.inputResponses, 'name');
      if (told !== undefined) return say(`hello ${told.name}`);
      if (context.mcpReq.inputResponses !== undefined) return say('nobody there');
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'your name?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
          }),
        },
      });
    },
  );
  server.registerTool(
    'slow',
    { description: 'slow', inputSchema: anything },
    async (args, context) => {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, args.ms);
        context.mcpReq.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      return say('slow');
    },
  );
  server.registerTool('grow', { description: 'grow', inputSchema: anything }, async () => {
    if (onGrow) onGrow();
    else server.sendToolListChanged();
    return say('grown');
  });
  return server;
}

if (process.argv[2] === 'stdio')
  serveStdio(() => modernServer(), { legacy: process.argv[3] ?? 'serve' });
