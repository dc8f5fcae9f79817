// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are templates of hooks
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hook, HookRaw, HttpHandler } from '../../src/hooks/registry/hook.js';
import { createHttpRunner, type HttpRunnerDeps } from '../../src/hooks/runners/http.js';
import { fetchPublic, type PublicFetchDeps } from '../../src/platform/http/public-fetch.js';
import { listen, startServer, type TestServer } from '../web/http-server.js';
import { hookOf, requestOf } from './runner-rig.js';

const opened: { close(): unknown }[] = [];
/** Connections that this process has opened, whoever did. */
let dialled = 0;
const count = (): void => {
  dialled++;
};

beforeEach(() => {
  dialled = 0;
  subscribe('net.client.socket', count);
});

afterEach(async () => {
  unsubscribe('net.client.socket', count);
  for (const thing of opened.splice(0)) await thing.close();
});

async function serve(listener: Parameters<typeof startServer>[0]): Promise<TestServer> {
  const server = await startServer(listener);
  opened.push(server);
  return server;
}

interface Options extends Partial<HttpRunnerDeps> {
  readonly net?: PublicFetchDeps;
  readonly hook?: Partial<Hook<HttpHandler>>;
  readonly request?: Parameters<typeof requestOf>[0];
  readonly urls?: readonly string[];
  readonly variables?: readonly string[];
}

function post(handler: Omit<HttpHandler, 'type'>, options: Options = {}): Promise<HookRaw> {
  const run = createHttpRunner({
    fetch: async () => (request) => fetchPublic(request, { environment: {}, ...options.net }),
    env: options.env ?? {},
    allowedUrls: () => options.urls,
    allowedEnvVars: () => options.variables,
  });
  return run(hookOf({ type: 'http', ...handler }, options.hook), requestOf(options.request));
}

function failureOf(raw: HookRaw): { cause: string; message: string } {
  if (raw.kind !== 'failed') throw new Error(JSON.stringify(raw));
  return raw.failure;
}

describe('an http hook', () => {
  it('posts the input as JSON', async () => {
    let body = '';
    const server = await serve((request, response) => {
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => response.end());
    });
    const request = requestOf({ input: { text: 'grüße', tool_name: 'Bash' } });
    await post({ url: `${server.url}/hook?x=1` }, { request });
    expect(body).toBe(request.json);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/hook?x=1',
        headers: { 'content-type': 'application/json', host: `127.0.0.1:${server.port}` },
      },
    ]);
  });

  it.each([
    [
      'an object',
      200,
      '{"decision": "block", "reason": "no"}',
      { decision: 'block', reason: 'no' },
    ],
    ['an empty object', 200, '{}', {}],
    ['another good status', 201, ' {"a": 1}\n', { a: 1 }],
    ['a mark of the byte order', 200, '\ufeff{}', {}],
    ['nothing', 200, '', undefined],
    ['only space', 200, ' \r\n', undefined],
    ['no content', 204, '', undefined],
  ])('takes %s for an answer', async (_what, status, body, value) => {
    const server = await serve((_request, response) => {
      // The type of the content is not what decides.
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
    });
    expect(await post({ url: server.url })).toEqual({ kind: 'value', value });
  });

  it.each([
    ['text', 200, 'fine', 'no JSON'],
    ['a list', 200, '[{"decision": "allow"}]', 'JSON that is not an object'],
    ['a number', 200, '1', 'JSON that is not an object'],
    ['null', 200, 'null', 'JSON that is not an object'],
    ['two objects', 200, '{}{}', 'no JSON'],
    ['half an object', 200, '{"decision": "all', 'no JSON'],
    ['a key that reaches a prototype', 200, '{"__proto__": {}}', 'no JSON'],
    ['an error', 500, '{"decision": "allow"}', '500 Internal Server Error'],
    ['a refusal', 403, '{}', '403 Forbidden'],
    ['not found', 404, '', '404 Not Found'],
    ['not modified', 304, '', '304 Not Modified'],
    ['a redirect without a target', 302, '{}', '302 Found'],
  ])('takes %s for no verdict', async (_what, status, body, message) => {
    const server = await serve((_request, response) => response.writeHead(status).end(body));
    const failure = failureOf(await post({ url: server.url }));
    expect(failure.cause).toBe('http');
    expect(failure.message).toContain(message);
  });

  it('takes an object with a key that stands twice for no verdict', async () => {
    const body = '{"a":{"decision":"block","decision":null}}';
    const server = await serve((_request, response) => response.end(body));
    const raw = await post({ url: server.url });
    expect(failureOf(raw)).toMatchObject({
      cause: 'broken-output',
      message: expect.stringContaining('"decision" occurs twice'),
    });
    expect(raw).toMatchObject({ printed: body });
  });

  it('takes bytes that are no text for no verdict', async () => {
    const server = await serve((_request, response) => {
      response.end(Buffer.from([0x7b, 0xff, 0x7d]));
    });
    expect(failureOf(await post({ url: server.url })).cause).toBe('http');
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
    const target = await serve((_request, response) => response.end('{"decision": "allow"}'));
    const server = await serve((_request, response) => {
      response.writeHead(status, { location: target.url }).end();
    });
    const failure = failureOf(await post({ url: server.url }));
    expect(failure).toMatchObject({ cause: 'http' });
    expect(failure.message).toContain('redirects are not followed');
    expect(target.requests).toEqual([]);
    expect(dialled).toBe(1);
  });

  it('gives a server that is silent, or drips, no longer than its time', async () => {
    const hanging = await serve(() => {});
    const dripping = await serve((_request, response) => {
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    });
    for (const { url } of [hanging, dripping]) {
      const failure = failureOf(await post({ url }, { request: { timeoutMs: 150 } }));
      expect(failure).toEqual({ cause: 'timeout', message: expect.stringContaining('0.15 s') });
    }
  });

  it('ends when nobody waits for it any more', async () => {
    const waiting = new AbortController();
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await serve((_request, response) => {
      response.on('close', closed);
      waiting.abort(new Error('the turn was ended'));
    });
    expect(
      failureOf(await post({ url: server.url }, { request: { signal: waiting.signal } })),
    ).toEqual({ cause: 'unavailable', message: 'withdrawn: its answer is not needed any more' });
    await gone;
  });

  it('reads no more than a megabyte, packed or not', async () => {
    const huge = Buffer.alloc(2 * 1024 * 1024, ' ');
    const plain = await serve((_request, response) => response.end(huge));
    const unsized = await serve((_request, response) => {
      response.write(huge);
      response.end(huge);
    });
    const packed = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(huge));
    });
    for (const { url } of [plain, unsized, packed]) {
      const failure = failureOf(await post({ url }));
      expect(failure.cause).toBe('http');
      expect(failure.message).toContain('more than 1 MB');
    }
  });

  it('says when nobody listens, or the connection breaks', async () => {
    const port = await new Promise<number>((resolve) => {
      const server = createTcpServer();
      void listen(server).then((free) => server.close(() => resolve(free)));
    });
    const refused = failureOf(await post({ url: `http://127.0.0.1:${port}/` }));
    expect(refused.cause).toBe('http');
    expect(refused.message).toContain('ECONNREFUSED');
    const breaking = await serve((request) => request.socket.destroy());
    expect(failureOf(await post({ url: breaking.url })).cause).toBe('http');
    const cut = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{}', () => response.destroy());
    });
    expect(failureOf(await post({ url: cut.url })).cause).toBe('http');
  });
});

describe('the headers of an http hook', () => {
  const env = {
    ORACLE_OK: 'yes',
    ORACLE_NO: 'secret',
    ORACLE_CRLF: 'a\r\nX-Evil: 1',
    API_TOKEN: 'key',
  };

  async function sent(handler: Omit<HttpHandler, 'type' | 'url'>, options: Options = {}) {
    const server = await serve((_request, response) => response.end());
    const raw = await post({ url: server.url, ...handler }, { env, ...options });
    return { raw, headers: server.requests[0]?.headers };
  }

  it('carry listed variables, without line breaks, and nothing of others', async () => {
    const { headers } = await sent({
      headers: { 'X-A': 'v $ORACLE_OK ${ORACLE_NO} $ORACLE_CRLF' },
      allowedEnvVars: ['ORACLE_OK', 'ORACLE_CRLF'],
    });
    expect(headers).toMatchObject({ 'x-a': 'v yes  aX-Evil: 1' });
    expect(headers).not.toHaveProperty('x-evil');
  });

  it('cannot be broken out of by what is written', async () => {
    const { headers } = await sent({
      headers: { 'X-A': 'a\r\n\r\nGET /evil HTTP/1.1\r\nX-B: 1\0' },
    });
    expect(headers).toMatchObject({ 'x-a': 'aGET /evil HTTP/1.1X-B: 1' });
    expect(headers).not.toHaveProperty('x-b');
  });

  it('that belong to the connection are refused, and nothing is sent', async () => {
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'bad name']) {
      const { raw, headers } = await sent({ headers: { [name]: '1' } });
      expect(failureOf(raw).cause).toBe('http');
      expect(headers).toBeUndefined();
    }
    expect(dialled).toBe(0);
  });

  const token = {
    headers: { Authorization: 'Bearer ${API_TOKEN}' },
    allowedEnvVars: ['API_TOKEN'],
  };

  it('need the setting as well, where there is one', async () => {
    const authorization = async (variables: readonly string[] | undefined) =>
      (await sent(token, { variables })).headers?.authorization;
    expect(await authorization(undefined)).toBe('Bearer key');
    expect(await authorization(['OTHER', 'API_TOKEN'])).toBe('Bearer key');
    // What is left ends with a space, which is no part of a header.
    expect(await authorization(['OTHER'])).toBe('Bearer');
    expect(await authorization([])).toBe('Bearer');
    const unlisted = await sent({ headers: token.headers }, { variables: ['API_TOKEN'] });
    expect(unlisted.headers?.authorization).toBe('Bearer');
  });

  it('carry no secret that a file of a project has allowed itself', async () => {
    for (const source of ['project', 'local', 'plugin'] as const) {
      const hook = { source };
      expect((await sent(token, { hook })).headers?.authorization, source).toBe('Bearer');
      const granted = await sent(token, { hook, variables: ['API_TOKEN'] });
      expect(granted.headers?.authorization, source).toBe('Bearer key');
      const plain = { headers: { 'x-a': '$ORACLE_OK' }, allowedEnvVars: ['ORACLE_OK'] };
      expect((await sent(plain, { hook })).headers, source).toMatchObject({ 'x-a': 'yes' });
    }
  });

  it('that were left empty are named when the server objects', async () => {
    const server = await serve((_request, response) => response.writeHead(401).end());
    const raw = await post({ url: server.url, ...token }, { hook: { source: 'project' }, env });
    expect(failureOf(raw).message).toBe(
      'the server answered 401 Unauthorized (not sent, as not allowed or not set: API_TOKEN)',
    );
  });
});

describe('where an http hook may post to', () => {
  it('is limited by the patterns of the settings', async () => {
    const server = await serve((_request, response) => response.end());
    const at = async (...urls: string[]) => (await post({ url: server.url }, { urls })).kind;
    expect(await at('http://127.0.0.1:*/*')).toBe('value');
    expect(await at('https://hooks.example.com/*', `${server.url}/`)).toBe('value');
    expect(dialled).toBe(2);
    expect(await at()).toBe('failed');
    expect(await at('https://hooks.example.com/*')).toBe('failed');
    expect(await at('http://127.0.0.1/*')).toBe('failed');
    expect(dialled).toBe(2);
  });

  it.each([
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['::ffff:169.254.169.254']],
    [['100.64.0.1']],
    [['fd00::1']],
    [['fe80::1%eth0']],
    [['0.0.0.0']],
    [['64:ff9b::a00:1']],
    [['93.184.216.34', '10.0.0.1']],
    [['127.0.0.1', '10.0.0.1']],
    [['no address']],
  ])('is no name that resolves to %j', async (addresses) => {
    const net: PublicFetchDeps = { resolve: async () => addresses };
    const failure = failureOf(await post({ url: 'http://hooks.example.com/' }, { net }));
    expect(failure).toMatchObject({ cause: 'http' });
    expect(failure.message).toContain('resolves to');
    expect(dialled).toBe(0);
  });

  it.each([
    'http://169.254.169.254/latest/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::5efe:7f00:1]/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://0x0a000001/',
    'http://100.64.0.1/',
    'http://[fd00::1]/',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://localhost./',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://user:secret@127.0.0.1/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'http://',
  ])('is not %s', async (url) => {
    const resolve = () => Promise.reject(new Error('asked'));
    expect(failureOf(await post({ url }, { net: { resolve } }))).toMatchObject({ cause: 'http' });
    expect(dialled).toBe(0);
  });

  it('is the address that was judged, whatever the name server says later', async () => {
    const server = await serve((_request, response) => response.end());
    let asked = 0;
    const net: PublicFetchDeps = {
      resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']),
    };
    const url = `http://rebind.example:${server.port}/`;
    expect(await post({ url }, { net })).toEqual({ kind: 'value', value: undefined });
    expect([asked, dialled]).toEqual([1, 1]);
    expect(failureOf(await post({ url }, { net })).message).toContain('a private network');
    expect([asked, dialled]).toEqual([2, 1]);
  });

  it('is this machine without a proxy, by all its names', async () => {
    const proxy = await serve((_request, response) => response.end('{"via": "proxy"}'));
    const server = await serve((_request, response) => response.end('{"via": "nobody"}'));
    const net: PublicFetchDeps = { environment: { HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url } };
    for (const host of ['127.0.0.1', 'localhost', '127.1', '0x7f000001']) {
      const raw = await post({ url: `http://${host}:${server.port}/` }, { net });
      expect(raw, host).toEqual({ kind: 'value', value: { via: 'nobody' } });
    }
    expect(proxy.requests).toEqual([]);
  });

  it('is judged behind a proxy as far as it can be', async () => {
    const proxy = await serve((_request, response) => response.end('{"via": "proxy"}'));
    const net: PublicFetchDeps = {
      environment: { HTTP_PROXY: proxy.url },
      resolve: () => Promise.reject(new Error('asked')),
    };
    expect(await post({ url: 'http://hooks.example.com/x' }, { net })).toMatchObject({
      value: { via: 'proxy' },
    });
    expect(proxy.requests).toMatchObject([{ url: 'http://hooks.example.com/x' }]);
    for (const host of ['10.0.0.1', 'intranet', 'a.internal', 'localhost.', '[::ffff:7f00:1]']) {
      expect(failureOf(await post({ url: `http://${host}/` }, { net })).cause, host).toBe('http');
    }
    expect(proxy.requests).toHaveLength(1);
  });
});
