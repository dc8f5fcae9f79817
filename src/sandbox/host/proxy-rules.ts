import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type HttpProxy as CompanyProxy, proxyFor } from '../../platform/http/http-proxy.js';
import {
  classifyAddress,
  isInternalName,
  isIpAddress,
  resolveName,
} from '../../platform/http/ip-address.js';
import type { ProxyRules } from '../types.js';

/** The start of every refusal by the sandbox proxy. */
export const REFUSAL_MARK = 'Refused by the Portcullis sandbox';

export interface Target {
  /** Lower case, without trailing dot or brackets. */
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port` from CONNECT or a Host header. */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@[\]\s\\%]+)(?::(\d{1,5}))?$/i.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? defaultPort : Number(match[2]);
  return port === undefined ? undefined : targetOf(match[1] ?? '', port);
}

/** The target of a request line with an absolute URL. */
export function parseAbsolute(url: string): { target: Target; path: string } | undefined {
  if (!/^http:\/\//i.test(url) || parseUrl(url) === undefined) return undefined;
  const parsed = new URL(url);
  // fail-closed: credentials before the host only serve to confuse.
  if (parsed.username !== '' || parsed.password !== '') return undefined;
  const target = targetOf(parsed.hostname, parsed.port === '' ? 80 : Number(parsed.port));
  return target && { target, path: `${parsed.pathname}${parsed.search}` };
}

/** Normalises a host through the URL parser, so that `0x7f.1` shows its real address. */
export function targetOf(host: string, port: number): Target | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const bare = host.replace(/^\[|\]$/g, '');
  const url = bare.includes(':') ? `http://[${bare}]/` : `http://${bare}/`;
  if (bare === '' || /[/?#@\\\s]/.test(bare) || parseUrl(url) === undefined) return undefined;
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return name === '' ? undefined : { host: name, port };
}

/** fail-closed: exactly one Host header must name the dialled host. */
export function hostHeaderAgrees(values: readonly string[], target: Target): boolean {
  const [only] = values;
  if (values.length !== 1 || only === undefined) return false;
  const named = parseAuthority(only, 80);
  return named !== undefined && named.host === target.host && named.port === target.port;
}

/** Whether a target may be dialled, before resolving it. The error is for the requesting program. */
export async function judgeTarget(
  { host, port }: Target,
  rules: ProxyRules,
): Promise<Result<{ readonly isNamed: boolean }, string>> {
  const isNamed = rules.named?.(host, port) ?? false;
  if (!isNamed && isIpAddress(host)) {
    return err(`${host} is an IP address, and settings do not name it`);
  }
  if (!isNamed && isInternalName(host)) {
    return err(
      `${host} is a name of this machine or an inner network, and settings do not allow it`,
    );
  }
  const isAllowed = await rules.allows(host, port).catch(() => false);
  return isAllowed ? ok({ isNamed }) : err(`${host}:${port} is not an allowed host`);
}

/**
 * The dialable addresses of a name. fail-closed: one internal address refuses the name unless settings name
 * the host; cloud metadata addresses must be named themselves.
 */
export function judgeAddresses(
  { host }: Target,
  addresses: readonly string[],
  isNamed: boolean,
): Result<readonly string[], string> {
  if (addresses.length === 0) return err(`${host} cannot be resolved`);
  for (const address of addresses) {
    const kind = classifyAddress(address);
    const isInner = kind === 'loopback' || kind === 'private' || kind === 'shared';
    if (kind === 'public' || (isNamed && (isInner || address === host))) continue;
    return err(`${host} leads to ${address}, which is not a public address`);
  }
  return ok(addresses);
}

/** The network functions; tests substitute others. */
export interface Reach {
  resolve(host: string): Promise<readonly string[]>;
  /** Connects or rejects. */
  connect(address: string, port: number): Promise<Duplex>;
  /** The company proxy for the target, if any. */
  upstream(target: Target, scheme: 'http' | 'https'): CompanyProxy | undefined;
}

export type DialFailure = { readonly kind: 'refused' | 'unreachable'; readonly text: string };

/** How to reach an allowed target. */
export type Way =
  | { readonly kind: 'direct'; readonly addresses: readonly string[] }
  | { readonly kind: 'upstream'; readonly proxy: CompanyProxy };

/** Judges and resolves a target once; the judged address is dialled, so DNS rebinding has no effect. */
export async function findWay(
  target: Target,
  scheme: 'http' | 'https',
  rules: ProxyRules,
  reach: Reach,
): Promise<Result<Way, DialFailure>> {
  const judged = await judgeTarget(target, rules);
  if (!judged.ok) return err({ kind: 'refused', text: judged.error });
  const proxy = reach.upstream(target, scheme);
  // The company proxy resolves the name.
  if (proxy !== undefined) return ok({ kind: 'upstream', proxy });
  const addresses = await reach.resolve(target.host).catch(() => []);
  if (addresses.length === 0) {
    return err({ kind: 'unreachable', text: `${target.host} cannot be resolved` });
  }
  const fit = judgeAddresses(target, addresses, judged.value.isNamed);
  return fit.ok
    ? ok({ kind: 'direct', addresses: fit.value })
    : err({ kind: 'refused', text: fit.error });
}

/** Connects to the first address that answers. */
export async function dialDirect(
  target: Target,
  addresses: readonly string[],
  reach: Reach,
): Promise<Result<Duplex, DialFailure>> {
  let last = 'no address';
  for (const address of addresses) {
    try {
      return ok(await reach.connect(address, target.port));
    } catch (thrown) {
      last = messageOf(thrown);
    }
  }
  return err({ kind: 'unreachable', text: `${target.host}:${target.port}: ${last}` });
}

/** Opens a tunnel through the company proxy. */
export async function dialThrough(
  proxy: CompanyProxy,
  target: Target,
): Promise<Result<Duplex, DialFailure>> {
  const { openTunnel } = await import('../../platform/http/https-agent.js');
  try {
    return ok(await openTunnel(proxy.url, target.host, target.port));
  } catch (thrown) {
    return err({ kind: 'unreachable', text: messageOf(thrown) });
  }
}

const CONNECT_MS = 15_000;

/** The machine's real network. */
export function realReach(env: Readonly<Record<string, string | undefined>>): Reach {
  return {
    resolve: async (host) => ((await isLiteral(host)) ? [host] : await resolveName(host)),
    async connect(address, port) {
      const net = await import('node:net');
      return new Promise((resolve, reject) => {
        const socket = net.connect({ host: address, port, allowHalfOpen: true, noDelay: true });
        socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('no answer')));
        socket.once('error', reject);
        socket.once('connect', () => {
          socket.setTimeout(0);
          socket.off('error', reject);
          resolve(socket);
        });
      });
    },
    upstream({ host, port }, scheme) {
      const name = host.includes(':') ? `[${host}]` : host;
      return proxyFor(new URL(`${scheme}://${name}:${port}/`), env);
    },
  };
}

async function isLiteral(host: string): Promise<boolean> {
  return (await import('node:net')).isIP(host) !== 0;
}
