// A stdio MCP server that is what the file of its argument says, read anew for every list and call.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const spec = () => JSON.parse(readFileSync(file, 'utf8'));
const log = (line) => appendFileSync(`${file}.log`, `${line}\n`);
log(`start ${process.pid}`);
const { startMs = 0, stubborn = false } = spec();
if (stubborn) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  setInterval(() => {}, 1000);
}
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const changed = (kind) => write({ method: `notifications/${kind}/list_changed` });
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const asked = new Map();
let serial = 1;

const actions = {
  text: (words) => text(words),
  echo: (_, args) => text(`echo ${JSON.stringify(args)}`),
  env: () => text(JSON.stringify(process.env)),
  pid: () => text(`pid ${process.pid}`),
  long: (chars) => text('word '.repeat(chars / 5)),
  image: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  structured: (value) => ({ content: [], structuredContent: value }),
  error: (words) => ({ ...text(words), isError: true }),
  crash: () => process.exit(3),
  hang: () => undefined,
  /** Becomes something else, says so, and answers. */
  become: (next) => {
    writeFileSync(file, JSON.stringify({ ...spec(), ...next }));
    changed('tools');
    return text('became');
  },
  /** Becomes something else, and ends after its answer. */
  flap: (next) => {
    writeFileSync(file, JSON.stringify({ ...spec(), ...next }));
    setTimeout(() => process.exit(0), 20);
    return text('flapped');
  },
  ask: (_value, _args, id) => {
    asked.set(serial, (answer) => write({ id, result: text(`asked ${JSON.stringify(answer)}`) }));
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const params = { message: 'your name?', requestedSchema };
    write({ id: serial++, method: 'elicitation/create', params });
  },
};

function call(id, { name, arguments: args = {} }) {
  const tool = (spec().tools ?? []).find((one) => one.name === name);
  log(`call ${name} ${JSON.stringify(args)}`);
  if (tool === undefined) return write({ id, error: { code: -32602, message: `no tool ${name}` } });
  const [[action, value]] = Object.entries(tool.do ?? { text: 'done' });
  const result = actions[action](value, args, id);
  if (result !== undefined) write({ id, result });
}

const answers = {
  initialize: ({ protocolVersion }) => {
    const { instructions, resources, prompts } = spec();
    return {
      protocolVersion,
      capabilities: {
        tools: { listChanged: true },
        ...(resources === undefined ? {} : { resources: { listChanged: true } }),
        ...(prompts === undefined ? {} : { prompts: {} }),
      },
      serverInfo: { name: 'scripted', version: '1' },
      ...(instructions === undefined ? {} : { instructions }),
    };
  },
  'tools/list': () => ({
    tools: (spec().tools ?? []).map(({ do: _, ...tool }) => ({
      description: `does ${tool.name}`,
      inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
      ...tool,
    })),
  }),
  'resources/list': () => ({
    resources: (spec().resources ?? []).map(({ uri }) => ({ uri, name: uri })),
  }),
  'resources/read': ({ uri }) => ({
    contents: spec().resources.filter((one) => one.uri === uri),
  }),
  'prompts/list': () => ({
    prompts: (spec().prompts ?? []).map((name) => ({ name, arguments: [{ name: 'a' }] })),
  }),
  'prompts/get': ({ name, arguments: args }) => ({
    messages: [
      { role: 'user', content: { type: 'text', text: `PROMPT ${name} ${JSON.stringify(args)}` } },
    ],
  }),
};

function receive({ id, method, params, result, error }) {
  if (method === undefined) {
    asked.get(id)?.(result ?? error);
    asked.delete(id);
  } else if (method === 'tools/call') call(id, params);
  else if (id !== undefined) {
    if (method !== 'server/discover') log(method);
    const answer = answers[method];
    const body =
      answer === undefined
        ? { error: { code: -32601, message: 'Method not found' } }
        : { result: answer(params ?? {}) };
    setTimeout(() => write({ id, ...body }), method === 'initialize' ? startMs : 0);
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => receive(JSON.parse(line)));
lines.on('close', () => {
  if (!stubborn) process.exit(0);
});
