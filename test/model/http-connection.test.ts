import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { httpStream } from '../../src/platform/http/http.js';
import { HttpError } from '../../src/platform/http/http-error.js';
import { nextTurn } from '../../src/platform/turns.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { selfSigned } from './self-signed.js';

const open: net.Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of open.splice(0)) server.close();
});

async function listen(server: net.Server): Promise<number> {
  open.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A server that answers each request with these bytes; the requests as they came, by connection. */
async function rawServer(
  answer: (request: string, socket: Socket) => void,
): Promise<{ readonly url: string; readonly requests: string[][] }> {
  const requests: string[][] = [];
  const port = await listen(
    net.createServer((socket) => {
      const mine: string[] = [];
      requests.push(mine);
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
        if (end === -1 || text.length < end + 4 + length) return;
        mine.push(text);
        text = '';
        answer(mine.at(-1) ?? '', socket);
      });
    }),
  );
  return { url: `http://127.0.0.1:${port}`, requests };
}

async function textOf(url: string, body?: string): Promise<string> {
  const { chunks } = await httpStream({ url, ...(body === undefined ? {} : { body }) });
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

const fine = (body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

describe('a connection is not used again', () => {
  it.each([
    ['when the server says so', fine('a').replace('\r\n', '\r\nconnection: close\r\n')],
    ['when it is about to be closed', fine('a').replace('\r\n', '\r\nkeep-alive: timeout=1\r\n')],
    ['when more came than the answer', `${fine('a')}x`],
    ['when the server speaks an older version', fine('a').replace('1.1', '1.0')],
  ])('%s', async (_, answer) => {
    const { url, requests } = await rawServer((_request, socket) => socket.write(answer));
    expect(await textOf(url)).toBe('a');
    expect(await textOf(url)).toBe('a');
    expect(requests.length).toBe(2);
  });

  it('when the answer came before the request was sent whole', async () => {
    let connections = 0;
    const port = await listen(
      net.createServer((socket) => {
        connections++;
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 413 Too much\r\ncontent-length: 2\r\n\r\nno');
        });
      }),
    );
    const url = `http://127.0.0.1:${port}`;
    const large = 'x'.repeat(20_000_000);
    expect(await textOf(url, large)).toBe('no');
    expect(await textOf(url, 'small')).toBe('no');
    expect(connections).toBe(2);
  });

  it('when the answer cannot be believed', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n';
    const { url, requests } = await rawServer((_request, socket) => socket.write(answer));
    expect(await kindOf(textOf(url))).toBe('protocol');
    expect(await kindOf(textOf(url))).toBe('protocol');
    expect(requests.length).toBe(2);
  });
});

describe('a connection is used again', () => {
  it('by small and large requests in turn, whose bytes all arrive', async () => {
    const { url, requests } = await rawServer((request, socket) => {
      const body = request.slice(request.indexOf('\r\n\r\n') + 4);
      socket.write(fine(`${body.length} ${new Set(body).size}`));
    });
    for (const size of [10, 300_000, 5, 100_000, 1_000_000, 20_000, 0]) {
      expect(await textOf(url, 'y'.repeat(size))).toBe(`${size} ${Math.min(1, size)}`);
    }
    expect(requests.length).toBe(1);
  });

  it('after an answer whose reader was behind and left', async () => {
    const many = '1\r\n.\r\n'.repeat(200);
    const { url, requests } = await rawServer((_request, socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${many}0\r\n\r\n`),
    );
    for (let turn = 0; turn < 3; turn++) {
      const response = await httpStream({ url, idleTimeoutMs: 5_000 });
      for await (const chunk of response.chunks) {
        expect(chunk).toMatch(/^\.+$/);
        response.finish(1_000);
        break;
      }
    }
    expect(requests.length).toBe(1);
  });

  it('and keeps the process only while it is used, however soon that is', async () => {
    const { url, requests } = await rawServer((_request, socket) => {
      socket.unref().write(fine('a'));
    });
    const isKept = (): boolean => process.getActiveResourcesInfo().includes('TCPSocketWrap');
    // Those of the tests before are still being closed.
    while (isKept()) await nextTurn();
    // The second one follows in the turn of the loop in which the first one was over.
    expect([await textOf(url), await textOf(url)]).toEqual(['a', 'a']);
    await nextTurn();
    expect(isKept()).toBe(false);
    const asked = textOf(url);
    expect(isKept()).toBe(true);
    expect(await asked).toBe('a');
    await nextTurn();
    expect(isKept()).toBe(false);
    expect(requests.map(({ length }) => length)).toEqual([3]);
  });

  it('after an answer without a body', async () => {
    const { url, requests } = await rawServer((request, socket) =>
      socket.write(
        request.startsWith('HEAD')
          ? 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n'
          : 'HTTP/1.1 204 Nothing\r\n\r\n',
      ),
    );
    const { status, chunks } = await httpStream({ url, method: 'HEAD' });
    for await (const chunk of chunks) expect(chunk).toBe('');
    expect(status).toBe(200);
    expect(await textOf(url)).toBe('');
    expect(requests.length).toBe(1);
  });
});

describe('many requests at once', () => {
  it('are all sent and answered, each with its own answer', async () => {
    const port = await listen(
      http.createServer((request, response) => {
        request.resume().on('end', () => response.end(request.url));
      }),
    );
    const names = Array.from({ length: 100 }, (_, index) => `/${index}`);
    const texts = await Promise.all(names.map((name) => textOf(`http://127.0.0.1:${port}${name}`)));
    expect(texts).toEqual(names);
  });

  it('keep their bytes to themselves, on new connections and on ones that a server does not read', async () => {
    const { url, requests } = await rawServer((_request, socket) => {
      socket.pause();
      socket.write(fine('read'));
    });
    const names = Array.from({ length: 12 }, (_, index) => `/${index}`);
    const bodyOf = (name: string): string => `${name} `.repeat(100_000).slice(0, 250 * 1024);
    for (const round of ['a', 'b']) {
      const sent = names.map((name) => textOf(url + name, bodyOf(name + round)));
      // They are sent by then, as far as the system takes them.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      for (const socket of sockets) socket.resume();
      expect(new Set(await Promise.all(sent))).toEqual(new Set(['read']));
    }
    const came = requests.flat().map((request) => {
      const name = request.slice(5, request.indexOf(' HTTP'));
      return [name, request.slice(request.indexOf('\r\n\r\n') + 4)];
    });
    expect(requests.length).toBe(names.length);
    expect(came.length).toBe(2 * names.length);
    for (const [index, [name, body]] of came.entries()) {
      expect(body).toBe(bodyOf(`${name}${index % 2 === 0 ? 'a' : 'b'}`));
    }
  });

  it('one that is called off before it was sent never reaches the server', async () => {
    const seen: string[] = [];
    const port = await listen(
      http.createServer((request, response) => {
        seen.push(request.url ?? '');
        if (request.url !== '/held') response.end();
        else response.write('some');
      }),
    );
    const url = `http://127.0.0.1:${port}`;
    const held = await httpStream({ url: `${url}/held` });
    const controller = new AbortController();
    const called = kindOf(httpStream({ url: `${url}/off`, signal: controller.signal }));
    controller.abort();
    expect(await called).toBe('aborted');
    expect(await textOf(`${url}/on`)).toBe('');
    expect(seen).toEqual(['/held', '/on']);
    await held.chunks[Symbol.asyncIterator]().return?.();
  });
});

describe('silence', () => {
  it('is not what a reader makes who is behind', async () => {
    const piece = `1\r\n.\r\n`;
    const { url } = await rawServer(async (_request, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n`);
      for (let sent = 0; sent < 100; sent++) {
        await new Promise((resolve) => socket.write(piece, resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write('0\r\n\r\n');
    });
    const { chunks } = await httpStream({ url, idleTimeoutMs: 1_500 });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    let text = '';
    for await (const chunk of chunks) text += chunk;
    expect(text.length).toBe(100);
  });

  it('of a proxy ends the opening of a tunnel', async () => {
    const port = await listen(net.createServer());
    const environment = { HTTPS_PROXY: `127.0.0.1:${port}` };
    const url = 'https://model.test/';
    expect(await kindOf(httpStream({ url, connectTimeoutMs: 50 }, environment))).toBe('timeout');
    const controller = new AbortController();
    const called = kindOf(httpStream({ url, signal: controller.signal }, environment));
    setTimeout(() => controller.abort(), 20);
    expect(await called).toBe('aborted');
  });
});

describe('a reader', () => {
  it('that was behind is not left waiting by a server that falls silent', async () => {
    const { url } = await rawServer((_request, socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n.\r\n'.repeat(100)}`,
      );
    });
    const { chunks } = await httpStream({ url, idleTimeoutMs: 1_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const read = async (): Promise<void> => {
      for await (const chunk of chunks) expect(chunk).toMatch(/^\.+$/);
    };
    expect(await kindOf(read())).toBe('timeout');
  });

  it('that has enough is not waiting any more', async () => {
    const { url } = await rawServer((_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1'),
    );
    const response = await httpStream({ url });
    const chunks = response.chunks[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toBe('1');
    const next = chunks.next();
    response.finish(20);
    expect((await next).done).toBe(true);
    expect((await chunks.next()).done).toBe(true);
  });
});

describe('a request', () => {
  it('fails at once where the server ends the connection without reading it', async () => {
    const port = await listen(net.createServer((socket) => socket.pause().end()));
    const body = 'x'.repeat(20_000_000);
    expect(await kindOf(httpStream({ url: `http://127.0.0.1:${port}`, body }))).toBe('reset');
  });

  it('has a method that is one word, in capitals', async () => {
    const { url, requests } = await rawServer((_request, socket) => socket.write(fine('a')));
    const method = 'GET /x HTTP/1.1\r\nhost: other\r\n\r\nGET';
    expect(await kindOf(httpStream({ url, method }))).toBe('other');
    await httpStream({ url, method: 'post' });
    expect(requests.flat()).toEqual([expect.stringMatching(/^POST .*content-length: 0/is)]);
  });
});

describe('https', () => {
  it('refuses a server that nobody vouches for', async () => {
    const port = await listen(https.createServer(selfSigned(), (_, response) => response.end()));
    expect(await kindOf(httpStream({ url: `https://127.0.0.1:${port}` }))).toBe('tls');
  });

  it('names the server, keeps the connection and sends large bodies', async () => {
    const pair = selfSigned();
    const names: string[] = [];
    const server = https.createServer(pair, (request, response) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on('end', () => response.end(`${bytes} `));
    });
    server.on('secureConnection', (socket: TLSSocket) => names.push(String(socket.servername)));
    const port = await listen(server);
    const project = makeTempProject({ files: {} });
    const certificate = path.join(project.root, 'cert.pem');
    writeFileSync(certificate, pair.cert);
    const source = fileURLToPath(new URL('../../src/platform/http/http.ts', import.meta.url));
    const { outputFiles } = await build({
      stdin: {
        contents: `import { httpStream } from ${JSON.stringify(source)};
          for (const host of ['localhost', 'localhost', '127.0.0.1'])
            for (const size of [5, 500_000]) {
              const url = 'https://' + host + ':${port}/';
              const { chunks } = await httpStream({ url, body: 'x'.repeat(size) });
              for await (const chunk of chunks) process.stdout.write(chunk);
            }`,
        loader: 'ts',
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
    });
    const child = spawn(process.execPath, ['--input-type=module', '-'], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(outputFiles[0]?.text);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    project.remove();
    expect({ code, output }).toEqual({ code: 0, output: '5 500000 '.repeat(3) });
    expect(names).toEqual(['localhost', 'false']);
  });
});
