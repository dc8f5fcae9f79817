import type { RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { err, ok, type Result } from '../util/result.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that the environment names for this URL; undefined for a direct connection. */
export function proxyFor(url: URL, environment: Environment): Result<URL | undefined, string> {
  const names =
    url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const name = names.find((candidate) => (environment[candidate] ?? '') !== '');
  if (name === undefined) return ok(undefined);
  if (isExempt(url, environment.no_proxy || environment.NO_PROXY || '')) return ok(undefined);
  const text = environment[name] ?? '';
  const spelled = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(spelled) ? new URL(spelled) : undefined;
  // fail-closed: a proxy that cannot be used is not a reason to go around it.
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol)) {
    return err(`${name} does not name an http or https proxy; correct or unset it`);
  }
  return ok(proxy);
}

/** NO_PROXY: names (with all below them), `*`, optional port. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const match = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase());
      const isAddress = entry.includes('::') || entry.startsWith('[');
      const name = isAddress ? entry.replace(/[[\]]/g, '').toLowerCase() : (match?.[1] ?? '');
      if (!isAddress && match?.[2] !== undefined && match[2] !== port) return false;
      return name !== '' && (host === name || host.endsWith(`.${name}`));
    });
}

export interface ProxyRoute {
  readonly via: RequestOptions;
  readonly secure: boolean;
}

interface ProxyRequest {
  readonly url: URL;
  readonly proxy: URL;
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
}

/** Request options that lead through the proxy: a tunnel for https, the absolute form for http. */
export async function openThroughProxy(request: ProxyRequest): Promise<ProxyRoute> {
  const { url, proxy } = request;
  if (url.protocol === 'https:') {
    const socket = await openTunnel(request);
    const { connect } = await import('node:tls');
    const servername = url.hostname.replace(/^\[|\]$|\.$/g, '');
    const isName = !/^[\d.]+$|:/.test(servername);
    const createConnection = (): Socket =>
      connect({
        socket,
        ...(isName ? { servername } : { host: servername }),
        rejectUnauthorized: true,
        ...(request.ca === undefined ? {} : { ca: request.ca }),
      });
    return { via: { createConnection }, secure: true };
  }
  return {
    via: {
      ...addressOf(proxy),
      path: url.href.replace(/#.*$/, ''),
      headers: authorisation(proxy),
    },
    secure: proxy.protocol === 'https:',
  };
}

async function openTunnel({ url, proxy, ca, signal }: ProxyRequest): Promise<Socket> {
  const client =
    proxy.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const target = `${url.hostname}:${url.port || '443'}`;
  return new Promise((resolve, reject) => {
    const outgoing = client.request({
      ...addressOf(proxy),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorisation(proxy) },
      agent: false,
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    outgoing.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      return reject(refusedBy(proxy, response.statusCode));
    });
    outgoing.once('response', (response) => {
      response.destroy();
      reject(refusedBy(proxy, response.statusCode));
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

function refusedBy(proxy: URL, status: number | undefined): Error {
  return new Error(`the proxy ${proxy.host} refused the connection with status ${status}`);
}

function addressOf(proxy: URL): RequestOptions {
  const port = proxy.port || (proxy.protocol === 'https:' ? '443' : '80');
  return { hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function authorisation(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
