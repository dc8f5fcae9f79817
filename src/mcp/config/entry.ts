import { isRecord, own } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { nearest } from '../../lib/text/nearest.js';
import type { McpEntry, McpScope, OAuthEntry, RemoteEntry } from '../server.js';
import { EntryProblem, EntryReader, type EntryWarning } from './entry-reader.js';
import { neverLeaves, type Variables, variablesIn } from './expand.js';

export interface EntryContext {
  readonly scope: McpScope;
  readonly variables: Variables;
  /** Whether the host passed the entry: only a host can run a server in its own process. */
  readonly ofHost: boolean;
}

export type ParsedEntry = { readonly warnings: readonly EntryWarning[] } & (
  | {
      readonly ok: true;
      readonly entry: McpEntry;
      /** The entry disables itself or lacks a required value. */
      readonly idle?: { readonly kind: 'disabled' | 'not-configured'; readonly reason: string };
    }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly way: readonly (string | number)[];
      /** Undefined variables are the only problem. */
      readonly lacksVariables?: boolean;
    }
);

/** Parses one entry; a problem never affects other entries. */
export function parseEntry(raw: unknown, context: EntryContext): ParsedEntry {
  if (!isRecord(raw)) return { ok: false, reason: 'it is not an object', way: [], warnings: [] };
  const reader = new EntryReader(raw, context.variables);
  const { warnings } = reader;
  try {
    refuseKeys(raw, context);
    const entry = entryFrom(raw, reader, context);
    const idle = idleness(raw, entry);
    reader.finish(FIELDS[entry.type], KNOWN);
    return { ok: true, entry, warnings, ...(idle && { idle }) };
  } catch (thrown) {
    if (!(thrown instanceof EntryProblem)) throw thrown;
    const { message: reason, way, lacksVariables } = thrown;
    return { ok: false, reason, way, warnings, lacksVariables };
  }
}

/** The suggestions for unknown fields. */
const KNOWN = [
  ...['type', 'timeout', 'alwaysLoad', 'command', 'args', 'env'],
  ...['url', 'headers', 'headersHelper', 'oauth'],
];

/** Fields that cause no warning; some belong to other programs. */
const SHARED = [
  ...['type', 'timeout', 'alwaysLoad', 'tools', 'disabled', 'enabled'],
  // Informative fields without effect.
  ...['description', 'name', 'title', 'displayName', 'version', 'author', 'homepage', 'repository'],
  ...['documentation', 'docs', 'icon', 'tags', 'category', 'note', 'notes', 'comment', 'comments'],
  ...['_comment', '$comment', '//', '$schema'],
];
const REMOTE = [...SHARED, 'command', 'url', 'headers', 'headersHelper', 'oauth'];
const FIELDS: Readonly<Record<McpEntry['type'], readonly string[]>> = {
  stdio: [...SHARED, 'command', 'args', 'env', 'url'],
  http: REMOTE,
  sse: REMOTE,
  ws: REMOTE,
  // Set in the entries of account connectors.
  proxy: [...REMOTE, 'id'],
  sdk: [...SHARED, 'instance', 'instructions'],
};

const TYPES: Readonly<Record<string, McpEntry['type']>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  sse: 'sse',
  ws: 'ws',
  sdk: 'sdk',
  'claudeai-proxy': 'proxy',
};

function entryFrom(
  raw: Readonly<Record<string, unknown>>,
  reader: EntryReader,
  { ofHost }: EntryContext,
): McpEntry {
  const type = typeOf(raw, reader);
  const common = commonFields(raw, reader);
  // fail-closed: a file cannot declare a server that lives in the host's process.
  if (type === 'sdk' && !ofHost)
    throw new EntryProblem('servers of type "sdk" come from the host, not from a file', ['type']);
  if (type === 'sdk') return { type, ...common };
  if (type === 'stdio') return { type, ...stdioFields(reader), ...common };
  return { type, ...remoteFields(type, reader), ...common };
}

function typeOf(raw: Readonly<Record<string, unknown>>, reader: EntryReader): McpEntry['type'] {
  const named = reader.text('type');
  const hasUrl = isSaid(raw.url);
  const hasCommand = isSaid(raw.command);
  if (named === undefined) {
    // fail-closed: command lists and address lists would each check only half of the entry.
    if (hasUrl && hasCommand)
      throw new EntryProblem('it has both a `command` and a `url`', ['url']);
    if (hasUrl)
      throw new EntryProblem('it has a `url` but no `type`; write "type": "http" or "sse"', [
        'url',
      ]);
    return 'stdio';
  }
  const type = own(TYPES, named);
  if (type === undefined) {
    const known = Object.keys(TYPES);
    const meant = nearest(named, known);
    const hint = meant === undefined ? `use ${known.join(', ')}` : `did you mean "${meant}"?`;
    throw new EntryProblem(`its type "${named}" is not known; ${hint}`, ['type']);
  }
  const odd = type === 'stdio' ? hasUrl && 'url' : hasCommand && 'command';
  if (odd) throw new EntryProblem(`a server of type "${named}" has no \`${odd}\``, [odd]);
  return type;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

const LEAST_TIMEOUT_MS = 1_000;

function commonFields(
  { tools }: Readonly<Record<string, unknown>>,
  reader: EntryReader,
): { timeout?: number; alwaysLoad?: boolean } {
  const timeout = reader.value('timeout', isNumber, 'a number of milliseconds');
  const alwaysLoad = reader.flag('alwaysLoad');
  if (isSaid(tools))
    reader.warn(['tools'], '`tools` is not enforced.', 'Write permission rules for its tools.');
  const isShort = timeout !== undefined && timeout < LEAST_TIMEOUT_MS;
  if (isShort)
    reader.warn(['timeout'], '`timeout` below 1000 ms does not count.', 'Write milliseconds.');
  return { timeout: isShort ? undefined : timeout, alwaysLoad };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function stdioFields(reader: EntryReader) {
  const command = reader.filled('command');
  if (command === undefined) throw new EntryProblem('it has no `command`');
  if (command.trim() === '') throw new EntryProblem('its `command` is empty', ['command']);
  const args = reader.texts('args');
  const env = reader.table('env');
  const odd = Object.keys(env).find((name) => name === '' || /[=\0]/.test(name));
  if (odd !== undefined) throw new EntryProblem(`"${odd}" is no name of a variable`, ['env', odd]);
  return { command, args, env };
}

function remoteFields(type: RemoteEntry['type'], reader: EntryReader) {
  const url = reader.filled('url') ?? (type === 'proxy' ? '' : undefined);
  if (url === undefined) throw new EntryProblem('it has no `url`');
  if (url !== '') checkUrl(url, type);
  const headers = reader.table('headers');
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new EntryProblem(`"${name}" is no name of a header`, ['headers', name]);
    // fail-closed: a line break in a value would start another header.
    if (/[\r\n]/.test(value))
      throw new EntryProblem(`the header "${name}" holds a line break`, ['headers', name]);
  }
  return { url, headers, headersHelper: reader.text('headersHelper'), oauth: oauthFrom(reader) };
}

function checkUrl(url: string, type: RemoteEntry['type']): void {
  const address = parseUrl(url);
  if (address === undefined) throw new EntryProblem('its `url` is not an address', ['url']);
  const schemes = type === 'ws' ? ['ws:', 'wss:'] : ['http:', 'https:'];
  if (!schemes.includes(address.protocol))
    throw new EntryProblem(`its \`url\` must begin with ${schemes.join('// or ')}//`, ['url']);
  // fail-closed: people mistake a user name before the host for the host.
  if (address.username !== '' || address.password !== '')
    throw new EntryProblem('its `url` holds a user or password; use `headers`', ['url']);
}

function oauthFrom(reader: EntryReader): OAuthEntry | undefined {
  const given = reader.value('oauth', isRecord, 'an object');
  if (given === undefined) return undefined;
  const oauth = new EntryReader(given, {}, ['oauth']);
  const isPort = (value: unknown): value is number =>
    Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
  const isGrant = (value: unknown): value is 'client_credentials' => value === 'client_credentials';
  const { scopes } = given;
  const fields: OAuthEntry = {
    clientId: oauth.text('clientId'),
    clientSecret: oauth.text('clientSecret'),
    callbackPort: oauth.value('callbackPort', isPort, 'the number of a port'),
    scopes: Array.isArray(scopes) ? scopes.join(' ') : oauth.text('scopes'),
    authServerMetadataUrl: oauth.text('authServerMetadataUrl'),
    grantType: oauth.value('grantType', isGrant, '"client_credentials"'),
    clientMetadataUrl: oauth.text('clientMetadataUrl'),
  };
  if (fields.grantType !== undefined && !(isSaid(fields.clientId) && isSaid(fields.clientSecret))) {
    const message = '`oauth.grantType` needs `clientId` and `clientSecret`';
    throw new EntryProblem(message, ['oauth', 'grantType']);
  }
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined));
}

/** Detects that the entry disables itself, in the spellings of several programs. */
function idleness(
  raw: Readonly<Record<string, unknown>>,
  entry: McpEntry,
): Extract<ParsedEntry, { ok: true }>['idle'] {
  const { disabled, enabled } = raw;
  // fail-closed: every value except a clear "in use" disables the server.
  if (isSaid(disabled) && disabled !== false)
    return { kind: 'disabled', reason: 'its entry says `disabled`' };
  if (isSaid(enabled) && enabled !== true)
    return { kind: 'disabled', reason: 'its entry says that it is not enabled' };
  if (entry.type === 'stdio' || entry.type === 'sdk') return undefined;
  if (entry.url === '') return { kind: 'not-configured', reason: 'its `url` is empty' };
  const headers = Object.keys(entry.headers).map((name) => name.toLowerCase());
  const hasToken =
    headers.includes('authorization') || isSaid(raw.headersHelper) || isSaid(raw.oauth);
  if (entry.type === 'proxy' && !hasToken) {
    const reason =
      'connectors of an account need a token: set `headers.Authorization`, `headersHelper` or `oauth`';
    return { kind: 'not-configured', reason };
  }
  return undefined;
}

/** fail-closed: a project's server never receives keys of models, clouds or this program in its address or headers. */
function refuseKeys(raw: Readonly<Record<string, unknown>>, { scope }: EntryContext): void {
  if (scope !== 'project') return;
  for (const field of ['url', 'headers']) {
    const name = variablesIn(raw[field]).find(neverLeaves);
    if (name !== undefined)
      throw new EntryProblem(`\${${name}} is never sent to a server of a project`, [field]);
  }
}
