import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SandboxProxy } from '../../src/sandbox/host/proxy.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(serve: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as net.AddressInfo).port;
}

/** What the host behind the proxy is sent when a program writes this; all of it stays on this machine. */
async function sent(raw: string, way: 'direct' | 'upstream'): Promise<string> {
  let got = '';
  const host = await listen((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      got += String(chunk);
      // Answered once all of it is there: the end of every request below.
      if (got.includes('END')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  const proxy = new SandboxProxy({
    rules: { allows: async (name) => name === 'good.example' },
    reach: {
      resolve: async () => ['198.51.99.7'],
      connect: async () => net.connect(host, '127.0.0.1'),
      upstream: () =>
        way === 'direct'
          ? undefined
          : { url: new URL(`http://127.0.0.1:${host}`), port: host, headers: {} },
    },
  });
  closing.push(() => proxy.close());
  const front = await listen((socket) => proxy.serve(socket));
  const client = net.connect(front, '127.0.0.1');
  closing.push(() => client.destroy());
  client.write(raw);
  const [answer] = await once(client, 'data');
  expect(String(answer)).toContain('200 OK');
  return got;
}

/** A request of its own, were it ever read as one. */
const SECOND = 'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nX: END\r\n\r\n';

describe.each(['direct', 'upstream'] as const)('a body on its way out, %s', (way) => {
  it('has an end that is told, whatever the method', async () => {
    const got = await sent(
      `DELETE http://good.example/ HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n${SECOND.length.toString(16)}\r\n${SECOND}\r\n0\r\n\r\n`,
      way,
    );
    const [head = '', ...rest] = got.split('\r\n\r\n');
    expect(head).toMatch(/transfer-encoding: chunked/i);
    expect(rest.join('\r\n\r\n').startsWith(`${SECOND.length.toString(16)}\r\n`)).toBe(true);
  });

  it('keeps its length and its host, though they are called the connection’s own', async () => {
    const got = await sent(
      `GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nConnection: content-length, host\r\nContent-Length: ${SECOND.length}\r\n\r\n${SECOND}`,
      way,
    );
    const [head = ''] = got.split('\r\n\r\n');
    expect(head).toMatch(/host: good\.example/i);
    expect(head).toContain(`Content-Length: ${SECOND.length}`);
  });
});

it('another proxy is asked for what was judged, not for what was written', async () => {
  const got = await sent(
    'GET http://GOOD.example.:80/a?b HTTP/1.1\r\nHost: good.example\r\nX: END\r\n\r\n',
    'upstream',
  );
  expect(got.split('\r\n')[0]).toBe('GET http://good.example/a?b HTTP/1.1');
});
