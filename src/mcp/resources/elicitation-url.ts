import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/visible.js';

export interface ElicitAddress {
  /** As the network will read it, with nothing invisible in it. */
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly string[];
}

const LONGEST_URL = 8192;

/**
 * An address that a server wants a person to open. Https, or http to this very machine; nothing that
 * hides who is addressed. fail-closed: any other address is not even shown.
 */
export function checkElicitUrl(text: string | undefined): Result<ElicitAddress, string> {
  if (text === undefined || text.length > LONGEST_URL || parseUrl(text) === undefined) {
    return err('its address cannot be read');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return err('its address holds a name or password in front of the host');
  }
  const isLocal = isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
    return err('its address is neither https nor on this machine');
  }
  const warnings: string[] = [];
  if (/(^|\.)xn--/.test(url.hostname)) {
    warnings.push('The host is written with letters beyond a to z, which may look like others.');
  }
  if (/^[\d.]+$|^\[/.test(url.hostname) && !isLocal) {
    warnings.push('The host is a number and not a name.');
  }
  return ok({ url: visible(url.href), host: url.host, warnings });
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
