import { afterEach, describe, expect, it } from 'vitest';
import { fetchPublic, type PublicFetchDeps } from '../../src/platform/http/public-fetch.js';
import { PAGE_CHUNK, type WebFetchDeps, webFetchTool } from '../../src/tools/web/web-fetch.js';
import { callTool } from '../support/permitted-call.js';
import { startServer, type TestServer } from './http-server.js';

const opened: TestServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

type Answer = { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };

async function serve(answer: (url: string) => Answer): Promise<TestServer> {
  const server = await startServer((request, response) => {
    const {
      status = 200,
      headers = { 'content-type': 'text/html' },
      body = '',
    } = answer(request.url ?? '');
    response.writeHead(status, headers).end(body);
  });
  opened.push(server);
  return server;
}

function makeTool(
  options: Partial<WebFetchDeps> & { net?: PublicFetchDeps; clockMs?: { now: number } } = {},
) {
  const time = options.clockMs ?? { now: 1_000_000 };
  const { net, clockMs: _unused, ...deps } = options;
  return webFetchTool({
    fetch: async () => (request) => fetchPublic(request, { environment: {}, ...net }),
    clock: { now: () => time.now, monotonic: () => time.now, uuid: () => 'id' },
    allowLoopback: true,
    ...deps,
  });
}

const prompt = 'What is it?';

describe('WebFetch', () => {
  it('returns a page as Markdown with the contract’s fields', async () => {
    const body = '<title>Doc</title><h1>Hi</h1><p><a href="x">link</a></p>';
    const server = await serve(() => ({ body }));
    const tool = makeTool();
    const url = `${server.url}/a/b#frag`;
    const output = await callTool(tool, { url, prompt });
    const text = `${server.url}/a/b (Doc)\n\n# Hi\n\n[link](${server.url}/a/x)`;
    expect(output).toEqual({
      content: text,
      structured: {
        bytes: body.length,
        code: 200,
        codeText: 'OK',
        result: text,
        durationMs: 0,
        url,
      },
    });
    expect(tool.kind).toBe('network');
    expect(tool.concurrencySafe({ url, prompt })).toBe(true);
  });

  it('is judged by the URL as it will be read', () => {
    const workspace = { cwd: '/', roots: ['/'], setCwd: () => {} };
    const subject = (url: string) => makeTool().subject({ url, prompt }, workspace).url;
    expect(subject('HTTPS://EXAMPLE.com:443/a/../b')).toBe('https://example.com/b');
    expect(subject('http://0x7f.1/')).toBe('http://127.0.0.1/');
    expect(subject('no url')).toBe('no url');
  });

  it('upgrades http to https', async () => {
    const asked: string[] = [];
    const tool = makeTool({
      fetch: async () => async (request) => {
        asked.push(request.url);
        return { ok: false, error: { reason: 'connection', message: 'refused' } };
      },
    });
    const output = await callTool(tool, { url: 'http://site.example/x', prompt });
    expect(asked).toEqual(['https://site.example/x']);
    expect(output.isError).toBe(true);
    expect(output.content).toContain('https only');
  });

  it.each(['http://127.0.0.1/', 'https://localhost/', 'http://2130706433/', 'https://[::1]/'])(
    'refuses %s outside of tests and says why',
    async (url) => {
      const output = await callTool(makeTool({ allowLoopback: false }), { url, prompt });
      expect(output.isError).toBe(true);
      expect(output.content).toMatch(/loopback|inner network/);
    },
  );

  it('refuses private addresses behind names', async () => {
    const tool = makeTool({ net: { resolve: async () => ['10.1.2.3'] } });
    const output = await callTool(tool, { url: 'https://wiki.example/', prompt });
    expect(output.isError).toBe(true);
    expect(output.content).toContain('10.1.2.3, which belongs to a private network');
  });

  it('follows redirects on the same host, each judged anew', async () => {
    const server = await serve((url) =>
      url === '/end' ? { body: 'done' } : { status: 302, headers: { location: '/end' } },
    );
    const output = await callTool(makeTool(), { url: `${server.url}/start`, prompt });
    expect(output.content).toBe(`${server.url}/end\n\ndone`);

    let asked = 0;
    const rebinding = makeTool({
      fetch: async () => (request) =>
        fetchPublic(
          { ...request, url: request.url.replace('https:', 'http:') },
          { environment: {}, resolve: async () => [asked++ === 0 ? '127.0.0.1' : '10.0.0.1'] },
        ),
    });
    const second = await callTool(rebinding, {
      url: `https://turns.example:${server.port}/start`,
      prompt,
    });
    expect(second.isError).toBe(true);
    expect(second.content).toContain('10.0.0.1');
    expect(asked).toBe(2);
  });

  it('reports a redirect to another host, private ones included, without a request', async () => {
    const other = await serve(() => ({ body: 'secret' }));
    const server = await serve((url) => ({
      status: 301,
      headers: { location: url === '/meta' ? 'http://169.254.169.254/' : `${other.url}/x` },
    }));
    const output = await callTool(makeTool(), { url: server.url, prompt });
    expect(output.isError).toBeUndefined();
    expect(output.content).toContain(`${other.url}/x`);
    expect(output.structured).toMatchObject({ code: 301, codeText: 'Moved Permanently', bytes: 0 });
    const meta = await callTool(makeTool(), { url: `${server.url}/meta`, prompt });
    expect(meta.content).toContain('https://169.254.169.254/');
    expect(other.requests).toHaveLength(0);
    const next = await callTool(makeTool(), { url: 'https://169.254.169.254/', prompt });
    expect(next.isError).toBe(true);
  });

  it('gives up after five redirects', async () => {
    const server = await serve((url) => ({ status: 307, headers: { location: `${url}x` } }));
    const output = await callTool(makeTool(), { url: `${server.url}/`, prompt });
    expect(output.isError).toBe(true);
    expect(server.requests).toHaveLength(6);
  });

  it('shows an error page as an error, shortened, and does not keep it', async () => {
    const server = await serve(() => ({ status: 404, body: `<p>${'gone '.repeat(1000)}</p>` }));
    const tool = makeTool();
    const output = await callTool(tool, { url: `${server.url}/x`, prompt });
    expect(output.isError).toBe(true);
    expect(output.content).toContain('HTTP 404 Not Found');
    expect(String(output.content).length).toBeLessThan(2300);
    expect(output.structured).toMatchObject({ code: 404, codeText: 'Not Found' });
    await callTool(tool, { url: `${server.url}/x`, prompt });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['application/json', '{"a":1}'],
    ['text/plain; charset=utf-8', 'plain <b>'],
    ['text/markdown', '# md'],
    ['application/ld+json', '{}'],
    ['application/rss+xml', '<rss/>'],
  ])('returns %s as it is', async (type, body) => {
    const server = await serve(() => ({ headers: { 'content-type': type }, body }));
    const output = await callTool(makeTool(), { url: `${server.url}/x`, prompt });
    expect(output.content).toBe(`${server.url}/x\n\n${body}`);
  });

  it.each([
    ['image/png', /"image\/png"/],
    ['application/octet-stream', /octet-stream/],
    ['application/pdf', /PDF.*Download it/],
  ])('refuses %s by name', async (type, words) => {
    const server = await serve(() => ({ headers: { 'content-type': type }, body: 'x' }));
    const output = await callTool(makeTool(), { url: server.url, prompt });
    expect(output.isError).toBe(true);
    expect(output.content).toMatch(words);
  });

  it('looks at the bytes when no type is given', async () => {
    const server = await serve((url) => ({
      headers: {},
      body: url === '/bin' ? new Uint8Array([1, 0, 2]) : '<!DOCTYPE html><p>x <b>y</b></p>',
    }));
    const page = await callTool(makeTool(), { url: `${server.url}/`, prompt });
    expect(page.content).toContain('x **y**');
    const binary = await callTool(makeTool(), { url: `${server.url}/bin`, prompt });
    expect(binary.isError).toBe(true);
  });

  it.each([
    ['header', 'text/html; charset=ISO-8859-1', '<p>caf\xe9</p>'],
    ['meta', 'text/html', '<meta charset="latin1"><p>caf\xe9</p>'],
    [
      'http-equiv',
      'text/html',
      '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>caf\xe9</p>',
    ],
    ['unknown name', 'text/html; charset=nonsense', '<p>caf\xc3\xa9</p>'],
    ['byte order mark', 'text/html; charset=latin1', '\xef\xbb\xbf<p>caf\xc3\xa9</p>'],
  ])('decodes by %s', async (_how, type, body) => {
    const server = await serve(() => ({
      headers: { 'content-type': type },
      body: Buffer.from(body, 'latin1'),
    }));
    const output = await callTool(makeTool(), { url: server.url, prompt });
    expect(output.content).toContain('café');
  });

  it('pages through long content without fetching again', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join('\n');
    const server = await serve(() => ({ headers: { 'content-type': 'text/plain' }, body: lines }));
    const tool = makeTool();
    let read = '';
    let offset = 0;
    for (;;) {
      const output = await callTool(tool, { url: `${server.url}/`, prompt, offset });
      const text = String(output.content).slice(`${server.url}/\n\n`.length);
      const note =
        /\n\n\[characters (\d+)-(\d+) of (\d+)(?:; for more pass offset: (\d+))?\]$/.exec(text);
      if (note === null) throw new Error(text.slice(-100));
      read += text.slice(0, note.index);
      if (note[4] === undefined) break;
      expect(Number(note[4])).toBe(offset + PAGE_CHUNK);
      offset = Number(note[4]);
    }
    expect(read).toBe(lines);
    expect(server.requests).toHaveLength(1);
    const past = await callTool(tool, { url: `${server.url}/`, prompt, offset: 10_000_000 });
    expect(past.isError).toBe(true);
    expect(past.content).toContain(String(lines.length));
  });

  it('keeps pages for 15 minutes and at most 50 of them', async () => {
    const server = await serve(() => ({ body: 'x' }));
    const clockMs = { now: 0 };
    const tool = makeTool({ clockMs });
    const get = (path: string) => callTool(tool, { url: server.url + path, prompt });
    await get('/a');
    await get('/a#other');
    clockMs.now += 15 * 60 * 1000 - 1;
    await get('/a');
    expect(server.requests).toHaveLength(1);
    clockMs.now += 1;
    await get('/a');
    expect(server.requests).toHaveLength(2);
    for (let n = 0; n < 50; n++) await get(`/p${n}`);
    await get('/p0');
    expect(server.requests).toHaveLength(52);
    await get('/a');
    expect(server.requests).toHaveLength(53);
  });

  it('lets the small model answer, and shows the page where it does not', async () => {
    const server = await serve(() => ({ body: '<p>page</p>' }));
    const url = `${server.url}/`;
    const answer = (summarise: WebFetchDeps['summarise']) =>
      callTool(makeTool(summarise === undefined ? {} : { summarise }), { url, prompt });
    const extract = await answer(async (asked, text) => `${asked} ${text}!`);
    expect(extract.content).toBe(`${url}\n\nWhat is it? page!`);
    const nothing = await answer(async () => undefined);
    expect(nothing.content).toBe(`${url}\n\npage`);
    const failing = await answer(async () => {
      throw new Error('overloaded');
    });
    expect(failing.content).toBe(`${url}\n\n(no extract: overloaded)\n\npage`);
  });

  it('says what is wrong with a URL, a scheme, an empty page and a cancelled call', async () => {
    const server = await serve(() => ({}));
    const call = (url: string, signal?: AbortSignal) =>
      callTool(makeTool(), { url, prompt }, signal === undefined ? {} : { signal });
    expect((await call('example')).content).toContain('"example" is not a URL');
    expect((await call('file:///etc/passwd')).content).toContain('only http and https');
    expect((await call(server.url)).content).toContain('(the page is empty)');
    const cancelled = await call(server.url, AbortSignal.abort());
    expect(cancelled).toMatchObject({ isError: true });
    expect(cancelled.content).toContain('cancelled');
  });
});
