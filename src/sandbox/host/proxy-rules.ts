import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { classifyAddress, isInternalName, isIpAddress } from '../../platform/http/ip-address.js';

/** Where a program wants to go. */
export interface Target {
  /** Lower case, no trailing dot, an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** What lets a program's connections pass. */
export interface ProxyRules {
  allows(host: string, port: number): Promise<boolean>;
  named?(host: string, port: number): boolean;
}

/** `host:port`, as CONNECT and the Host header have it. Undefined when it is anything else. */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@[\]\s\\%]+)(?::(\d{1,5}))?$/i.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? defaultPort : Number(match[2]);
  return port === undefined ? undefined : targetOf(match[1] ?? '', port);
}

/** The target of a request line with a whole URL in it. */
export function parseAbsolute(url: string): { target: Target; path: string } | undefined {
  if (!/^http:\/\//i.test(url) || parseUrl(url) === undefined) return undefined;
  const parsed = new URL(url);
  // fail-closed: a name and a password in front of the host are there to confuse.
  if (parsed.username !== '' || parsed.password !== '') return undefined;
  const target = targetOf(parsed.hostname, parsed.port === '' ? 80 : Number(parsed.port));
  return target && { target, path: `${parsed.pathname}${parsed.search}` };
}

/** One spelling for each host: what the URL parser makes of it, so that `0x7f.1` is seen as what it is. */
export function targetOf(host: string, port: number): Target | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const bare = host.replace(/^\[|\]$/g, '');
  const url = bare.includes(':') ? `http://[${bare}]/` : `http://${bare}/`;
  if (bare === '' || /[/?#@\\\s]/.test(bare) || parseUrl(url) === undefined) return undefined;
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return name === '' ? undefined : { host: name, port };
}

/** fail-closed: exactly one Host header, and it names the host that is dialled. */
export function hostHeaderAgrees(values: readonly string[], target: Target): boolean {
  const [only] = values;
  if (values.length !== 1 || only === undefined) return false;
  const named = parseAuthority(only, 80);
  return named !== undefined && named.host === target.host && named.port === target.port;
}

/**
 * Whether a target may be dialled at all, before anything is resolved. The error is in words for the
 * program that asked.
 */
export async function judgeTarget(
  { host, port }: Target,
  rules: ProxyRules,
): Promise<Result<{ readonly isNamed: boolean }, string>> {
  const isNamed = rules.named?.(host, port) ?? false;
  if (!isNamed && isIpAddress(host)) {
    return err(`${host} is an IP address, and settings do not name it`);
  }
  if (!isNamed && isInternalName(host)) {
    return err(`${host} stands for this machine or an inner network, and settings do not name it`);
  }
  const isAllowed = await rules.allows(host, port).catch(() => false);
  return isAllowed ? ok({ isNamed }) : err(`${host}:${port} is not an allowed host`);
}

/**
 * The addresses of a name that may be dialled. fail-closed: one address of an inner network among them
 * refuses the name, unless settings name the host; where cloud metadata lives, only its address does.
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
