import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StderrLog } from '../../src/mcp/transport/stderr-log.js';
import { createFetch, type FetchOptions } from '../../src/platform/http/fetch.js';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const fetchWith = (options: Partial<FetchOptions> = {}) =>
  createFetch({ environment: {}, ...options });

describe('the fetch of MCP', () => {
  it('sends method, headers and body, and hands on status, headers and body', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.writeHead(201, { 'x-answer': 'yes' });
        response.end(`${request.method} ${request.headers['x-ask']} ${body}`);
      });
    });
    const response = await fetchWith()(url, {
      method: 'POST',
      headers: { 'x-ask': 'q' },
      body: 'ü',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-answer')).toBe('yes');
    expect(await response.text()).toBe('POST q ü');
  });

  it('sends nothing that was called off before, and nothing else ends of it', async () => {
    const url = await serve((_request, response) => response.end());
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    onTestFinished(() => void process.off('uncaughtException', onUncaught));
    const signal = AbortSignal.abort();
    await expect(fetchWith()(url, { signal })).rejects.toMatchObject({ kind: 'aborted' });
    expect((await fetchWith()(url)).status).toBe(200);
    expect(uncaught).toEqual([]);
  });

  it('follows no redirect', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    });
    const response = await fetchWith()(url);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('http://127.0.0.1:1/');
  });

  it('sends nothing twice over a connection that breaks', async () => {
    let count = 0;
    const url = await serve((request, response) => {
      count += 1;
      if (count === 2) request.socket.destroy();
      else response.end('ok');
    });
    const fetch = fetchWith();
    await (await fetch(url, { method: 'POST', body: 'a' })).text();
    await expect(fetch(url, { method: 'POST', body: 'b' })).rejects.toMatchObject({
      kind: 'reset',
    });
    expect(count).toBe(2);
  });

  it('bounds a body, and an event of a stream with all its lines', async () => {
    const url = await serve((request, response) => {
      const type = request.url === '/events' ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      for (let line = 0; line < 20; line++)
        response.write(`${'x'.repeat(900)}${request.url === '/events' ? '\r\n\r\n' : ''}`);
      response.end(request.url === '/events' ? `${'y'.repeat(500)}\n`.repeat(4) : '');
    });
    const fetch = fetchWith({ maxBodyBytes: 10_000, maxEventBytes: 1000 });
    await expect((await fetch(url)).text()).rejects.toMatchObject({ kind: 'protocol' });
    await expect((await fetch(`${url}/events`)).text()).rejects.toMatchObject({ kind: 'protocol' });
    expect((await (await fetchWith({ maxEventBytes: 3000 })(`${url}/events`)).text()).length).toBe(
      20_084,
    );
  });

  it('lets comments and whole events go by without end', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let line = 0; line < 100; line++) response.write(`: still here\ndata: ${line}\n\n`);
      for (let line = 0; line < 100; line++) response.write(': still here\n');
      response.end();
    });
    const text = await (await fetchWith({ maxEventBytes: 100 })(url)).text();
    expect(text).toContain('data: 99');
  });

  it('is called off with its signal, before and after the answer', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/late') response.write('part');
    });
    const stop = new AbortController();
    const waiting = fetchWith()(url, { signal: stop.signal });
    const reading = (await fetchWith()(`${url}/late`, { signal: stop.signal })).text();
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'aborted' });
    await expect(reading).rejects.toBeInstanceOf(Error);
  });

  it('ends the connection of an answer whose body is cancelled before it was read', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await serve((_request, response) => {
      closed = once(response, 'close');
      response.write('part');
    });
    await (await fetchWith()(url)).body?.cancel();
    expect(await closed).toEqual([]);
  });

  it('goes through the proxy of the environment', async () => {
    const asked: string[] = [];
    const proxy = await serve((request, response) => {
      asked.push(`${request.url} ${request.headers.host}`);
      response.end('from the proxy');
    });
    const fetch = fetchWith({ environment: { HTTP_PROXY: proxy } });
    expect(await (await fetch('http://mcp.example.test/x')).text()).toBe('from the proxy');
    expect(asked).toEqual(['http://mcp.example.test/x mcp.example.test']);
  });

  it('speaks http and https alone', async () => {
    await expect(fetchWith()('file:///etc/passwd')).rejects.toMatchObject({ kind: 'invalid_url' });
    await expect(fetchWith()('nonsense')).rejects.toMatchObject({ kind: 'invalid_url' });
  });
});

describe('the log of standard error', () => {
  it('stops at its limit and says so', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'stderr-log-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = path.join(directory, 'a', 'b.log');
    const log = new StderrLog(file, 1000);
    for (let line = 0; line < 100; line++) log.push(`${'x'.repeat(50)}\npart`);
    log.close();
    const text = readFileSync(file, 'utf8');
    expect(text.length).toBeLessThan(1100);
    expect(text).toContain('the rest is left out');
  });

  it('keeps what has no line end, and survives a place where it cannot be', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'stderr-log-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = path.join(directory, 'c.log');
    const log = new StderrLog(file);
    log.push('one\ntw');
    log.push('o');
    log.close();
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
    const nowhere = new StderrLog('/dev/null/x/y.log');
    nowhere.push('words\n');
    nowhere.close();
  });
});
