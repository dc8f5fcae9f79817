import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import {
  type Actor,
  type Reply,
  type ReplyFunction,
  type Script,
  scriptOf,
} from '../model/scripted/format.js';
import { ScriptPlayer } from '../model/scripted/player.js';
import {
  errorAnswer,
  type Flavour,
  factsOfBody,
  streamedAnswer,
  unstreamedAnswer,
} from './fake-model-answers.js';

export interface RecordedRequest {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly flavour: Flavour | undefined;
  readonly raw: Buffer;
  /** Parsed body, undefined when it is not JSON. */
  readonly body: unknown;
}

export interface FakeModelServer {
  /** `http://127.0.0.1:<port>`, for ANTHROPIC_BASE_URL; add `/v1` for OPENAI_BASE_URL. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Connections opened so far: tells whether they are used again. */
  readonly connections: () => number;
  /** Requests without a reply and replies without a request. */
  problems(): string[];
  /** Throws when there are problems. */
  assertDone(): void;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

export interface FakeModelServerOptions {
  readonly script?: readonly (Reply | ReplyFunction)[];
  readonly actors?: readonly Actor[];
  /** Answers of GET /v1/models. */
  readonly models?: readonly string[];
}

/** A script behind real HTTP on 127.0.0.1: Anthropic messages and OpenAI chat completions. */
export async function startFakeModelServer(
  options: FakeModelServerOptions = {},
): Promise<FakeModelServer> {
  const script: Script =
    options.actors === undefined ? scriptOf(options.script ?? []) : { actors: options.actors };
  const player = new ScriptPlayer(script);
  const requests: RecordedRequest[] = [];
  let connections = 0;
  const server = http.createServer((request, response) => {
    handle(request, response, { player, requests, models: options.models ?? [] }).catch(() => {
      // The client has disconnected, so there is no one to send the error to.
      response.destroy();
    });
  });
  server.on('connection', () => {
    connections++;
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    problems: () => player.problems(),
    assertDone: () => {
      const problems = player.problems();
      if (problems.length > 0)
        throw new Error(`the script was not played out:\n${problems.join('\n')}`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ServerState {
  readonly player: ScriptPlayer;
  readonly requests: RecordedRequest[];
  readonly models: readonly string[];
}

async function handle(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  state: ServerState,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const parsed = parseJson(raw.toString('utf8'));
  const path = request.url ?? '/';
  const flavour = flavourOf(path);
  const body = parsed.ok ? parsed.value : undefined;
  state.requests.push({ path, headers: request.headers, flavour, raw, body });
  if (request.method === 'GET' && path === '/v1/models') {
    json(
      response,
      200,
      JSON.stringify({ object: 'list', data: state.models.map((id) => ({ id })) }),
    );
    return;
  }
  if (flavour === undefined) {
    json(response, 404, JSON.stringify({ detail: `nothing is served at ${path}` }));
    return;
  }
  const facts = factsOfBody(body);
  const played = state.player.play(facts);
  if (!played.ok) {
    json(
      response,
      400,
      errorAnswer(flavour, { type: 'invalid_request_error', message: played.problem }),
    );
    return;
  }
  const { reply, serial } = played;
  if (reply.delayMs !== undefined) await wait(reply.delayMs);
  const streaming = isRecord(body) && body.stream === true;
  await answer(response, { reply, serial, flavour, model: facts.model, streaming });
}

function flavourOf(path: string): Flavour | undefined {
  if (/\/v1\/messages(\?|$)/.test(path)) return 'anthropic';
  return /\/chat\/completions(\?|$)/.test(path) ? 'chat' : undefined;
}

interface Answer {
  readonly reply: Exclude<Reply, string>;
  readonly serial: number;
  readonly flavour: Flavour;
  readonly model: string;
  readonly streaming: boolean;
}

async function answer(response: http.ServerResponse, request: Answer): Promise<void> {
  const { reply, serial } = request;
  const headers = { 'request-id': `req_script_${serial}`, ...reply.serve?.headers };
  if (reply.error !== undefined) {
    sendError(response, request, headers);
    return;
  }
  switch (reply.serve?.misbehave) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'html':
      response.writeHead(200, { ...headers, 'content-type': 'text/html' });
      response.end('<!doctype html><html><body><h1>Welcome</h1>Please sign in.</body></html>');
      return;
    case 'unstreamed':
      json(response, 200, unstreamedAnswer(request), headers);
      return;
    default:
      if (request.streaming) await streamAnswer(response, request, headers);
      else json(response, 200, unstreamedAnswer(request), headers);
  }
}

function sendError(
  response: http.ServerResponse,
  request: Answer,
  headers: Record<string, string>,
): void {
  const { error } = request.reply;
  if (error === undefined) return;
  const text = errorAnswer(request.flavour, {
    type: error.type ?? 'api_error',
    message: error.message ?? `scripted error ${error.status}`,
  });
  const wait: Record<string, string> = {};
  if (error.retryAfterMs !== undefined) wait['retry-after-ms'] = String(error.retryAfterMs);
  json(response, error.status, text, { ...wait, ...headers });
}

async function streamAnswer(
  response: http.ServerResponse,
  request: Answer,
  headers: Record<string, string>,
): Promise<void> {
  const { serve, cutStream } = request.reply;
  const type = serve?.misbehave === 'wrong_content_type' ? 'text/plain' : 'text/event-stream';
  response.writeHead(200, { 'content-type': type, ...headers });
  const pieces = streamedAnswer(request);
  const middle = Math.ceil(pieces.length / 2);
  switch (serve?.misbehave) {
    case 'malformed_sse':
      response.end(`${pieces.slice(0, middle).join('')}data: {"type": "content_blo\n\n`);
      return;
    case 'hang_midway':
      response.write(pieces.slice(0, middle).join(''));
      return;
    case 'empty':
      response.end();
      return;
    case 'no_end':
      response.write(pieces.join(''));
      return;
    default:
      break;
  }
  const text = (cutStream === true ? pieces.slice(0, middle) : pieces).join('');
  if (serve?.dripBytes !== undefined) await drip(response, Buffer.from(text), serve.dripBytes);
  else if (cutStream === true) await written(response, text);
  if (cutStream === true) response.socket?.destroy();
  else if (serve?.dripBytes === undefined) response.end(text);
  else response.end();
}

/** Each piece leaves in a packet of its own, so that it also arrives alone. */
async function drip(response: http.ServerResponse, bytes: Buffer, size: number): Promise<void> {
  for (let start = 0; start < bytes.length; start += size) {
    await written(response, bytes.subarray(start, start + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function written(response: http.ServerResponse, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

function json(
  response: http.ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
