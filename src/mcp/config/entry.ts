import { nearest } from '../../lib/nearest.js';
import { isRecord } from '../../lib/own.js';
import type { McpEntry, McpScope, OAuthEntry, RemoteEntry } from '../server.js';
import { EntryProblem, EntryReader, type EntryWarning, MissingVariables } from './entry-fields.js';
import { neverLeaves, type Variables, variablesIn } from './expand.js';

export interface EntryContext {
  readonly scope: McpScope;
  readonly variables: Variables;
  /** Whether a host speaks for the entry, who alone can hold a server in its own process. */
  readonly ofHost: boolean;
}

export type ParsedEntry = { readonly warnings: readonly EntryWarning[] } & (
  | {
      readonly ok: true;
      readonly entry: McpEntry;
      /** Said by the entry itself: it is not to be used, or something is left out. */
      readonly idle?: { readonly kind: 'disabled' | 'not-configured'; readonly reason: string };
    }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly way: readonly (string | number)[];
      /** Nothing is wrong with it but that variables have no value. */
      readonly lacksVariables?: boolean;
    }
);

/** Reads one entry, field by field. Whatever is wrong with it stays with it. */
export function parseEntry(raw: unknown, context: EntryContext): ParsedEntry {
  if (!isRecord(raw)) return { ok: false, reason: 'it is not an object', way: [], warnings: [] };
  const reader = new EntryReader(raw, context.variables);
  try {
    refuseKeys(raw, context);
    const entry = entryFrom(raw, reader, context);
    const idle = idleness(raw, entry, reader);
    reader.finish(FIELDS[entry.type], KNOWN);
    const { warnings } = reader;
    return idle === undefined ? { ok: true, entry, warnings } : { ok: true, entry, idle, warnings };
  } catch (thrown) {
    if (!(thrown instanceof EntryProblem)) throw thrown;
    const { message: reason, way } = thrown;
    const lacksVariables = thrown instanceof MissingVariables;
    return {
      ok: false,
      reason,
      way,
      warnings: reader.warnings,
      ...(lacksVariables && { lacksVariables }),
    };
  }
}

/** What is suggested in the place of a field that nobody knows. */
const KNOWN = [
  ...['type', 'timeout', 'alwaysLoad', 'command', 'args', 'env'],
  ...['url', 'headers', 'headersHelper', 'oauth'],
];

/** Which fields are nothing to wonder about; some are there for other programs. */
const SHARED = [
  ...['type', 'timeout', 'alwaysLoad', 'tools', 'disabled', 'enabled'],
  // For people who read the file: they change nothing.
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
  // Of the account that the entry came from.
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
  context: EntryContext,
): McpEntry {
  const type = typeOf(raw, reader);
  const common = commonFields(reader);
  if (type === 'sdk') {
    // fail-closed: a file cannot speak for the program that opened the session.
    if (!context.ofHost)
      throw new EntryProblem('servers of type "sdk" come from the host, not from a file', ['type']);
    return { type, ...common };
  }
  if (type === 'stdio') return { type, ...stdioFields(reader), ...common };
  return { type, ...remoteFields(type, reader), ...common };
}

function typeOf(raw: Readonly<Record<string, unknown>>, reader: EntryReader): McpEntry['type'] {
  const named = reader.text('type');
  const hasUrl = isSaid(raw.url);
  const hasCommand = isSaid(raw.command);
  if (named === undefined) {
    if (hasUrl && !hasCommand)
      throw new EntryProblem('it has a `url` but no `type`; write "type": "http" or "sse"', [
        'url',
      ]);
    // fail-closed: lists by command and by address would each look at another half.
    if (hasUrl) throw new EntryProblem('it has both a `command` and a `url`', ['url']);
    return 'stdio';
  }
  const type = Object.hasOwn(TYPES, named) ? TYPES[named] : undefined;
  if (type === undefined) {
    const meant = nearest(named, Object.keys(TYPES));
    const hint =
      meant === undefined ? `use ${Object.keys(TYPES).join(', ')}` : `did you mean "${meant}"?`;
    throw new EntryProblem(`its type "${named}" is not known; ${hint}`, ['type']);
  }
  if (type === 'stdio' ? hasUrl : hasCommand) {
    const [odd] = type === 'stdio' ? ['url'] : ['command'];
    throw new EntryProblem(`a server of type "${named}" has no \`${odd}\``, [odd ?? '']);
  }
  return type;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

const LEAST_TIMEOUT_MS = 1_000;

function commonFields(reader: EntryReader): { timeout?: number; alwaysLoad?: boolean } {
  const timeout = reader.raw('timeout');
  const alwaysLoad = reader.flag('alwaysLoad');
  if (timeout !== undefined && (typeof timeout !== 'number' || !Number.isFinite(timeout)))
    throw new EntryProblem('`timeout` must be a number of milliseconds', ['timeout']);
  if (isSaid(reader.raw('tools')))
    reader.warn(['tools'], '`tools` is not enforced.', 'Write permission rules for its tools.');
  const common: { timeout?: number; alwaysLoad?: boolean } = {};
  if (timeout !== undefined && timeout < LEAST_TIMEOUT_MS)
    reader.warn(['timeout'], '`timeout` below 1000 ms does not count.', 'Write milliseconds.');
  else if (timeout !== undefined) common.timeout = timeout;
  if (alwaysLoad !== undefined) common.alwaysLoad = alwaysLoad;
  return common;
}

function stdioFields(reader: EntryReader) {
  const command = reader.expanded('command');
  if (command === undefined) throw new EntryProblem('it has no `command`');
  if (command.trim() === '') throw new EntryProblem('its `command` is empty', ['command']);
  const args = reader.texts('args');
  const env = reader.table('env');
  const odd = Object.keys(env).find((name) => name === '' || /[=\0]/.test(name));
  if (odd !== undefined) throw new EntryProblem(`"${odd}" is no name of a variable`, ['env', odd]);
  return { command, args, env };
}

function remoteFields(type: RemoteEntry['type'], reader: EntryReader) {
  const url = reader.expanded('url');
  if (url === undefined && type !== 'proxy') throw new EntryProblem('it has no `url`');
  if (url !== undefined && url !== '') checkUrl(url, type);
  const headers = reader.table('headers');
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new EntryProblem(`"${name}" is no name of a header`, ['headers', name]);
    // fail-closed: a line break in a value would be a header of its own.
    if (/[\r\n]/.test(value))
      throw new EntryProblem(`the header "${name}" holds a line break`, ['headers', name]);
  }
  const headersHelper = reader.text('headersHelper');
  const oauth = oauthFrom(reader.raw('oauth'));
  return {
    url: url ?? '',
    headers,
    headersHelper,
    oauth,
  };
}

function checkUrl(url: string, type: RemoteEntry['type']): void {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw new EntryProblem('its `url` is not an address', ['url']);
  }
  const schemes = type === 'ws' ? ['ws:', 'wss:'] : ['http:', 'https:'];
  if (!schemes.includes(address.protocol))
    throw new EntryProblem(`its \`url\` must begin with ${schemes.join('// or ')}//`, ['url']);
  // fail-closed: a name in front of the host is taken for the host by people.
  if (address.username !== '' || address.password !== '')
    throw new EntryProblem('its `url` holds a user or password; use `headers`', ['url']);
}

function oauthFrom(value: unknown): OAuthEntry | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw new EntryProblem('`oauth` must be an object', ['oauth']);
  const text = (name: string): string | undefined => {
    const one = Object.hasOwn(value, name) ? value[name] : undefined;
    if (one === undefined || typeof one === 'string') return one;
    throw new EntryProblem(`\`oauth.${name}\` must be text`, ['oauth', name]);
  };
  const port = value.callbackPort;
  if (port !== undefined && !(Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536))
    throw new EntryProblem('`oauth.callbackPort` must be the number of a port', [
      'oauth',
      'callbackPort',
    ]);
  const grantType = text('grantType');
  if (grantType !== undefined && grantType !== 'client_credentials') {
    throw new EntryProblem('`oauth.grantType` can only be "client_credentials"', [
      'oauth',
      'grantType',
    ]);
  }
  if (grantType !== undefined && !(isSaid(value.clientId) && isSaid(value.clientSecret))) {
    throw new EntryProblem('`oauth.grantType` needs `clientId` and `clientSecret`', [
      'oauth',
      'grantType',
    ]);
  }
  const scopes = Array.isArray(value.scopes) ? value.scopes.join(' ') : text('scopes');
  const fields = {
    clientId: text('clientId'),
    clientSecret: text('clientSecret'),
    callbackPort: port === undefined ? undefined : Number(port),
    scopes,
    authServerMetadataUrl: text('authServerMetadataUrl'),
    grantType,
    clientMetadataUrl: text('clientMetadataUrl'),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined));
}

/** What the entry says about not being used. Other programs have words of their own for it. */
function idleness(
  raw: Readonly<Record<string, unknown>>,
  entry: McpEntry,
  reader: EntryReader,
): Extract<ParsedEntry, { ok: true }>['idle'] {
  const disabled = reader.raw('disabled');
  const enabled = reader.raw('enabled');
  // fail-closed: whoever writes it does not want the server, in whichever spelling.
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

/** fail-closed: no address and no header of a project carries keys of models, of clouds, or ours. */
function refuseKeys(raw: Readonly<Record<string, unknown>>, { scope }: EntryContext): void {
  if (scope !== 'project') return;
  for (const field of ['url', 'headers']) {
    const name = variablesIn(raw[field]).find(neverLeaves);
    if (name !== undefined)
      throw new EntryProblem(`\${${name}} is never sent to a server of a project`, [field]);
  }
}
