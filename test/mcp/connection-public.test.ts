import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientConnection } from '../../src/mcp/connection/connection.js';
import { temporaryDirectory } from '../process/helpers.js';
import { call, connectTo, never, publicServer, recorder, remote, text } from './connection-rig.js';

const EVERYTHING = path.resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function everything(
  transport: 'sse' | 'streamableHttp',
): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      if (/on port/.test(String(chunk))) resolve();
    });
    child.once('exit', () => reject(new Error('the server ended')));
  });
  return { port, child };
}

/** The same for every transport. */
async function exercise(connection: ClientConnection): Promise<void> {
  const status = await connection.connect();
  expect(status).toMatchObject({ ok: true, value: { state: 'connected' } });
  const tools = await connection.listTools();
  const names = tools.ok ? tools.value.map((tool) => tool.name) : [];
  expect(names).toContain('echo');
  expect(names).toContain('get-roots-list');
  expect(text(await call(connection, 'echo', { message: 'hi' }))).toContain('hi');
  const image = await call(connection, 'get-tiny-image');
  expect(image.ok ? image.value.content.map((block) => block.type) : []).toContain('image');
  const structured = await call(connection, 'get-structured-content', { location: 'New York' });
  expect(structured.ok ? structured.value.structuredContent : undefined).toMatchObject({
    conditions: expect.any(String),
  });
  const texts: string[] = [];
  const slow = await connection.call(
    {
      tool: 'trigger-long-running-operation',
      arguments: { duration: 1, steps: 4 },
      onProgress: (words) => texts.push(words),
    },
    never,
  );
  expect(slow.ok).toBe(true);
  expect(texts[0]).toMatch(/1\/4/);
  const resources = await connection.listResources();
  const uri = resources.ok ? resources.value[0]?.uri : undefined;
  const contents = await connection.readResource(uri ?? '', never);
  expect(contents.ok ? contents.value[0]?.uri : undefined).toBe(uri);
  const prompts = await connection.listPrompts();
  expect(prompts.ok ? prompts.value.map((prompt) => prompt.name) : []).toContain('simple-prompt');
  const prompt = await connection.getPrompt('simple-prompt', {}, never);
  expect(prompt.ok ? prompt.value[0]?.role : undefined).toBe('user');
  const unknown = await call(connection, 'no-such-tool');
  expect(unknown.ok ? unknown.value.isError : unknown.error.code === 'server-error').toBe(true);
}

describe('the everything server', () => {
  let sse: Awaited<ReturnType<typeof everything>>;
  let http: Awaited<ReturnType<typeof everything>>;
  beforeAll(async () => {
    [sse, http] = await Promise.all([everything('sse'), everything('streamableHttp')]);
  });
  afterAll(() => {
    sse.child.kill('SIGKILL');
    http.child.kill('SIGKILL');
  });

  it('works over stdio', async () => {
    await exercise(connectTo(publicServer('server-everything')));
  });

  it('works over SSE', async () => {
    await exercise(connectTo(remote('sse', `http://127.0.0.1:${sse.port}/sse`)));
  });

  it('works over Streamable HTTP', async () => {
    await exercise(connectTo(remote('http', `http://127.0.0.1:${http.port}/mcp`)));
  });

  it('asks a person, over stdio and HTTP', async () => {
    const entries = [
      publicServer('server-everything'),
      remote('http', `http://127.0.0.1:${http.port}/mcp`),
    ];
    for (const entry of entries) {
      const { asked, elicit } = recorder();
      const connection = connectTo(entry, { elicit });
      await connection.connect();
      const result = await call(connection, 'trigger-elicitation-request');
      expect(asked).toMatchObject([{ mode: 'form', server: 'srv' }]);
      expect(text(result)).toContain('Ada');
    }
  });
});

describe('the filesystem server', () => {
  it('works over stdio, in the roots that it asks for', async () => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, 'a.txt'), 'words in a file');
    const connection = connectTo(publicServer('server-filesystem', directory), {
      roots: () => [directory],
    });
    expect(
      text(await call(connection, 'read_text_file', { path: path.join(directory, 'a.txt') })),
    ).toContain('words in a file');
    expect(text(await call(connection, 'list_allowed_directories'))).toContain(directory);
    const outside = await call(connection, 'read_text_file', { path: '/etc/hostname' });
    expect(outside.ok && outside.value.isError).toBe(true);
  });
});

describe('the memory server', () => {
  it('works over stdio', async () => {
    const file = path.join(temporaryDirectory(), 'memory.json');
    const entry = { ...publicServer('server-memory'), env: { MEMORY_FILE_PATH: file } };
    const connection = connectTo(entry);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
    expect((await call(connection, 'create_entities', { entities })).ok).toBe(true);
    expect(text(await call(connection, 'read_graph'))).toContain('Ada');
  });
});
