// A stdio MCP server of the old protocol that misbehaves as its argument (JSON) says.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2] ?? '{}');
if (plan.journal) appendFileSync(plan.journal, `start ${process.pid}\n`);
if (plan.stderr) process.stderr.write(plan.stderr);
if (plan.stderrBytes) process.stderr.write(`${'e'.repeat(99)}\n`.repeat(plan.stderrBytes / 100));
if (plan.exitAtStart !== undefined) process.exit(plan.exitAtStart);
if (plan.noise) process.stdout.write('hello, I am a server\n{"half":\n[1,2]\n"text"\n\n');
if (plan.ignoreEnd) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const raw = (line) => process.stdout.write(`${line}\n`);
const later = (ms, work) => setTimeout(work, ms);
let flood;
if (plan.flood)
  flood = setInterval(
    () => process.stdout.write('garbage '.repeat(500).concat('\n').repeat(20)),
    1,
  );
let nextId = 1;
const asked = new Map();
const ask = (method, params, then) => {
  asked.set(nextId, then);
  write({ id: nextId++, method, params });
};
const text = (words) => ({ content: [{ type: 'text', text: words }] });
let visited = false;
let pages = 0;

const tools = {
  echo: (id, args) => write({ id, result: text(JSON.stringify(args)) }),
  env: (id) => write({ id, result: text(JSON.stringify(process.env)) }),
  meta: (id, _args, meta) => write({ id, result: text(JSON.stringify(meta)) }),
  pid: (id) => write({ id, result: text(`${process.pid}`) }),
  crash: () => process.exit(3),
  hang: () => {},
  slow: (id, args) => later(args.ms, () => write({ id, result: text('slow') })),
  odd: (id) => write({ id, result: { content: 'no list' } }),
  proto: (id) => raw(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"__proto__":{"a":1}}}`),
  nothing: (id) => write({ id }),
  both: (id) => write({ id, result: text('x'), error: { code: 1, message: 'no' } }),
  badMeta: (id) => write({ id, result: { ...text('x'), _meta: 5 } }),
  extra: (id) => write({ id, result: text('with more'), foo: 1 }),
  deep: (id) => {
    const inner = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    raw(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${inner}}}`);
  },
  huge: (id) => {
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`,
    );
    const block = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 20; i++) process.stdout.write(block);
  },
  progress: (id, args, meta) => {
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      write({
        method: 'notifications/progress',
        params: {
          progressToken: meta.progressToken,
          progress: step,
          total: args.steps,
          message: 'work\u001b[2J',
        },
      });
      if (step < args.steps) return;
      clearInterval(timer);
      write({ id, result: text(`${step} steps`) });
    }, args.ms);
  },
  boom: (id) =>
    write({
      id,
      error: {
        code: -32050,
        message: `no \u202e such ${process.env.HOME}/x /home/someone/y key sk-abcdefghijklmnop123456\nsecond line ${'z'.repeat(9000)}`,
      },
    }),
  gone: (id) => write({ id, error: { code: -32001, message: 'Session not found' } }),
  page: (id) => {
    if (visited) write({ id, result: text('after the page') });
    else {
      visited = plan.pageOnce === true;
      const elicitations = [
        {
          mode: 'url',
          message: 'go there',
          url: plan.page ?? 'https://example.test/x',
          elicitationId: 'e1',
        },
      ];
      write({ id, error: { code: -32042, message: 'page first', data: { elicitations } } });
    }
  },
  question: (id) =>
    ask(
      'elicitation/create',
      {
        message: 'your name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      },
      (result) => write({ id, result: text(JSON.stringify(result)) }),
    ),
  roots: (id) =>
    ask('roots/list', {}, (result) => write({ id, result: text(JSON.stringify(result)) })),
  grow: (id) => {
    pages += 1;
    write({ method: 'notifications/tools/list_changed', foo: 1 });
    write({ id, result: text('grown') });
  },
};

function list(id, params) {
  if (plan.listError === 'always') {
    write({ id, error: { code: -32603, message: 'no list today' } });
    return;
  }
  const page = Number(params?.cursor ?? 0);
  const named = page === 0 ? Object.keys(tools) : [`page_${page}`];
  const odd = plan.oddTools
    ? [{ name: 'bad' }, { inputSchema: {} }, 7, { name: '', inputSchema: {} }]
    : [];
  const last = plan.endless ? Number.POSITIVE_INFINITY : (plan.pages ?? 1) + pages;
  write({
    id,
    result: {
      tools: [
        ...named.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
        ...odd,
      ],
      ...(page + 1 < last ? { nextCursor: `${page + 1}` } : {}),
    },
  });
}

function receive(message) {
  const { id, method, params } = message;
  if (plan.journal && method)
    appendFileSync(
      plan.journal,
      `${method} ${JSON.stringify(params?.requestId ?? params?.name ?? '')}\n`,
    );
  if (method === undefined) {
    asked.get(id)?.(message.result ?? { error: message.error });
    asked.delete(id);
  } else if (method === 'server/discover') {
    if (plan.discover === 'die') process.exit(1);
    if (plan.discover !== 'silent')
      write({ id, error: { code: -32601, message: 'Method not found' } });
  } else if (method === 'initialize') {
    if (plan.init === 'silent') return;
    later(plan.initMs ?? 0, () =>
      write({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'scripted', version: '1' },
          instructions: 'first\nsecond\u200b',
        },
      }),
    );
  } else if (method === 'tools/list') list(id, params);
  else if (method === 'tools/call') {
    const tool = tools[params.name];
    if (tool) tool(id, params.arguments ?? {}, params._meta ?? {});
    else write({ id, error: { code: -32602, message: `no tool ${params.name}` } });
  } else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => receive(JSON.parse(line)));
lines.on('close', () => {
  clearInterval(flood);
  if (!plan.ignoreEnd) process.exit(0);
});
