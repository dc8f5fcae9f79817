import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { LONGEST_TIMER_MS } from '../../platform/clock.js';

type Environment = Readonly<Record<string, string | undefined>>;

export type ProviderChoice =
  | {
      readonly kind: 'anthropic';
      /** Without a trailing slash and without `/v1`. */
      readonly baseUrl: string;
      readonly apiKey?: string | undefined;
      readonly authToken?: string | undefined;
      readonly customHeaders: Readonly<Record<string, string>>;
      readonly betas: readonly string[];
      readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
      readonly idleTimeoutMs?: number | undefined;
      /** False: no cache marks are sent. */
      readonly promptCaching?: boolean | undefined;
      /** As asked for, without the provider's prefix; may be an alias. */
      readonly model?: string | undefined;
    }
  | {
      readonly kind: 'openai';
      /** With its `/v1`. */
      readonly baseUrl: string;
      readonly apiKey?: string | undefined;
      readonly idleTimeoutMs?: number | undefined;
      readonly model?: string | undefined;
    }
  | { readonly kind: 'scripted'; readonly file: string; readonly model?: string | undefined }
  | { readonly kind: 'none'; readonly reason: string; readonly remedy: string };

const ANTHROPIC_URL = 'https://api.anthropic.com';
const OPENAI_URL = 'https://api.openai.com/v1';

/**
 * Which model server to use, from the environment and the model's name. `openai/…` and `anthropic/…`
 * choose by name; then PORTCULLIS_OPENAI_BASE_URL; then the variables of Anthropic, then those of
 * OpenAI. PORTCULLIS_SCRIPT replaces all of them.
 */
export function chooseProvider(
  environment: Environment,
  options: { readonly model?: string | undefined } = {},
): ProviderChoice {
  const asked = trimmed(options.model);
  const [prefix, name] = splitPrefix(asked);
  const script = trimmed(environment.PORTCULLIS_SCRIPT);
  if (script !== undefined) return { kind: 'scripted', file: script, model: name };
  if (prefix === 'openai') return openAi(environment, name);
  if (prefix === 'anthropic') return anthropic(environment, name);
  const sets = (...variables: readonly string[]): boolean =>
    variables.some((variable) => trimmed(environment[variable]) !== undefined);
  if (sets('PORTCULLIS_OPENAI_BASE_URL')) return openAi(environment, name);
  if (sets('ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL')) {
    return anthropic(environment, name);
  }
  if (sets('OPENAI_BASE_URL', 'OPENAI_API_KEY')) return openAi(environment, name);
  return none(
    'no model is configured',
    'Run portcullis setup; or set ANTHROPIC_API_KEY, or OPENAI_BASE_URL for a local or other server that speaks chat completions.',
  );
}

function splitPrefix(
  model: string | undefined,
): readonly ['openai' | 'anthropic' | undefined, string | undefined] {
  const match = /^(openai|anthropic)\/(.+)$/.exec(model ?? '');
  if (match === null) return [undefined, model];
  return [match[1] === 'openai' ? 'openai' : 'anthropic', match[2]];
}

function anthropic(environment: Environment, model: string | undefined): ProviderChoice {
  const custom = trimmed(environment.ANTHROPIC_BASE_URL);
  const address = baseUrl(custom ?? ANTHROPIC_URL, 'ANTHROPIC_BASE_URL');
  if (!address.ok) return address.error;
  const apiKey = trimmed(environment.ANTHROPIC_API_KEY);
  const authToken = trimmed(environment.ANTHROPIC_AUTH_TOKEN);
  if (custom === undefined && apiKey === undefined && authToken === undefined) {
    return none('no key for the Anthropic API', 'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN).');
  }
  const extraBody = extraBodyFrom(environment.CLAUDE_CODE_EXTRA_BODY);
  if (!extraBody.ok) return extraBody.error;
  return {
    kind: 'anthropic',
    baseUrl: address.value.replace(/\/v1$/, ''),
    apiKey,
    authToken,
    customHeaders: headersFrom(environment.ANTHROPIC_CUSTOM_HEADERS),
    betas: (trimmed(environment.ANTHROPIC_BETAS) ?? '')
      .split(/[\s,]+/)
      .filter((beta) => beta !== ''),
    extraBody: extraBody.value,
    idleTimeoutMs: idleTimeout(environment),
    promptCaching: trimmed(environment.DISABLE_PROMPT_CACHING) === '1' ? false : undefined,
    model,
  };
}

function openAi(environment: Environment, model: string | undefined): ProviderChoice {
  const custom =
    trimmed(environment.PORTCULLIS_OPENAI_BASE_URL) ?? trimmed(environment.OPENAI_BASE_URL);
  const address = baseUrl(custom ?? OPENAI_URL, 'PORTCULLIS_OPENAI_BASE_URL or OPENAI_BASE_URL');
  if (!address.ok) return address.error;
  const apiKey = trimmed(environment.OPENAI_API_KEY);
  if (custom === undefined && apiKey === undefined) {
    return none(
      'no key for the OpenAI API',
      'Set OPENAI_API_KEY, or OPENAI_BASE_URL for another server.',
    );
  }
  const hasPath = new URL(address.value).pathname !== '/';
  return {
    kind: 'openai',
    baseUrl: hasPath ? address.value : `${address.value}/v1`,
    apiKey,
    idleTimeoutMs: idleTimeout(environment),
    model,
  };
}

type None = Extract<ProviderChoice, { kind: 'none' }>;

function none(reason: string, remedy: string): None {
  return { kind: 'none', reason, remedy };
}

function baseUrl(address: string, variable: string): Result<string, None> {
  const url = parseUrl(address);
  // They would not be sent, and every message about the address would show them.
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    const reason = `${variable} holds a user name or a password, which are not sent`;
    const remedy = 'Take them out; ANTHROPIC_CUSTOM_HEADERS can carry an authorization header.';
    return err(none(reason, remedy));
  }
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) {
    return ok(address.replace(/\/+$/, ''));
  }
  const reason = `${variable} is not an address: "${address}"`;
  return err(none(reason, 'Give it as http://host:port or https://host.'));
}

/** One `Name: value` a line. */
function headersFrom(lines: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of (lines ?? '').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0)
      headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}

function extraBodyFrom(
  json: string | undefined,
): Result<Record<string, unknown> | undefined, None> {
  if (trimmed(json) === undefined) return ok(undefined);
  const parsed = parseJson(json ?? '');
  if (parsed.ok && isRecord(parsed.value)) return ok(parsed.value);
  const reason = `CLAUDE_CODE_EXTRA_BODY is not a JSON object${parsed.ok ? '' : `: ${parsed.error}`}`;
  return err(none(reason, 'Correct it or unset it.'));
}

/** PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: longest silence of a model's stream. */
function idleTimeout(environment: Environment): number | undefined {
  const value = Number(trimmed(environment.PORTCULLIS_STREAM_IDLE_TIMEOUT_MS));
  return Number.isFinite(value) && value > 0 ? Math.min(value, LONGEST_TIMER_MS) : undefined;
}

/** Undefined for a text of blanks. */
export function trimmed(value: string | undefined): string | undefined {
  return value?.trim() || undefined;
}
