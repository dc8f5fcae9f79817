import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { commandTokens, matches } from '../../permissions/rules/wildcard.js';
import { type Environment, isSecretName } from '../../platform/environment.js';
import { isLoopback } from '../../platform/http/http-proxy.js';
import { classifyAddress } from '../../platform/http/ip-address.js';
import type {
  FetchFailure,
  FetchRedirect,
  FetchResponse,
  PublicFetch,
} from '../../platform/http/public-fetch.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import { HEADER_NAME, HEADER_VARIABLE, urlFault } from '../../settings/schema/handler.js';
import { isOfOwner } from '../../settings/types.js';
import { duplicateProblem } from '../answers/read.js';
import { attempt, failed, oneLine } from '../dispatch/timeout.js';
import type { Hook, HookRaw, HookRequest, HookRunner, HttpHandler } from '../registry/hook.js';

export interface HttpRunnerDeps {
  /** Loaded with the first hook that needs it. */
  fetch(): Promise<PublicFetch>;
  /** Where the variables of headers come from. */
  readonly env: Environment;
  /** `allowedHttpHookUrls`, of all settings together; undefined where none has it. */
  allowedUrls(): readonly string[] | undefined;
  /** `httpHookAllowedEnvVars`, likewise. A project's own list must not be part of it. */
  allowedEnvVars(): readonly string[] | undefined;
}

/** An answer is a small object; more is something else. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Posts what a hook is asked to a server. Inner networks stay closed after the name was resolved,
 * this machine does not; no redirect is followed; this machine is never reached through a proxy.
 * A status says nothing but whether there is an answer: to refuse, a server sends a verdict.
 *
 * Behind a proxy the proxy resolves the name, so that literal addresses and internal names are all
 * that can be judged here; see `fetchPublic`.
 */
export function createHttpRunner(deps: HttpRunnerDeps): HookRunner<HttpHandler> {
  return (hook, request) =>
    attempt(request, 'http', async () => {
      const url = hookUrl(hook.handler.url, deps.allowedUrls());
      if (!url.ok) return failed('http', url.error);
      const made = hookHeaders(hook.handler.headers ?? {}, {
        env: deps.env,
        mayPass: passesFor(hook, deps.allowedEnvVars()),
      });
      if (!made.ok) return failed('http', made.error);
      const fetch = await deps.fetch();
      const fetched = await fetch({
        url: url.value,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...idempotencyKey(request),
          ...made.value.headers,
        },
        body: request.json,
        signal: request.signal,
        timeoutMs: request.timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        allow: { loopback: true },
      });
      if (!fetched.ok) return unreachable(fetched.error);
      return readAnswer(fetched.value, made.value.leftOut);
    });
}

/** A server that is asked about the same call twice, by two workers, can tell by it. */
function idempotencyKey({ input, toolUseId }: HookRequest): Record<string, string> {
  if (toolUseId === undefined) return {};
  const key = [input.session_id, toolUseId, input.hook_event_name].join(':');
  return { 'idempotency-key': key.replace(/[^\x21-\x7e]/g, '_') };
}

/** Whether a variable may be sent: both the hook and, where there is one, the setting must name it. */
function passesFor(
  { handler, source }: Hook<HttpHandler>,
  setting: readonly string[] | undefined,
): (name: string) => boolean {
  const { allowedEnvVars = [] } = handler;
  return (name) => {
    if (!allowedEnvVars.includes(name)) return false;
    if (setting !== undefined) return setting.includes(name);
    // fail-closed: a file of a project cannot allow itself what looks like a secret.
    return isOfOwner(source) || !isSecretName(name);
  };
}

function unreachable({ reason, message }: FetchFailure): HookRaw {
  return failed(reason === 'timeout' || reason === 'aborted' ? 'timeout' : 'http', message);
}

function readAnswer(answer: FetchResponse | FetchRedirect, leftOut: readonly string[]): HookRaw {
  const status = oneLine(`${answer.status} ${answer.statusText}`, 80);
  const note =
    leftOut.length === 0 ? '' : ` (not sent, as not allowed or not set: ${leftOut.join(', ')})`;
  if (answer.kind === 'redirect') {
    return failed('http', `the server answered ${status}; redirects are not followed`);
  }
  if (answer.status < 200 || answer.status > 299) {
    return failed('http', `the server answered ${status}${note}`, decode(answer.body));
  }
  const text = decode(answer.body);
  if (text === undefined) return failed('http', `the server answered ${status} with no text`);
  if (text.trim() === '') return { kind: 'value', value: undefined };
  const parsed = parseLocatedJson(text);
  if (parsed.ok && isRecord(parsed.value)) {
    const twice = duplicateProblem(parsed.duplicates);
    if (twice === undefined) return { kind: 'value', value: parsed.value };
    // fail-closed: one of the two values may be the no.
    return failed('broken-output', `in the server's answer ${twice}`, text);
  }
  const what = parsed.ok ? 'JSON that is not an object' : `no JSON (${parsed.message})`;
  // fail-closed: an answer that cannot be read may have been a no.
  return failed('http', `the server answered ${status} with ${what}`, text);
}

function decode(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

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
  const fault = urlFault(text);
  if (fault !== undefined) return err(`its address cannot be called: ${fault}`);
  const url = new URL(text);
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
 * `*` matches any characters, but only within its part of the address: that of a host reaches
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

interface HookHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Variables that were asked for and did not pass, or do not exist: they became nothing. */
  readonly leftOut: readonly string[];
}

/**
 * The headers of a hook with their variables (`$NAME`, `${NAME}`) filled in. Only those that
 * `mayPass` are; the others become nothing. What is filled in is not looked at for variables again.
 * The error says which header cannot be sent.
 */
export function hookHeaders(
  templates: Readonly<Record<string, string>>,
  { env, mayPass }: { readonly env: Environment; mayPass(name: string): boolean },
): Result<HookHeaders, string> {
  const leftOut = new Set<string>();
  const variable = (name: string): string => {
    const value = mayPass(name) ? own(env, name) : undefined;
    if (value === undefined) leftOut.add(name);
    return value ?? '';
  };
  const headers = new Map<string, string>();
  for (const [written, template] of Object.entries(templates)) {
    const name = written.toLowerCase();
    if (!HEADER_NAME.test(name)) return err(`"${written}" is no name of a header`);
    // fail-closed: dropped in silence, the request would not be the one that was meant.
    if (NOT_FOR_HOOKS.test(name)) return err(`the header ${written} may not be set`);
    if (headers.has(name)) return err(`the header ${written} is given twice`);
    const filled = template.replace(
      HEADER_VARIABLE,
      (_whole, braced: string | undefined, bare: string | undefined) =>
        variable(braced ?? bare ?? ''),
    );
    headers.set(name, filled.replace(CONTROL, ''));
  }
  return ok({ headers: Object.fromEntries(headers), leftOut: [...leftOut] });
}

/** They belong to the connection, to its framing or to a proxy. */
const NOT_FOR_HOOKS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/;

/** CR and LF would end the header and begin another one. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;
