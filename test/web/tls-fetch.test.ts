import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fetchPublic } from '../../src/platform/http/public-fetch.js';
import { describeWith } from '../support/programs.js';
import { listen } from './http-server.js';

const directory = mkdtempSync(path.join(tmpdir(), 'tls-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A certificate made for this run; the test is skipped where no openssl is installed. */
function certificate(): { key: string; cert: string } | undefined {
  const key = path.join(directory, 'key.pem');
  const cert = path.join(directory, 'cert.pem');
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=site.example',
        '-addext',
        'subjectAltName=DNS:site.example',
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return undefined;
  }
}

const pair = certificate();

describeWith(['openssl'], 'fetchPublic over TLS', () => {
  const { key, cert } = pair ?? { key: '', cert: '' };

  it('checks the certificate against the name, not the pinned address', async () => {
    const server = createServer({ key, cert }, (request, response) => {
      response.end(`${request.headers.host}`);
    });
    const port = await listen(server);
    const get = (host: string, ca: string | undefined) =>
      fetchPublic(
        { url: `https://${host}:${port}/`, allow: { loopback: true } },
        { environment: {}, resolve: async () => ['127.0.0.1'], ...(ca ? { ca } : {}) },
      );
    const good = await get('site.example', cert);
    const wrongName = await get('other.example', cert);
    const untrusted = await get('site.example', undefined);
    server.close();
    server.closeAllConnections();
    if (!good.ok || good.value.kind !== 'response') throw new Error(JSON.stringify(good));
    expect(new TextDecoder().decode(good.value.body)).toBe(`site.example:${port}`);
    expect(wrongName).toMatchObject({ ok: false, error: { reason: 'connection' } });
    expect(untrusted).toMatchObject({ ok: false, error: { reason: 'connection' } });
  });

  it('goes through a proxy tunnel end to end', async () => {
    const server = createServer({ key, cert }, (_request, response) => response.end('inside'));
    const port = await listen(server);
    const tunnels: string[] = [];
    const proxy = createHttpServer();
    proxy.on('connect', (request, socket) => {
      tunnels.push(request.url ?? '');
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.pipe(socket);
        socket.pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    const proxyPort = await listen(proxy);
    const get = (ca: string | undefined) =>
      fetchPublic(
        { url: 'https://site.example/' },
        {
          environment: { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` },
          ...(ca ? { ca } : {}),
        },
      );
    const good = await get(cert);
    const untrusted = await get(undefined);
    for (const each of [server, proxy]) {
      each.close();
      each.closeAllConnections();
    }
    expect(tunnels).toEqual(['site.example:443', 'site.example:443']);
    if (!good.ok || good.value.kind !== 'response') throw new Error(JSON.stringify(good));
    expect(new TextDecoder().decode(good.value.body)).toBe('inside');
    expect(untrusted).toMatchObject({ ok: false, error: { reason: 'connection' } });
  });
});
