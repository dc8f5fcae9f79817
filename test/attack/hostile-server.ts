import { spawn } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';

export const KEY = 'sk-ant-hostile-0123456789-abcdef';

export type Handler = (
  response: http.ServerResponse,
  request: { readonly count: number; readonly headers: http.IncomingHttpHeaders; body: unknown },
) => void;

/** A model server that does what the test says, byte by byte. */
export async function hostileServer(handler: Handler): Promise<{ url: string; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    bodies.push(body);
    handler(response, { count: bodies.length, headers: request.headers, body });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

export function project(files: Parameters<typeof makeTempProject>[0] = {}): TempProject {
  const made = makeTempProject(files);
  onTestFinished(() => made.remove());
  return made;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end. */
export function start(
  args: readonly string[],
  where: {
    readonly project: TempProject;
    readonly url: string;
    readonly env?: Readonly<Record<string, string>>;
    /** A shell's words behind the command, such as `> /dev/full`. */
    readonly redirect?: string;
    readonly input?: string;
  },
): Promise<Ended> {
  const command = [...PROGRAM, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${command.join(' ')} ${where.redirect ?? ''}`], {
      cwd: where.project.directory,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: where.project.home,
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: where.url,
        CLAUDE_CODE_MAX_RETRIES: '0',
        ...where.env,
      },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(where.input ?? '');
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

export function event(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const begin = (usage: object = { input_tokens: 1, output_tokens: 1 }): string =>
  event({
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', usage },
  });

export const end = (stop_reason: string): string =>
  event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: {} }) +
  event({ type: 'message_stop' });

export const text = (words: string): string =>
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: words } }) +
  event({ type: 'content_block_stop', index: 0 });

export const call = (name: string, json: string): string =>
  event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
  }) +
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: json },
  }) +
  event({ type: 'content_block_stop', index: 0 });

export const say = (words: string): string => begin() + text(words) + end('end_turn');

export function stream(response: http.ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(body);
}
