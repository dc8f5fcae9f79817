import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type FetchRequest,
  fetchPublic,
  type PublicFetchDeps,
} from '../../src/platform/http/public-fetch.js';
import { listen, startServer, type TestServer } from './http-server.js';

const LOOPBACK = { loopback: true };
const NO_PROXY_SET: PublicFetchDeps = { environment: {} };
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close();
});

async function serve(listener: Parameters<typeof startServer>[0]): Promise<TestServer> {
  const server = await startServer(listener);
  opened.push(server);
  return server;
}

function fetchIt(request: FetchRequest, deps: PublicFetchDeps = {}) {
  return fetchPublic(request, { ...NO_PROXY_SET, ...deps });
}

async function bodyOf(result: Awaited<ReturnType<typeof fetchPublic>>): Promise<string> {
  if (!result.ok || result.value.kind !== 'response') throw new Error(JSON.stringify(result));
  return new TextDecoder().decode(result.value.body);
}

describe('addresses', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://172.20.0.1/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://255.255.255.255/',
    'http://example.com@127.0.0.1/',
    'http://example.com:80@10.0.0.1/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://x.localhost/',
    'http://metadata.google.internal/',
    'http://printer.local/',
  ])('refuses %s without asking a name server', async (url) => {
    const resolve = async () => {
      throw new Error('asked');
    };
    const result = await fetchIt({ url }, { resolve });
    expect(result).toMatchObject({ ok: false, error: { reason: 'forbidden' } });
  });

  it('refuses an address with a zone id, other schemes and credentials', async () => {
    for (const url of [
      'http://[fe80::1%25eth0]/',
      'file:///etc/passwd',
      'ftp://example.com/',
      'gopher://example.com/',
      'data:text/plain,x',
      'https://user:secret@example.com/',
      'not a url',
      '',
    ]) {
      const result = await fetchIt({ url });
      expect(result, url).toMatchObject({ ok: false, error: { reason: 'invalid_url' } });
    }
  });

  it('says which address of a name was the reason', async () => {
    const result = await fetchIt(
      { url: 'http://inner.example/' },
      { resolve: async () => ['192.168.7.7'] },
    );
    expect(result).toEqual({
      ok: false,
      error: {
        reason: 'forbidden',
        message: '"inner.example" resolves to 192.168.7.7, which belongs to a private network',
      },
    });
  });

  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['2606:4700:4700::1111', '::ffff:10.0.0.1']],
    [['nonsense']],
    [['fe80::1%eth0']],
  ])('refuses a name when any of %j is inner', async (addresses) => {
    const result = await fetchIt(
      { url: 'http://mixed.example/' },
      { resolve: async () => addresses },
    );
    expect(result).toMatchObject({ ok: false, error: { reason: 'forbidden' } });
  });

  it('does not open other inner networks with loopback', async () => {
    for (const url of ['http://10.0.0.1/', 'http://0.0.0.0/', 'http://printer.local/']) {
      const result = await fetchIt({ url, allow: LOOPBACK });
      expect(result, url).toMatchObject({ ok: false, error: { reason: 'forbidden' } });
    }
  });

  it('connects to the judged address whatever the name server says later', async () => {
    const server = await serve((_request, response) => response.end('first answer'));
    let asked = 0;
    const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    const url = `http://rebind.example:${server.port}/x?y=1`;
    const first = await fetchIt({ url, allow: LOOPBACK }, { resolve });
    expect(await bodyOf(first)).toBe('first answer');
    expect(asked).toBe(1);
    expect(server.requests).toMatchObject([
      { url: '/x?y=1', headers: { host: `rebind.example:${server.port}` } },
    ]);
    const second = await fetchIt({ url, allow: LOOPBACK }, { resolve });
    expect(second).toMatchObject({ ok: false, error: { reason: 'forbidden' } });
    expect(server.requests).toHaveLength(1);
  });

  it('reports names that do not resolve', async () => {
    const failing = async () => {
      throw new Error('ENOTFOUND');
    };
    const url = 'http://nowhere.example/';
    expect(await fetchIt({ url }, { resolve: failing })).toMatchObject({
      error: { reason: 'dns' },
    });
    expect(await fetchIt({ url }, { resolve: async () => [] })).toMatchObject({
      error: { reason: 'dns' },
    });
  });
});

describe('redirects', () => {
  it('are returned, absolute, and not followed', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: '//169.254.169.254/latest' }).end();
    });
    const result = await fetchIt({ url: `${server.url}/a/b`, allow: LOOPBACK });
    expect(result).toEqual({
      ok: true,
      value: {
        kind: 'redirect',
        status: 302,
        statusText: 'Found',
        redirect: 'http://169.254.169.254/latest',
      },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('without a location are an answer, with a broken one a failure', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/bare') response.writeHead(301).end('moved');
      else response.writeHead(301, { location: 'http://[broken' }).end();
    });
    const bare = await fetchIt({ url: `${server.url}/bare`, allow: LOOPBACK });
    expect(await bodyOf(bare)).toBe('moved');
    const broken = await fetchIt({ url: `${server.url}/broken`, allow: LOOPBACK });
    expect(broken).toMatchObject({ error: { reason: 'bad_response' } });
  });
});

describe('bodies', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['GZIP', gzipSync],
  ])('undoes %s', async (encoding, compress) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(compress('grüße'));
    });
    expect(await bodyOf(await fetchIt({ url: server.url, allow: LOOPBACK }))).toBe('grüße');
  });

  it('stops a compressed bomb at the cap', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const result = await fetchIt({ url: server.url, allow: LOOPBACK });
    expect(result).toEqual({
      ok: false,
      error: { reason: 'too_large', message: 'the answer expands to more than 10 MB' },
    });
  });

  it('refuses unknown codings, damaged and cut compressed bodies', async () => {
    const server = await serve((request, response) => {
      const encoding = request.url === '/zstd' ? 'zstd' : 'gzip';
      const body = request.url === '/cut' ? gzipSync('x'.repeat(1000)).subarray(0, 20) : 'no gzip';
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    for (const path of ['/zstd', '/cut', '/damaged']) {
      const result = await fetchIt({ url: server.url + path, allow: LOOPBACK });
      expect(result, path).toMatchObject({ ok: false, error: { reason: 'bad_response' } });
    }
  });

  it('stops at the byte cap, announced or not, and takes exactly the cap', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', '101');
      response.write('x'.repeat(50));
      response.end('x'.repeat(request.url === '/exact' ? 50 : 51));
    });
    const get = (path: string) =>
      fetchIt({ url: server.url + path, maxBytes: 100, allow: LOOPBACK });
    expect(await get('/announced')).toMatchObject({ error: { reason: 'too_large' } });
    expect(await get('/streamed')).toMatchObject({ error: { reason: 'too_large' } });
    expect(await bodyOf(await get('/exact'))).toHaveLength(100);
  });

  it('gives up on a body that drips past the deadline', async () => {
    let dripping: NodeJS.Timeout | undefined;
    const server = await serve((_request, response) => {
      response.writeHead(200);
      dripping = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(dripping));
    });
    const result = await fetchIt({ url: server.url, timeoutMs: 299.7, allow: LOOPBACK });
    expect(result).toMatchObject({ ok: false, error: { reason: 'timeout' } });
  });

  it('gives up on a server that never answers and on a resolver that hangs', async () => {
    const server = await serve(() => {});
    const silent = await fetchIt({ url: server.url, timeoutMs: 200, allow: LOOPBACK });
    expect(silent).toMatchObject({ ok: false, error: { reason: 'timeout' } });
    const hanging = await fetchIt(
      { url: 'http://slow.example/', timeoutMs: 200 },
      { resolve: () => new Promise(() => {}) },
    );
    expect(hanging).toMatchObject({ ok: false, error: { reason: 'timeout' } });
  });

  it('stops when cancelled, before and during', async () => {
    const controller = new AbortController();
    const server = await serve((_request, response) => {
      response.write('begun');
      controller.abort();
    });
    const request = { url: server.url, signal: controller.signal, allow: LOOPBACK };
    expect(await fetchIt(request)).toMatchObject({ error: { reason: 'aborted' } });
    expect(await fetchIt(request)).toMatchObject({ error: { reason: 'aborted' } });
    expect(server.requests).toHaveLength(1);
  });

  it('tells a cut connection from a complete answer', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/early') return request.socket.destroy();
      response.writeHead(200, { 'content-length': '100' });
      response.write('only this', () => request.socket.destroy());
      return undefined;
    });
    const cut = await fetchIt({ url: `${server.url}/body`, allow: LOOPBACK });
    expect(cut).toEqual({
      ok: false,
      error: {
        reason: 'connection',
        message: 'the connection was cut before the answer was complete',
      },
    });
    const early = await fetchIt({ url: `${server.url}/early`, allow: LOOPBACK });
    expect(early).toMatchObject({ ok: false, error: { reason: 'connection' } });
  });

  it('reports what is not HTTP and what refuses to connect', async () => {
    const server = createTcpServer((socket) => {
      socket.end('SSH-2.0-OpenSSH\r\n', () => socket.destroy());
    });
    const port = await listen(server);
    const garbage = await fetchIt({ url: `http://127.0.0.1:${port}/`, allow: LOOPBACK });
    expect(garbage).toMatchObject({ ok: false, error: { reason: 'connection' } });
    server.close();
    await once(server, 'close');
    const closed = await fetchIt({ url: `http://127.0.0.1:${port}/`, allow: LOOPBACK });
    expect(closed).toMatchObject({ ok: false, error: { reason: 'connection' } });
  });
});

describe('requests', () => {
  it('sends method and body, keeps header values on one line and owns the connection headers', async () => {
    const server = await serve((request, response) => request.pipe(response));
    const result = await fetchIt({
      url: server.url,
      method: 'POST',
      headers: {
        'X-Note': 'a\r\nX-Injected: 1\0',
        'x-wide': 'snow ☃ man',
        Host: 'other.example',
        'Content-Length': '1',
        'bad name': 'x',
      },
      body: '{"a":1}',
      allow: LOOPBACK,
    });
    expect(await bodyOf(result)).toBe('{"a":1}');
    const headers = server.requests[0]?.headers ?? {};
    expect(server.requests[0]?.method).toBe('POST');
    expect(headers).toMatchObject({
      'x-note': 'aX-Injected: 1',
      'x-wide': 'snow  man',
      host: `127.0.0.1:${server.port}`,
      'content-length': '7',
    });
    expect(headers).not.toHaveProperty('x-injected');
  });
});

describe('proxies', () => {
  it('sends http in absolute form, with credentials, and lets the proxy resolve', async () => {
    const proxy = await serve((_request, response) => response.end('by proxy'));
    const environment = { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` };
    const resolve = async () => {
      throw new Error('asked');
    };
    const result = await fetchIt({ url: 'http://site.example/a#b' }, { environment, resolve });
    expect(await bodyOf(result)).toBe('by proxy');
    expect(proxy.requests).toMatchObject([
      {
        url: 'http://site.example/a',
        headers: {
          host: 'site.example',
          'proxy-authorization': `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
        },
      },
    ]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://10.0.0.1/',
    'http://intranet/',
    'http://a.internal/',
    'http://localhost/',
    'http://[::1]/',
    'http://metadata/',
  ])('still refuses %s', async (url) => {
    const proxy = await serve((_request, response) => response.end());
    const environment = { http_proxy: `127.0.0.1:${proxy.port}` };
    const result = await fetchIt({ url }, { environment });
    expect(result).toMatchObject({ ok: false, error: { reason: 'forbidden' } });
    expect(proxy.requests).toHaveLength(0);
  });

  it('goes around the proxy for NO_PROXY, and then judges the addresses itself', async () => {
    const proxy = await serve((_request, response) => response.end('by proxy'));
    const direct = await serve((_request, response) => response.end('direct'));
    const get = (noProxy: string) =>
      fetchIt(
        { url: `http://a.site.example:${direct.port}/`, allow: LOOPBACK },
        {
          environment: { HTTP_PROXY: proxy.url, NO_PROXY: noProxy },
          resolve: async () => ['127.0.0.1'],
        },
      );
    for (const list of [
      '*',
      'site.example',
      '.site.example',
      '*.site.example',
      'x, a.site.example',
      `a.site.example:${direct.port}`,
    ]) {
      expect(await bodyOf(await get(list)), list).toBe('direct');
    }
    for (const list of ['', 'ite.example', 'b.site.example', 'site.example:1', 'other']) {
      expect(await bodyOf(await get(list)), list).toBe('by proxy');
    }
    const inner = await fetchIt(
      { url: 'http://a.site.example/' },
      {
        environment: { HTTP_PROXY: proxy.url, NO_PROXY: '*' },
        resolve: async () => ['10.0.0.1'],
      },
    );
    expect(inner).toMatchObject({ error: { reason: 'forbidden' } });
  });

  it('refuses rather than going around a proxy it cannot use', async () => {
    const environment = { HTTPS_PROXY: 'socks5://127.0.0.1:1080' };
    const result = await fetchIt({ url: 'https://site.example/' }, { environment });
    expect(result).toMatchObject({ ok: false, error: { reason: 'connection' } });
    expect(JSON.stringify(result)).toContain('HTTPS_PROXY');
  });

  it('asks for a tunnel for https and names the proxy when it says no', async () => {
    const lines: string[] = [];
    const proxy = createTcpServer((socket: Socket) => {
      socket.once('data', (data) => {
        lines.push(data.toString().split('\r\n')[0] ?? '');
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      });
    });
    const port = await listen(proxy);
    opened.push(proxy);
    const environment = { https_proxy: `http://127.0.0.1:${port}` };
    const result = await fetchIt({ url: 'https://site.example/secret' }, { environment });
    expect(lines).toEqual(['CONNECT site.example:443 HTTP/1.1']);
    expect(result).toEqual({
      ok: false,
      error: {
        reason: 'connection',
        message: `the proxy 127.0.0.1:${port} refused a tunnel to site.example:443 with status 407`,
      },
    });
  });
});
