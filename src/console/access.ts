import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { messageOf, PortcullisError } from '../errors.js';
import { Queue } from '../lib/queue.js';
import { sha256 } from '../platform/hash.js';

/** Each role includes those before it: read, answer questions, steer sessions and change things. */
export const ROLES = ['viewer', 'approver', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface Person {
  readonly name: string;
  readonly role: Role;
}

export interface AccessOptions {
  /** Lines of `name:role:hash`, as `portcullis console --add-user` prints them. */
  readonly passwordFile?: string | undefined;
  /** Holds the secret that a trusted proxy sends with the name of the person it has signed in. */
  readonly proxySecretFile?: string | undefined;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const TOKEN_HOURS = 12;
const FAILURE_MS = 1_000;
const MOST_WAITING = 20;
const CODE_MS = 60_000;
const LEAST_PASSWORD = 12;
const ADD_USER = 'portcullis console --add-user <name>:<role> prints a line for it';

/** Authenticates requests. Without a password file or a proxy, the one token stands for the user who started the console. */
export class Access {
  /** The token of the person who started the console; undefined where people sign in. */
  readonly token: string | undefined;
  readonly #users: ReadonlyMap<string, { readonly role: Role; readonly hash: string }> | undefined;
  readonly #proxySecret: string | undefined;
  readonly #signedIn = new Map<string, { readonly person: Person; readonly until: number }>();
  readonly #attempts = new Queue();
  #waiting = 0;
  #lastFailure = 0;
  #code: { readonly text: string; readonly until: number } | undefined;

  constructor({ passwordFile, proxySecretFile }: AccessOptions = {}) {
    this.#users = passwordFile === undefined ? undefined : readUsers(passwordFile);
    this.#proxySecret = proxySecretFile === undefined ? undefined : readSecret(proxySecretFile);
    const isShared = this.#users !== undefined || this.#proxySecret !== undefined;
    this.token = isShared ? undefined : randomBytes(32).toString('base64url');
  }

  /** Undefined: the request is not authenticated. */
  personOf(headers: Headers): Person | undefined {
    const viaProxy = this.#proxyPerson(headers);
    if (viaProxy !== undefined) return viaProxy;
    const [, given] = /^Bearer (\S+)$/.exec(String(headers.authorization ?? '')) ?? [];
    if (given === undefined) return undefined;
    if (this.token !== undefined) {
      return same(given, this.token) ? { name: userInfo().username, role: 'operator' } : undefined;
    }
    const known = this.#signedIn.get(sha256(given));
    return known !== undefined && Date.now() < known.until ? known.person : undefined;
  }

  /** Exchanges a password for a token. A failed attempt delays the next ones, also those made at the same time. */
  async signIn(name: string, password: string): Promise<{ readonly token: string } & Person> {
    if (this.#waiting >= MOST_WAITING) {
      throw new PortcullisError('denied', 'too many people sign in at this moment');
    }
    this.#waiting++;
    try {
      return await this.#attempts.add(() => this.#checkPassword(name, password));
    } finally {
      this.#waiting--;
    }
  }

  async #checkPassword(name: string, password: string): ReturnType<Access['signIn']> {
    const wait = this.#lastFailure + FAILURE_MS - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const user = this.#users?.get(name);
    // Unknown names take as long as known ones.
    const isRight = verify(password, user?.hash ?? UNKNOWN);
    if (user === undefined || !isRight) {
      this.#lastFailure = Date.now();
      throw new PortcullisError('denied', 'the name or the password is wrong');
    }
    const token = randomBytes(32).toString('base64url');
    const person = { name, role: user.role };
    this.#signedIn.set(sha256(token), { person, until: Date.now() + TOKEN_HOURS * 3_600_000 });
    return { token, ...person };
  }

  /** A code that works once and expires soon: other users can see the arguments of the browser. */
  oneTimeCode(): string {
    const text = randomBytes(32).toString('base64url');
    this.#code = { text, until: Date.now() + CODE_MS };
    return text;
  }

  exchange(code: string): { readonly token: string } {
    const known = this.#code;
    this.#code = undefined;
    const isRight = known !== undefined && Date.now() < known.until && same(code, known.text);
    if (isRight && this.token !== undefined) return { token: this.token };
    throw new PortcullisError('denied', 'this address has been used already', {
      remedy: 'open the address that portcullis console printed',
    });
  }

  #proxyPerson(headers: Headers): Person | undefined {
    const secret = headers['x-portcullis-proxy-secret'];
    // fail-closed: the name is trusted only with the secret that the proxy and the console share.
    if (this.#proxySecret === undefined || typeof secret !== 'string') return undefined;
    if (!same(secret, this.#proxySecret)) return undefined;
    const name = headers['x-portcullis-user'];
    const role = ROLES.find((one) => one === headers['x-portcullis-role']);
    if (typeof name !== 'string' || !isName(name) || role === undefined) return undefined;
    return { name, role };
  }
}

export function mayAct(person: Person, least: Role): boolean {
  return ROLES.indexOf(person.role) >= ROLES.indexOf(least);
}

/** A line for the password file. */
export function userLine(name: string, role: string, password: string): string {
  if (!isName(name)) throw usage(`"${name}" cannot be a name; use letters, digits, . _ @ -`);
  if (!ROLES.some((one) => one === role)) throw usage(`the role is one of ${ROLES.join(', ')}`);
  if (password.length < LEAST_PASSWORD) {
    throw usage(`the password has fewer than ${LEAST_PASSWORD} characters`);
  }
  const salt = randomBytes(16).toString('hex');
  return `${name}:${role}:${salt}$${derive(password, salt)}`;
}

const UNKNOWN = `${'0'.repeat(32)}$${'0'.repeat(64)}`;

function derive(password: string, salt: string): string {
  return scryptSync(password, salt, 32).toString('hex');
}

function verify(password: string, hash: string): boolean {
  const [salt = '', wanted = ''] = hash.split('$');
  return same(derive(password, salt), wanted);
}

/** Compares in constant time. */
function same(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));
}

function isName(name: string): boolean {
  return /^[\w.@-]{1,64}$/.test(name);
}

function readUsers(file: string): ReadonlyMap<string, { role: Role; hash: string }> {
  const users = new Map<string, { role: Role; hash: string }>();
  for (const [index, line] of readPrivate(file).split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name = '', given, hash = ''] = line.trim().split(':');
    const role = ROLES.find((one) => one === given);
    const isWhole = isName(name) && role !== undefined && /^[0-9a-f]{32}\$[0-9a-f]{64}$/.test(hash);
    if (!isWhole) {
      // fail-closed: a line that cannot be read may have been meant to limit a person.
      throw new PortcullisError('config', `${file}:${index + 1} is not name:role:hash`, {
        remedy: ADD_USER,
      });
    }
    users.set(name, { role, hash });
  }
  if (users.size > 0) return users;
  throw new PortcullisError('config', `${file} has no users`, { remedy: ADD_USER });
}

function readSecret(file: string): string {
  const secret = readPrivate(file).trim();
  if (secret.length >= 32) return secret;
  throw new PortcullisError('config', `the secret in ${file} has fewer than 32 characters`, {
    remedy: 'write a longer one, for instance with: openssl rand -hex 32',
  });
}

/** fail-closed: a secret that other users can read or change protects nothing. */
function readPrivate(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if ((statSync(file).mode & 0o077) === 0) return text;
  } catch (thrown) {
    throw new PortcullisError('config', `cannot read ${file}: ${messageOf(thrown)}`, {
      remedy: 'name a file that you can read',
    });
  }
  throw new PortcullisError('config', `${file} can be read or changed by other users`, {
    remedy: `run: chmod 600 ${file}`,
  });
}

function usage(message: string): PortcullisError {
  return new PortcullisError('usage', message);
}
