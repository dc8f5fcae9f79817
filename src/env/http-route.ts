import { HttpError } from './http-error.js';
import { type Headers, NONE, namedHost } from './http-head.js';
import { type Place, placeOf, serverNameOf, withoutBrackets } from './http-place.js';
import { isLoopback, type ProxyEnvironment, portOf, proxyFor } from './http-proxy.js';

/** Which way a request takes. */
export interface Route {
  readonly target: URL;
  /** Of the target, with its port where that has to be named. */
  readonly host: string;
  readonly place: Place;
  /** What is asked for: a path, or of a proxy the whole address. */
  readonly path: string;
  /** For the proxy that is asked, if one is. */
  readonly proxyHeaders: Headers;
}

/** Turn after turn the same address is asked. */
let last: { readonly url: string; readonly route: Route } | undefined;

/** A secure request goes through a proxy, a plain one is put to it. Throws `HttpError`. */
export function routeOf(url: string, own: Headers, environment: ProxyEnvironment): Route {
  if (last?.url === url) return last.route;
  const target = parseTarget(url);
  const route =
    target.protocol === 'https:' ? secure(target, own, environment) : plain(target, environment);
  // Only there do neither the environment nor the headers have a say.
  if (target.protocol === 'http:' && isLoopback(target.hostname)) last = { url, route };
  return route;
}

function plain(target: URL, environment: ProxyEnvironment): Route {
  const proxy = proxyFor(target, environment);
  return {
    target,
    host: target.host,
    place: placeOf({
      isSecure: false,
      hostname: withoutBrackets(proxy?.url.hostname ?? target.hostname),
      port: proxy?.port ?? portOf(target),
      serverName: '',
      tunnel: undefined,
    }),
    path: proxy === undefined ? target.pathname + target.search : target.href,
    proxyHeaders: proxy?.headers ?? NONE,
  };
}

function secure(target: URL, own: Headers, environment: ProxyEnvironment): Route {
  return {
    target,
    host: target.host,
    place: placeOf({
      isSecure: true,
      hostname: withoutBrackets(target.hostname),
      port: portOf(target),
      serverName: serverNameOf(namedHost(own, target.host)),
      tunnel: proxyFor(target, environment)?.url,
    }),
    path: target.pathname + target.search,
    proxyHeaders: NONE,
  };
}

function parseTarget(url: string): URL {
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw new HttpError('invalid_url', `"${url}" is not a URL`);
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new HttpError('invalid_url', `"${url}" is neither http: nor https:`);
  }
  return target;
}
