// Plays one golden scenario with a built program and gives everything it sent and wrote, one line for each, without what
// differs from run to run.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runScenario } from '../../dist/lib/testing.js';
import { startHttpServer } from './http-server.mjs';
import { normalise } from './normalise.mjs';

export async function play(program, scenario) {
  const { runs = [{}], http, ...base } = scenario;
  const web = http === undefined ? undefined : await startHttpServer(http);
  const lines = [];
  let world;
  try {
    for (const [index, run] of runs.entries()) {
      const one = { ...base, ...run };
      const done = await runScenario([process.execPath, program], {
        ...one,
        args: (one.args ?? []).map((arg) =>
          arg.replace('{{MCP}}', web?.url).replace('{{FIRST_PROMPT}}', () => firstPrompt(world)),
        ),
        ...(one.host === undefined ? {} : drive(one.host)),
        world,
      });
      world = done.world;
      lines.push(...ofRun(done, index));
    }
    lines.push(...(web?.log ?? []).map((line) => `http ${line}`), ...ofFiles(world.project));
    return normalise(lines, { root: world.project.root, program: path.resolve(program, '../..') });
  } finally {
    world?.remove();
    await web?.close();
  }
}

function ofRun(done, index) {
  const conversations = new Map();
  for (const { path: address, headers, body } of done.requests) {
    const { host: _, 'content-length': __, ...kept } = headers;
    const key = JSON.stringify(body?.messages?.find(({ role }) => role === 'user') ?? '');
    if (!conversations.has(key)) conversations.set(key, []);
    conversations.get(key).push(`request ${address} ${JSON.stringify(kept)}`, ...ofBody(body));
  }
  return [
    `run ${index}: exit ${done.exitCode} signal ${done.signal}`,
    ...done.stderr
      .split('\n')
      .filter(Boolean)
      .map((line) => `stderr ${line}`),
    ...done.scriptProblems.map((line) => `script ${line}`),
    ...done.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => `frame ${line}`),
    // Agents that run at the same time ask in any order; each conversation is kept in its own.
    ...[...conversations.keys()].sort().flatMap((key) => conversations.get(key)),
  ];
}

function ofBody(body) {
  const { tools = [], messages = [], ...rest } = body ?? {};
  return [
    `  ${JSON.stringify(rest)}`,
    ...tools.map((tool) => `  tool ${JSON.stringify(tool)}`),
    ...messages.map((message) => `  message ${JSON.stringify(message)}`),
  ];
}

/** Transcripts, receipts and the project as the run left them; the store of checkpoints is an implementation. */
function ofFiles({ root, directory, home }) {
  const files = [
    ...below(path.join(home, '.claude/projects')),
    ...below(path.join(home, '.portcullis/journal')),
    ...below(directory).filter((file) => !file.includes('/.git/')),
  ];
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const name = path.relative(root, file);
    return [
      `file ${name}`,
      ...text
        .split('\n')
        .filter(Boolean)
        .map((line) => `  ${line}`),
    ];
  });
}

function below(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function firstPrompt({ project }) {
  const [file] = below(path.join(project.home, '.claude/projects'));
  const entries = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return entries.find(({ type, isMeta }) => type === 'user' && isMeta !== true).uuid;
}

/** The other end of the wire: initialises, sends controls one by one, prompts, answers, leaves after the last result. */
function drive({ initialize = {}, controls = [], prompts = ['go'], canUseTool, callback, mcp }) {
  const waiting = [{ subtype: 'initialize', ...initialize }, ...controls];
  const texts = [...prompts];
  return {
    stdin: [],
    onStart: (run) => {
      let serial = 0;
      const next = () => {
        const request = waiting.shift();
        if (request !== undefined)
          run.write({ type: 'control_request', request_id: `host-${++serial}`, request });
        else if (texts.length > 0)
          run.write({ type: 'user', message: { role: 'user', content: texts.shift() } });
        else run.end();
      };
      run.onLine((line) => {
        const frame = JSON.parse(line);
        if (frame.type === 'control_request') {
          const { request } = frame;
          const response =
            request.subtype === 'hook_callback'
              ? callback?.(request)
              : request.subtype === 'mcp_message' && mcp
                ? { mcp_response: ofSdkServer(request.message) }
                : canUseTool?.(request);
          run.write({
            type: 'control_response',
            response: { subtype: 'success', request_id: frame.request_id, response },
          });
        }
        if (frame.type === 'control_response' || frame.type === 'result') next();
      });
      next();
    },
  };
}

function ofSdkServer({ id, method, params }) {
  const result = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'insdk', version: '1' },
    },
    'tools/list': {
      tools: [{ name: 'ping', description: 'pings', inputSchema: { type: 'object' } }],
    },
    'tools/call': {
      content: [{ type: 'text', text: `pong ${JSON.stringify(params?.arguments)}` }],
    },
  }[method];
  return {
    jsonrpc: '2.0',
    id: id ?? 0,
    ...(result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }),
  };
}
