// A stdio MCP server of the old protocol whose lists are what its argument (JSON) says.
import { createInterface } from 'node:readline';

const lists = JSON.parse(process.argv[2] ?? '{}');
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const [kind] = (method ?? '').split('/');
  if (method === 'initialize') {
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const serverInfo = { name: 'lists', version: '1' };
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method?.endsWith('/list') && lists[kind] === 'error') {
    write({ id, error: { code: -32603, message: 'no list today' } });
  } else if (method?.endsWith('/list') && lists[kind] !== undefined) {
    const { many, name } = lists[kind];
    const items =
      many === undefined
        ? lists[kind]
        : Array.from({ length: many }, (_, at) => ({ name: `${name}${at}`, uri: `x:${at}` }));
    write({ id, result: { [kind]: items } });
  } else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
});
