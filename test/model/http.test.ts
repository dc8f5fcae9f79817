import { spawn } from 'node:child_process';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { httpStream } from '../../src/platform/http/http.js';
import { HttpError } from '../../src/platform/http/http-error.js';

const open: (http.Server | net.Server)[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    if (server instanceof http.Server) server.closeAllConnections();
    server.close();
  }
});

async function listen<T extends http.Server | net.Server>(
  server: T,
): Promise<{ server: T; port: number }> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

async function read(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (thrown) {
    return thrown instanceof HttpError ? thrown.kind : `thrown: ${thrown}`;
  }
  return 'no error';
}

async function echo(): Promise<{ url: string; connections: () => number; server: http.Server }> {
  let connections = 0;
  const { server, port } = await listen(
    http.createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts).toString('utf8');
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, body }));
    }),
  );
  server.on('connection', () => {
    connections++;
  });
  return { url: `http://127.0.0.1:${port}`, connections: () => connections, server };
}

describe('httpStream', () => {
  it('leaves no listeners on a connection that many requests share', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): number => warnings.push(name);
    process.on('warning', note);
    const { url, connections } = await echo();
    for (let count = 0; count < 20; count++) await read((await httpStream({ url })).chunks);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(connections()).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('sends a body with its length and uses the connection again', async () => {
    const { url, connections } = await echo();
    const text = '{"a":"ä"}';
    for (const body of [text, new TextEncoder().encode(text), text]) {
      const response = await httpStream({ url: `${url}/x?y=1`, body, headers: { 'x-a': 'b' } });
      const seen = JSON.parse(await read(response.chunks));
      expect(seen).toMatchObject({ method: 'POST', url: '/x?y=1', body: '{"a":"ä"}' });
      expect(seen.headers).toMatchObject({ 'content-length': '10', 'x-a': 'b' });
      expect(seen.headers['transfer-encoding']).toBeUndefined();
    }
    expect(connections()).toBe(1);
  });

  it("sends every header once, the request's own host and the true length", async () => {
    const { url } = await echo();
    const raw: string[][] = [];
    open.at(-1)?.on('request', ({ rawHeaders }: http.IncomingMessage) => raw.push(rawHeaders));
    const headers = { Host: 'other.example', 'Content-Length': '99', 'X-A': '1', 'x-a': '2' };
    const { chunks } = await httpStream({ url, body: 'four', headers });
    expect(JSON.parse(await read(chunks)).body).toBe('four');
    const names = raw[0]?.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names?.length);
    expect(raw[0]?.join('\n')).toMatch(/Host\nother\.example\ncontent-length\n4\nx-a\n2(\n|$)/i);
    expect(await kindOf(httpStream({ url, headers: { 'x-a': 'b\r\nx-c: d' } }))).toBe('other');
    const bare = await httpStream({ url, method: 'POST' });
    await read(bare.chunks);
    expect(raw.at(-1)?.join('\n').toLowerCase()).toMatch(/content-length\n0(\n|$)/);
    expect(raw.at(-1)?.join('\n').toLowerCase()).not.toContain('transfer-encoding');
  });

  it('sends the headers as they are now, though they are those of the last request', async () => {
    const seen: unknown[] = [];
    const { port } = await listen(
      http.createServer((request, response) => {
        seen.push(request.headers['x-a']);
        response.end();
      }),
    );
    const url = `http://127.0.0.1:${port}`;
    const headers: Record<string, string> = { 'x-a': 'one' };
    await httpStream({ url, headers });
    headers['x-a'] = 'two';
    await httpStream({ url, headers });
    const frozen = Object.freeze({ 'x-a': 'three' });
    await httpStream({ url, headers: frozen });
    await httpStream({ url, headers: frozen });
    await httpStream({ url, headers: { 'x-a': 'four' } });
    expect(seen).toEqual(['one', 'two', 'three', 'three', 'four']);
    const broken = Object.freeze({ 'x-a': 'b\r\nx-c: d' });
    for (let time = 0; time < 2; time++) {
      expect(await kindOf(httpStream({ url, headers: broken }))).toBe('other');
    }
  });

  it('gives every header of an answer as one text', async () => {
    const given = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-A', '1', 'x-a', '2', 'Age', '7'];
    const { port } = await listen(
      http.createServer((_, response) => response.writeHead(200, given).end()),
    );
    const { headers } = await httpStream({ url: `http://127.0.0.1:${port}` });
    expect(headers).toMatchObject({ 'set-cookie': 'a=1, b=2', 'x-a': '1, 2', age: '7' });
  });

  it('never splits a character', async () => {
    const { port } = await listen(
      http.createServer(async (_request, response) => {
        for (const byte of Buffer.from('ä🙂€')) {
          response.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      }),
    );
    const { chunks } = await httpStream({ url: `http://127.0.0.1:${port}` });
    const pieces: string[] = [];
    for await (const chunk of chunks) pieces.push(chunk);
    expect(pieces.join('')).toBe('ä🙂€');
    expect(pieces.join('')).not.toContain('\ufffd');
  });

  it('names what went wrong', async () => {
    const { server, port } = await listen(net.createServer());
    await new Promise((resolve) => server.close(resolve));
    expect(await kindOf(httpStream({ url: `http://127.0.0.1:${port}` }))).toBe('refused');
    expect(await kindOf(httpStream({ url: 'http://nothing.invalid' }))).toBe('dns');
    expect(await kindOf(httpStream({ url: 'nonsense' }))).toBe('invalid_url');
    expect(await kindOf(httpStream({ url: 'ftp://127.0.0.1/' }))).toBe('invalid_url');

    const garbage = await listen(net.createServer((socket) => socket.end('220 mail ready\r\n')));
    expect(await kindOf(httpStream({ url: `http://127.0.0.1:${garbage.port}` }))).toBe('protocol');
    expect(await kindOf(httpStream({ url: `https://127.0.0.1:${garbage.port}` }))).toBe('tls');

    const rude = await listen(
      net.createServer((socket) => socket.on('data', () => socket.destroy())),
    );
    expect(await kindOf(httpStream({ url: `http://127.0.0.1:${rude.port}` }))).toBe('reset');
  });

  it('reports a body that breaks off', async () => {
    const { port } = await listen(
      net.createServer((socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
          setTimeout(() => socket.destroy(), 10);
        }),
      ),
    );
    const { chunks } = await httpStream({ url: `http://127.0.0.1:${port}` });
    expect(await kindOf(read(chunks))).toBe('reset');
  });

  it('gives up on silence, before and after the headers', async () => {
    const mute = await listen(http.createServer(() => {}));
    const url = `http://127.0.0.1:${mute.port}`;
    expect(await kindOf(httpStream({ url, idleTimeoutMs: 30 }))).toBe('timeout');
    const half = await listen(http.createServer((_request, response) => void response.write('x')));
    const response = await httpStream({ url: `http://127.0.0.1:${half.port}`, idleTimeoutMs: 30 });
    expect(await kindOf(read(response.chunks))).toBe('timeout');
  });

  it('stops at an abort, before and after the headers', async () => {
    const half = await listen(http.createServer((_request, response) => void response.write('x')));
    const url = `http://127.0.0.1:${half.port}`;
    expect(await kindOf(httpStream({ url, signal: AbortSignal.abort() }))).toBe('aborted');
    const controller = new AbortController();
    const response = await httpStream({ url, signal: controller.signal });
    const kind = kindOf(read(response.chunks));
    controller.abort();
    expect(await kind).toBe('aborted');
  });

  it('sends again when a kept connection turns out to be dead', async () => {
    const { url, server, connections } = await echo();
    await read((await httpStream({ url, body: 'one' })).chunks);
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    const again = http.createServer((_request, response) => response.end('two'));
    open.push(again);
    await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve));
    expect(await read((await httpStream({ url, body: 'two' })).chunks)).toBe('two');
    expect(connections()).toBe(1);
  });

  it('holds the sender back when the reader is slow, and loses nothing', async () => {
    const { port } = await listen(
      http.createServer((_request, response) => {
        for (let i = 0; i < 5000; i++) response.write(`${i}\n`.repeat(40));
        response.end();
      }),
    );
    const { chunks } = await httpStream({ url: `http://127.0.0.1:${port}` });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await read(chunks)).split('\n').length).toBe(5000 * 40 + 1);
  });

  it('finishes politely and drops a connection that does not end', async () => {
    const { port } = await listen(
      http.createServer((request, response) => {
        response.write('all\n');
        if (request.url === '/ends') setTimeout(() => response.end('rest'), 10);
      }),
    );
    for (const path of ['/ends', '/never']) {
      const response = await httpStream({ url: `http://127.0.0.1:${port}${path}` });
      for await (const chunk of response.chunks) {
        expect(chunk).toMatch(/^all\n/);
        response.finish(100);
        break;
      }
    }
  });
});

describe('proxies', () => {
  it('asks an HTTP proxy for the whole address, with credentials', async () => {
    const proxy = await echo();
    const address = proxy.url.replace('http://', 'http://me:p%40ss@');
    const environment = { HTTP_PROXY: address };
    const { chunks } = await httpStream(
      { url: 'http://model.test:81/v1?x=1', body: 'b' },
      environment,
    );
    expect(JSON.parse(await read(chunks))).toMatchObject({
      url: 'http://model.test:81/v1?x=1',
      body: 'b',
      headers: {
        host: 'model.test:81',
        'proxy-authorization': `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
      },
    });
  });

  it('reaches loopback and NO_PROXY hosts directly', async () => {
    const { url } = await echo();
    const environment = {
      http_proxy: 'http://127.0.0.1:1',
      no_proxy: 'x.test, .invalid',
    };
    expect((await httpStream({ url }, environment)).status).toBe(200);
    expect(await kindOf(httpStream({ url: 'http://a.invalid' }, environment))).toBe('dns');
  });

  it('opens a tunnel for https and names the proxy when that is refused', async () => {
    const asked: string[] = [];
    const { server, port } = await listen(http.createServer());
    server.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      if (request.url === 'bad.test:443') {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('error', () => {});
      socket.once('data', () => socket.end('not TLS at all, for certain'));
    });
    const environment = { HTTPS_PROXY: `127.0.0.1:${port}` };
    expect(await kindOf(httpStream({ url: 'https://bad.test/x' }, environment))).toBe('proxy');
    expect(await kindOf(httpStream({ url: 'https://good.test:8443/x' }, environment))).toBe('tls');
    expect(asked).toEqual(['bad.test:443', 'good.test:8443']);
  });

  it('refuses a proxy address that it cannot use', async () => {
    const environment = { ALL_PROXY: 'socks5://127.0.0.1:1080' };
    expect(await kindOf(httpStream({ url: 'http://model.test' }, environment))).toBe('proxy');
  });
});

describe('a process with a kept-alive connection', () => {
  it('ends by itself', async () => {
    const { url, server } = await echo();
    // For good: a process that waits for the end of the connection never ends.
    server.keepAliveTimeout = 0;
    const source = fileURLToPath(new URL('../../src/platform/http/http.ts', import.meta.url));
    const { outputFiles } = await build({
      stdin: {
        contents: `import { httpStream } from ${JSON.stringify(source)};
          const { chunks } = await httpStream({ url: process.env.TARGET, body: 'x' });
          for await (const chunk of chunks) process.stdout.write('got');`,
        loader: 'ts',
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
    });
    const child = spawn(process.execPath, ['--input-type=module', '-'], {
      env: { ...process.env, TARGET: url },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(outputFiles[0]?.text);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, output }).toEqual({ code: 0, output: 'got' });
  });
});
