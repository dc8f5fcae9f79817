import { parseUrl } from '../../lib/parse-url.js';
import { HttpError } from './http-error.js';

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

export interface HttpProxy {
  readonly url: URL;
  readonly port: number;
  /** `proxy-authorization`, where the address carries a user. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The proxy for `target`, if any. Loopback addresses are always reached directly. Throws `HttpError`
 * for an address that cannot be used: going round a proxy in silence would be worse.
 */
export function proxyFor(target: URL, environment: ProxyEnvironment): HttpProxy | undefined {
  if (isLoopback(target.hostname)) return undefined;
  const scheme = target.protocol === 'https:' ? 'https' : 'http';
  const address = pick(environment, `${scheme}_proxy`) ?? pick(environment, 'all_proxy');
  if (address === undefined || bypasses(target, pick(environment, 'no_proxy'))) return undefined;
  const url = parseProxy(address, `${scheme.toUpperCase()}_PROXY`);
  return { url, port: portOf(url), headers: credentialsOf(url) };
}

function parseProxy(address: string, variable: string): URL {
  const url = parseUrl(address.includes('://') ? address : `http://${address}`);
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new HttpError(
    'proxy',
    `the proxy address in ${variable} (or ALL_PROXY) cannot be used: it must begin with http:// or https://`,
  );
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.toLowerCase();
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    host === '::1' ||
    /^127(\.\d{1,3}){3}$/.test(host)
  );
}

function pick(environment: ProxyEnvironment, lowerName: string): string | undefined {
  const value = environment[lowerName] ?? environment[lowerName.toUpperCase()];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function bypasses(target: URL, list: string | undefined): boolean {
  if (list === undefined) return false;
  const host = target.hostname.toLowerCase();
  return list.split(/[\s,]+/).some((raw) => {
    const entry = raw.toLowerCase();
    if (entry === '') return false;
    if (entry === '*') return true;
    const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (port !== undefined && Number(port) !== portOf(target)) return false;
    const bare = name.replace(/^\*?\./, '');
    return host === bare || host.endsWith(`.${bare}`);
  });
}

/** The URL's port, or the default one of its scheme. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

export function credentialsOf(url: URL): Record<string, string> {
  if (url.username === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
