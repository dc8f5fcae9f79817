// A stdio MCP server of the old protocol that sends much by itself, as its argument (JSON) says.
import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2] ?? '{}');
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const write = (message) => process.stdout.write(line(message));
const answers = { done: 0, refused: 0 };

function flood({ count, endless, ...message }, done) {
  let sent = 0;
  const more = () => {
    for (;;) {
      if (!endless && sent >= count) return done();
      const lines = [];
      for (let i = 0; i < 500 && (endless || sent < count); i++) {
        sent += 1;
        const id = message.ask === undefined ? {} : { id: `q${sent}` };
        const answered = message.answer === undefined ? {} : { id: 1_000_000 + sent, result: {} };
        const method = message.ask ?? message.tell;
        const text = message.noise;
        lines.push(
          text ??
            line({
              ...id,
              ...answered,
              ...(method === undefined ? {} : { method, params: message.params ?? {} }),
            }),
        );
      }
      if (!process.stdout.write(lines.join(''))) return process.stdout.once('drain', more);
    }
  };
  more();
}

/** Calls back once so many requests are answered, or no further answer comes. */
function whenAnswered(count, next) {
  let before = -1;
  const look = () => {
    const now = answers.done + answers.refused;
    if (now >= count || now === before) return next();
    before = now;
    setTimeout(look, 1_000);
  };
  look();
}

function receive({ id, method, params, error }) {
  if (method === undefined) answers[error === undefined ? 'done' : 'refused'] += 1;
  else if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    const { protocolVersion } = params;
    const result = { protocolVersion, capabilities, serverInfo: { name: 'flood', version: '1' } };
    if (plan.atStart) flood(plan.atStart, () => write({ id, result }));
    else write({ id, result });
  } else if (method === 'tools/list') write({ id, result: { tools: [] } });
  else if (method === 'tools/call') {
    const answer = () => {
      const text = params.name === 'pid' ? `${process.pid}` : JSON.stringify(answers);
      write({ id, result: { content: [{ type: 'text', text }] } });
    };
    if (params.name === 'flood') {
      const { ask, count } = params.arguments;
      flood(params.arguments, () => whenAnswered(ask === undefined ? 0 : count, answer));
      if (params.arguments.deaf) lines.pause();
    } else answer();
  } else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (text) => receive(JSON.parse(text)));
lines.on('close', () => process.exit(0));
