import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { commandTokens, matches } from '../../permissions/wildcard.js';
import { isLoopback } from '../../platform/http/http-proxy.js';
import { classifyAddress } from '../../platform/http/ip-address.js';

/**
 * The address that a hook posts to, in its normal form, or why nothing may be posted there. A URL is
 * taken as written: no variable is put into it, so that no secret can end up in one.
 *
 * `allowed`: the patterns of `allowedHttpHookUrls`; undefined where no settings have the key.
 */
export function hookUrl(
  text: string,
  allowed: readonly string[] | undefined,
): Result<string, string> {
  if (parseUrl(text) === undefined) return err('its address is no valid URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return err(`only http and https are spoken, not "${url.protocol}"`);
  }
  if (url.username !== '' || url.password !== '') {
    return err('credentials in a URL are not sent; put them into a header');
  }
  // fail-closed: a spelling of this machine that is not known as one would be handed to a proxy.
  if (isOddLoopback(url.hostname)) {
    return err(`${url.hostname} is this machine; write it as localhost, 127.0.0.1 or [::1]`);
  }
  // Never sent, so it must not help to fit a pattern either.
  url.hash = '';
  // fail-closed: a list that fits nothing, or is empty, lets nothing through.
  if (allowed !== undefined && !allowed.some((pattern) => fits(pattern, url))) {
    return err(`no pattern of allowedHttpHookUrls fits ${url.origin}`);
  }
  return ok(url.href);
}

function isOddLoopback(hostname: string): boolean {
  const means = classifyAddress(hostname) === 'loopback' || /(^|\.)localhost\.$/.test(hostname);
  return means && !isLoopback(hostname);
}

/**
 * `*` stands for any characters, but only within its part of the address: that of a host reaches
 * neither into the path nor out of it, so that `https://*.example.com/*` is about hosts of
 * example.com alone. Without a scheme: either. A port or host that ends the pattern with `*` leaves
 * the path open.
 */
function fits(pattern: string, url: URL): boolean {
  if (pattern === '*') return true;
  const [, scheme = '*', authority = '', path] = PARTS.exec(pattern) ?? [];
  const hosts = [url.host, `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}`];
  return (
    fitsText(scheme.toLowerCase(), url.protocol.slice(0, -1)) &&
    hosts.some((host) => fitsText(authority.toLowerCase(), host)) &&
    fitsText(path ?? (authority.endsWith('*') ? '*' : '/'), `${url.pathname}${url.search}`)
  );
}

const PARTS = /^(?:([a-z*]+):\/\/)?([^/?#]*)([/?][\s\S]*)?$/i;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function fitsText(pattern: string, text: string): boolean {
  return matches(commandTokens(pattern), text);
}
