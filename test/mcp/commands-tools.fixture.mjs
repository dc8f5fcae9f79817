// A stdio MCP server whose tools stand in the file that it is given: name → description, or a whole tool.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file, journal] = process.argv.slice(2);
const tools = () =>
  Object.entries(JSON.parse(readFileSync(file, 'utf8'))).map(([name, said]) => ({
    name,
    inputSchema: { type: 'object' },
    ...(typeof said === 'string' ? { description: said } : said),
  }));
/** What it says about itself: a file of its own, so that its entry stays the same. */
const words = `${file}.words`;
const instructions = existsSync(words) ? readFileSync(words, 'utf8') : process.env.INSTRUCTIONS;
process.stderr.write('a line for the log\n');
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'from-file', version: '7' },
    ...(instructions ? { instructions } : {}),
  }),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': (params) => {
    if (journal) appendFileSync(journal, `${params.name} ${JSON.stringify(params.arguments)}\n`);
    if (params.name === 'fails') return { content: [{ type: 'text', text: 'bad' }], isError: true };
    if (params.name === 'huge') return { content: [{ type: 'text', text: 'x'.repeat(8_000_000) }] };
    const text = process.env.ANSWER ?? JSON.stringify(params.arguments);
    return { content: [{ type: 'text', text }] };
  },
};
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = answers[method];
    const said = answer
      ? { result: answer(params ?? {}) }
      : { error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`);
  })
  .on('close', () => process.exit(0));
