// Tools that start and stop a development server, so that the model needs no background shell for it, and
// the server ends with the program.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createSdkMcpServer, query, tool } from 'portcullis';
import { all, stage, toolResults } from './support.mjs';

let server;
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const dev = createSdkMcpServer({
  name: 'dev',
  tools: [
    tool('start', 'Starts the site on a free port.', {}, async () => {
      server = createServer((_request, response) => response.end('hello'));
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      return text(`running on port ${server.address().port}`);
    }),
    tool('stop', 'Stops the site.', {}, async () => {
      await new Promise((resolve) => server.close(resolve));
      server = undefined;
      return text('stopped');
    }),
  ],
});
const at = await stage({
  script: [{ tool: 'mcp__dev__start' }, { tool: 'mcp__dev__stop' }, 'It starts and stops.'],
});
try {
  await all(
    query({
      prompt: 'does the site start?',
      options: { ...at.options, mcpServers: { dev }, allowedTools: ['mcp__dev'] },
    }),
  );
  const [started, stopped] = toolResults(at.model);
  assert.match(started, /running on port \d+/);
  assert.match(stopped, /stopped/);
  assert.equal(server, undefined);
  console.log('started and stopped');
} finally {
  server?.close();
  await at.close();
}
