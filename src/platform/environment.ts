import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, resolve, sep } from 'node:path';
import { wordSet } from '../lib/patterns/word-set.js';
import { redactSure } from '../lib/text/redact.js';
import { isInside } from './fs/paths.js';
import { isLocaleVariable, isSafeLocale } from './locale.js';

/** An environment as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentOptions {
  /** Names that pass although they look secret or are not among the usual ones. */
  readonly grants?: readonly string[];
  /** Set on top of everything else, as given. */
  readonly extra?: Readonly<Record<string, string>>;
  /**
   * Directories of the project. With them the search path keeps a `node_modules/.bin` that has nothing
   * to do with these; without them it keeps none.
   */
  readonly projectDirectories?: readonly string[];
}

/**
 * The least that a program needs to run: for hooks, MCP servers and other helpers, which get what
 * they were configured with and nothing by accident.
 */
export function minimalEnvironment(
  env: Environment,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const { projectDirectories } = options;
  const PATH = env.PATH === undefined ? undefined : systemPath(env.PATH, projectDirectories);
  return select({ ...env, PATH }, options, (name) => USUAL.has(name) || name.startsWith('LC_'));
}

/**
 * A search path without what changes with the directory and without the programs of a project, which
 * package managers put in front: our own `git` would otherwise be the one that a project, or a program
 * inside the sandbox, has put there.
 */
function systemPath(path: string, projects: readonly string[] | undefined): string {
  return path
    .split(delimiter)
    .filter((one) => isAbsolute(one) && !isOfProject(one, projects))
    .join(delimiter);
}

const PACKAGE_PROGRAMS = /^(.*)[/\\]node_modules[/\\]\.bin[/\\]?$/;

/**
 * Whether a directory holds programs of a project's packages. Package managers put those of the project and of
 * every directory above it in front, so both count.
 */
function isOfProject(directory: string, projects: readonly string[] | undefined): boolean {
  const owner = PACKAGE_PROGRAMS.exec(directory)?.[1];
  if (owner === undefined) return false;
  if (projects === undefined) return true;
  // fail-closed: what a link leads to counts as well as its own name.
  const real = realPathOf(directory);
  const places = [owner, PACKAGE_PROGRAMS.exec(real)?.[1] ?? real].map((one) => one || sep);
  const roots = projects.flatMap((one) => [resolve(one), realPathOf(one)]);
  return places.some((place) =>
    roots.some((root) => isInside(place, root) || isInside(root, place)),
  );
}

function realPathOf(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    // Not there: nothing is found in it either.
    return resolve(directory);
  }
}

/**
 * The person's own environment, for the shell: compilers, virtual environments and version managers
 * live in it. Left out is what looks like a secret, what is meant for us alone, and what would change
 * the meaning of the commands that are judged before they run.
 */
export function shellEnvironment(
  env: Environment,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const selected = select(
    env,
    options,
    (name, value) =>
      !isSecretName(name) && !isInternalVariable(name) && (USUAL.has(name) || !holdsSecret(value)),
  );
  // fail-closed: in such a locale bash does not read the characters that were judged.
  return Object.fromEntries(
    Object.entries(selected).filter(
      ([name, value]) => !isLocaleVariable(name) || isSafeLocale(name, value),
    ),
  );
}

/** Whether a value is or contains a certain secret; the name of its variable does not matter. */
function holdsSecret(value: string): boolean {
  return holdsPassword(value) || redactSure(value) !== value;
}

/** Whether a value is an address with a password in it: `postgres://me:secret@host/db`. */
export function holdsPassword(value: string): boolean {
  return passwordIn(value) !== undefined;
}

/** The values of an environment that must not be written down anywhere. */
export function secretValues(env: Environment): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const password = passwordIn(value);
    return [...ownSecrets(name, value), ...(password === undefined ? [] : [password])];
  });
}

/**
 * The part of a variable that must not be written down. Programs are denied more: the name of a model or
 * of a file is no secret, and resumed transcripts contain it.
 */
function ownSecrets(name: string, value: string): readonly string[] {
  const upper = name.toUpperCase();
  if (HARMLESS.has(upper) || PLACES.some((end) => upper.endsWith(end))) return [];
  // `name=value,name=value`, or one `Name: value` in each line.
  if (upper.endsWith('HEADER') || upper.endsWith('HEADERS'))
    return value.split(/[\n,]/).map((one) => one.replace(/^[^=:]*[=:]\s*/, ''));
  return hasSecretWord(upper) ? [value] : [];
}

/** Whether a variable of this name is taken to hold a key, token or password. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  if (HARMLESS.has(upper)) return false;
  return SECRET_PREFIX.test(upper) || hasSecretWord(upper);
}

/**
 * Whether a variable of this name is meant for us alone or would change the meaning of commands that
 * are judged before they run. Only the person's own configuration may set it for a shell.
 */
export function isInternalVariable(name: string): boolean {
  return INTERNAL.has(name) || INTERNAL_PREFIX.test(name);
}

/** The number by which children may know the program that runs them. */
export function ownProcessId(): number {
  return process.pid;
}

function select(
  env: Environment,
  options: EnvironmentOptions,
  passes: (name: string, value: string) => boolean,
): Record<string, string> {
  const grants = new Set(options.grants ?? []);
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (grants.has(name) || passes(name, value)) selected[name] = value;
  }
  // The names by which scripts know that an agent runs them.
  return { ...selected, CLAUDECODE: '1', PORTCULLIS: '1', ...options.extra };
}

function passwordIn(value: string): string | undefined {
  if (!value.includes('://') || !value.includes('@')) return undefined;
  // Up to the last `@`, but for a port with a path behind it.
  return /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]*:(?!\d{1,5}[/?#])(\S+)@/i.exec(value)?.[1];
}

const USUAL: ReadonlySet<string> = new Set([
  ...wordSet(
    `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR TMPDIR TMP TEMP
     XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR`,
  ),
  // Without these, TLS and the network do not work behind a company's proxy.
  ...wordSet(
    `HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
     NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
     GIT_SSL_CAINFO`,
  ),
  // Without these, hardly any program starts on Windows.
  ...wordSet(
    `SystemRoot SYSTEMROOT windir ComSpec COMSPEC PATHEXT Path USERPROFILE APPDATA LOCALAPPDATA
     ProgramData ProgramFiles`,
  ),
]);

/** Names that hold a word from below without being secret. */
const HARMLESS = wordSet('SSH_AUTH_SOCK XAUTHORITY GPG_KEY PWD OLDPWD');

/** What names of files and directories end with. */
const PLACES = ['_FILE', '_PATH', '_DIR'];

/** Of model providers and exporters: endpoints and headers that carry keys. */
const SECRET_PREFIX = /^(ANTHROPIC|OPENAI|AZURE_OPENAI|OTEL|GEMINI|MISTRAL|OPENROUTER)_/;

const INTERNAL: ReadonlySet<string> = new Set([
  // Meant for the Node that runs us; a debugger port or a preload would reach every child.
  ...wordSet('NODE_OPTIONS NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_UNIQUE_ID'),
  // Code or options that a fresh shell would take in before the command.
  ...wordSet('BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND'),
  // Another directory than the one that was judged.
  ...wordSet('CDPATH'),
  // Another repository, other settings or other programs than those that git would find by itself.
  ...wordSet(
    `GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
     GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX GIT_EXEC_PATH GIT_TEMPLATE_DIR
     GIT_EXTERNAL_DIFF GIT_CONFIG GIT_CONFIG_PARAMETERS`,
  ),
  // Of the shell that started us.
  ...wordSet('OLDPWD PWD SHLVL _'),
]);

const INTERNAL_PREFIX =
  /^(PORTCULLIS_|CLAUDE_CODE_|CLAUDE_AGENT_SDK_|GIT_CONFIG_(COUNT|KEY_|VALUE_)|BASH_FUNC_)/;

/** Whether the name of a variable, in capitals, holds a word that says that its value is a secret. */
export function hasSecretWord(name: string): boolean {
  if (name.endsWith('TOKEN') || ANYWHERE.some((part) => name.includes(part))) return true;
  const words = name.split('_');
  const last = words.pop() ?? '';
  if (LAST.has(last) || words.some((word) => BEFORE_OTHERS.has(word))) return true;
  const before = words.at(-1) ?? '';
  return LAST_TWO.has(`${before}_${last}`) || isKeyOf(before, last);
}

/** As a part of a longer word too. */
const ANYWHERE = [
  ...wordSet(
    `SECRET PASSWORD PASSWD PASSPHRASE PASSCODE JWT WEBHOOK API_KEY APIKEY ACCESS_KEY ACCESSKEY PRIVATE_KEY
     PRIVATEKEY AUTH_CONFIG AUTHCONFIG AUTH_TOKEN AUTHTOKEN CONNECTION_STRING CONNECTIONSTRING`,
  ),
];

/** Whole words at the end; elsewhere they mean something else, as in `KEY_REPEAT`. */
const LAST = wordSet(
  `TOKENS PASS PW PWD PAT AUTH AUTHORIZATION KEY KEYS CREDENTIAL CREDENTIALS CRED CREDS DSN COOKIE COOKIES
   MNEMONIC SEEDPHRASE`,
);
const LAST_TWO = wordSet('AUTH_HEADER SEED_PHRASE');

/** Whole words that others follow. */
const BEFORE_OTHERS = wordSet('TOKEN CREDENTIAL CREDENTIALS');

/** A key by its number or its form: `KEY_2`, `KEYV2`, `KEY_PEM`. */
function isKeyOf(before: string, last: string): boolean {
  if (last.startsWith('KEY')) return isKindOfKey(last.slice('KEY'.length));
  return before === 'KEY' && isKindOfKey(last);
}

function isKindOfKey(word: string): boolean {
  return KEY_FORMS.has(word) || /^V?\d+$/.test(word);
}

const KEY_FORMS = wordSet('B64 BASE64 PEM DATA');
