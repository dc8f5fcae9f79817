import type { Duplex } from 'node:stream';
import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type HttpProxy as CompanyProxy, proxyFor } from '../../platform/http/http-proxy.js';
import { resolveName } from '../../platform/http/ip-address.js';
import { judgeAddresses, judgeTarget, type ProxyRules, type Target } from './proxy-rules.js';

/** What reaches out; tests put their own in. */
export interface Reach {
  resolve(host: string): Promise<readonly string[]>;
  /** A connected stream, or a rejection. */
  connect(address: string, port: number): Promise<Duplex>;
  /** The company's proxy that we ourselves have to go through. */
  upstream(target: Target, scheme: 'http' | 'https'): CompanyProxy | undefined;
}

export type DialFailure = { readonly kind: 'refused' | 'unreachable'; readonly text: string };

/** How a target that was let pass is reached. */
export type Way =
  | { readonly kind: 'direct'; readonly addresses: readonly string[] }
  | { readonly kind: 'upstream'; readonly proxy: CompanyProxy };

/**
 * Judges a target and resolves it, once: what is dialled is the address that was judged, so a name
 * cannot change its mind in between.
 */
export async function findWay(
  target: Target,
  scheme: 'http' | 'https',
  rules: ProxyRules,
  reach: Reach,
): Promise<Result<Way, DialFailure>> {
  const judged = await judgeTarget(target, rules);
  if (!judged.ok) return err({ kind: 'refused', text: judged.error });
  const proxy = reach.upstream(target, scheme);
  // Names are resolved there, and only there.
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

/** The first address that answers. */
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

/** Opens a tunnel through the company's proxy. */
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

/** The machine's own network. */
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
