import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { systemCodeOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { writePrivate } from '../approval/private-files.js';

/** The client as registered with an authorization server. */
export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The `token_endpoint_auth_method` of the registration. */
  readonly authMethod?: string;
  /** The registered redirect address; another one needs a new registration. */
  readonly redirectUrl?: string;
  /** In epoch milliseconds. */
  readonly secretExpiresAt?: number;
}

export interface StoredTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** As granted; absent when the server did not report it. */
  readonly scope?: string;
  /** As requested, so that a step-up can repeat it. */
  readonly requestedScope?: string;
  /** In epoch milliseconds. */
  readonly expiresAt?: number;
}

/** The stored sign-in for one server at one address, bound to the issuing authorization server. */
export interface StoredAuth {
  /** Only informative, for people who read the file. */
  readonly name: string;
  readonly issuer: string;
  readonly authorizationServer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  readonly authMethods?: readonly string[];
  readonly resource: string;
  readonly client: StoredClient;
  /** Absent once the tokens are known to be invalid. */
  readonly tokens?: StoredTokens;
}

export interface TokenStore {
  /** Reads the file on every call, so that a sign-in in another program counts at once. The error is one line. */
  read(key: string): Promise<Result<StoredAuth | undefined, string>>;
  write(key: string, auth: StoredAuth): Promise<Result<void, string>>;
  /** False when nothing was stored. */
  remove(key: string): Promise<Result<boolean, string>>;
}

export interface TokenStorePlace {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic' | 'makeDirectory' | 'remove'>;
  readonly stateDirectory: string;
}

const TOKEN_FILE = 'mcp-tokens.json';
const MAX_BYTES = 4 * 1024 * 1024;
const LOCK = { staleMs: 10_000, waitMs: 5_000 };

/** Hashes name and address, so that tokens are never sent to an address they were not issued for. */
export function tokenKey(name: string, url: string): string {
  return sha256(`${name}\0${parseUrl(url)?.href ?? url}`).slice(0, 40);
}

type Servers = Readonly<Record<string, unknown>>;

/** Keeps all tokens in one owner-only file (0600). */
export function openTokenStore(place: TokenStorePlace): TokenStore {
  const { fs, stateDirectory } = place;
  const file = join(stateDirectory, TOKEN_FILE);

  async function load(): Promise<Result<Servers, string>> {
    try {
      const stat = await fs.stat(file);
      if (stat === undefined) return ok({});
      // fail-closed: another user who can write the file could redirect our tokens.
      if (separator === '/' && (stat.foreign === true || (stat.mode & 0o022) !== 0)) {
        return err(`${TOKEN_FILE} in the state directory can be written by others`);
      }
      const parsed = parseJson(await fs.readText(file, { maxBytes: MAX_BYTES }));
      const servers =
        parsed.ok && isRecord(parsed.value) ? own(parsed.value, 'servers') : undefined;
      // The parser's message could quote a token, so it is left out.
      if (!isRecord(servers)) return err(`${TOKEN_FILE} in the state directory is damaged`);
      return ok(servers);
    } catch (thrown) {
      return err(`${TOKEN_FILE} in the state directory cannot be read (${kindOf(thrown)})`);
    }
  }

  const save = (servers: Servers): Promise<void> => {
    const text = `${JSON.stringify({ version: 1, servers }, null, 2)}\n`;
    return writePrivate(fs, { directories: [stateDirectory], file, text });
  };

  /** Reads, edits and writes under a file lock. */
  async function change<T>(
    edit: (servers: Servers) => { readonly servers?: Servers; readonly value: T },
  ): Promise<Result<T, string>> {
    try {
      const done = await withFileLock(`${file}.lock`, LOCK, async () => {
        const servers = await load();
        if (!servers.ok) return servers;
        const edited = edit(servers.value);
        if (edited.servers !== undefined) await save(edited.servers);
        return ok(edited.value);
      });
      return done?.value ?? err(`${TOKEN_FILE} in the state directory is held by another program`);
    } catch (thrown) {
      return err(`${TOKEN_FILE} in the state directory cannot be written (${kindOf(thrown)})`);
    }
  }

  return {
    async read(key) {
      const servers = await load();
      if (!servers.ok) return servers;
      const found = own(servers.value, key);
      if (found === undefined) return ok(undefined);
      if (isAuth(found)) return ok(found);
      return err(`the entry of this server in ${TOKEN_FILE} in the state directory is damaged`);
    },
    write: (key, auth) =>
      change((servers) => ({ servers: { ...servers, [key]: auth }, value: undefined })),
    remove: (key) =>
      change((servers) => {
        if (!Object.hasOwn(servers, key)) return { value: false };
        const rest = Object.fromEntries(Object.entries(servers).filter(([name]) => name !== key));
        return { servers: rest, value: true };
      }),
  };
}

/** Reports only the error code, because the message may contain a path. */
function kindOf(thrown: unknown): string {
  return systemCodeOf(thrown) ?? 'unknown reason';
}

/** fail-closed: an entry with one invalid field is rejected. */
function isAuth(value: unknown): value is StoredAuth {
  if (!fits(value, AUTH) || !fits(value.client, CLIENT)) return false;
  const { authMethods = [], tokens } = value;
  const isList = Array.isArray(authMethods) && authMethods.every((one) => typeof one === 'string');
  return isList && (tokens === undefined || fits(tokens, TOKENS));
}

/** The type of each field; `?` marks an optional one. */
const AUTH = {
  name: 'string',
  issuer: 'string',
  authorizationServer: 'string',
  tokenEndpoint: 'string',
  revocationEndpoint: 'string?',
  resource: 'string',
};
const CLIENT = {
  clientId: 'string',
  clientSecret: 'string?',
  authMethod: 'string?',
  redirectUrl: 'string?',
  secretExpiresAt: 'number?',
};
const TOKENS = {
  accessToken: 'string',
  refreshToken: 'string?',
  scope: 'string?',
  requestedScope: 'string?',
  expiresAt: 'number?',
};

function fits(
  value: unknown,
  shape: Readonly<Record<string, string>>,
): value is Readonly<Record<string, unknown>> {
  return (
    isRecord(value) &&
    Object.entries(shape).every(([name, kind]) => {
      const one = value[name];
      return one === undefined ? kind.endsWith('?') : kind.startsWith(typeof one);
    })
  );
}

/** How long a server that needs a sign-in is not asked again. */
export const AUTH_MEMORY_MS = 15 * 60_000;

/** Remembers across programs which servers need a sign-in; contains no secrets. */
interface AuthMemory {
  /** In epoch milliseconds; undefined when nothing is recorded. */
  since(key: string): Promise<number | undefined>;
  note(key: string): Promise<void>;
  clear(key: string): Promise<void>;
}

const FILE = 'mcp-needs-auth.json';

/** Read and write failures are ignored: they cost one failing attempt. */
export function openAuthMemory(place: {
  readonly fs: Pick<FileSystem, 'readText' | 'writeAtomic' | 'makeDirectory'>;
  readonly stateDirectory: string;
  readonly now: () => number;
}): AuthMemory {
  const { fs, stateDirectory, now } = place;
  const file = join(stateDirectory, FILE);

  async function load(): Promise<Readonly<Record<string, number>>> {
    try {
      const parsed = parseJson(await fs.readText(file, { maxBytes: MAX_BYTES }));
      if (!parsed.ok || !isRecord(parsed.value)) return {};
      // Notes live for a day, because after one the next attempt starts with a refresh.
      const isFresh = (at: unknown): at is number =>
        typeof at === 'number' && at <= now() && now() - at < KEPT_MS;
      const notes = Object.entries(parsed.value);
      return Object.fromEntries(notes.flatMap(([key, at]) => (isFresh(at) ? [[key, at]] : [])));
    } catch {
      return {};
    }
  }

  async function save(notes: Readonly<Record<string, number>>): Promise<void> {
    try {
      await fs.makeDirectory(stateDirectory, { mode: 0o700 });
      await fs.writeAtomic(file, `${JSON.stringify(notes)}\n`, { mode: 0o600 });
    } catch {
      // The next attempt asks the server again.
    }
  }

  return {
    since: async (key) => own(await load(), key),
    note: async (key) => save({ ...(await load()), [key]: now() }),
    async clear(key) {
      const notes = await load();
      if (!Object.hasOwn(notes, key)) return;
      await save(Object.fromEntries(Object.entries(notes).filter(([name]) => name !== key)));
    },
  };
}

const KEPT_MS = 24 * 60 * 60_000;

export function clientInformation(client: StoredClient): OAuthClientInformationMixed {
  return {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    token_endpoint_auth_method: client.authMethod,
  };
}
