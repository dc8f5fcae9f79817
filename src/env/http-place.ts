import { isIP } from 'node:net';

/** After how much silence the system asks whether the other side is still there. */
export const KEEP_ALIVE_PROBE_MS = 1000;

/** Where a connection goes; two requests with the same place may use the same one. */
export interface Place {
  readonly isSecure: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The name that TLS is told, of a secure one; empty: none. */
  readonly serverName: string;
  /** The proxy that a secure connection is tunnelled through. */
  readonly tunnel: URL | undefined;
  /** The same for the same place. */
  readonly key: string;
}

export function placeOf(place: Omit<Place, 'key'>): Place {
  const { isSecure, hostname, port, serverName, tunnel } = place;
  const key = JSON.stringify([isSecure, hostname, port, serverName, tunnel?.href]);
  return { ...place, key };
}

/** The name for TLS of what a Host header says; an address has none. */
export function serverNameOf(host: string): string {
  const name = host.startsWith('[')
    ? host.slice(1, host.indexOf(']'))
    : (host.split(':', 1)[0] ?? '');
  return isIP(name) === 0 ? name : '';
}

export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
