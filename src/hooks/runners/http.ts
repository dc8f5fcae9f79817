import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { SettingSource } from '../../lib/sourced.js';
import { type Environment, isSecretName } from '../../platform/environment.js';
import type {
  FetchFailure,
  FetchRedirect,
  FetchResponse,
  PublicFetch,
} from '../../platform/http/public-fetch.js';
import { duplicateProblem } from '../answers/duplicates.js';
import { failed, inTime, LONGEST_TIMER_MS, oneLine } from '../dispatch/timeout.js';
import type {
  Hook,
  HookFailureCause,
  HookRaw,
  HookRequest,
  HookRunner,
  HttpHandler,
} from '../registry/hook.js';
import { hookHeaders } from './http-headers.js';
import { hookUrl } from './http-url.js';

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

/** An answer is a small object; whoever sends more sends something else. */
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
    inTime(request, 'http', async (signal) => {
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
        signal,
        timeoutMs: Math.min(request.timeoutMs, LONGEST_TIMER_MS),
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

/** Those who may hand out their own secrets. A project's or a plugin's file came from somebody else. */
const OWNERS: ReadonlySet<SettingSource> = new Set(['managed', 'cli', 'user', 'sdk']);

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
    return OWNERS.has(source) || !isSecretName(name);
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
    return failed('http', `the server answered ${status}${note}`);
  }
  const text = decode(answer.body);
  if (text === undefined) return failed('http', `the server answered ${status} with no text`);
  if (text.trim() === '') return { kind: 'value', value: undefined };
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) {
    const twice = duplicateProblem(text);
    if (twice === undefined) return { kind: 'value', value: parsed.value };
    // fail-closed: one of the two values may be the no.
    return unread('broken-output', `in the server's answer ${twice}`, text);
  }
  const what = parsed.ok ? 'JSON that is no object' : `no JSON (${parsed.error})`;
  // fail-closed: an answer that cannot be read may have been a no.
  return unread('http', `the server answered ${status} with ${what}`, text);
}

function unread(cause: HookFailureCause, message: string, printed: string): HookRaw {
  return { kind: 'failed', failure: { cause, message: oneLine(message) }, printed };
}

function decode(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}
