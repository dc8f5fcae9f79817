import { redact } from '../../lib/text/redact.js';
import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { basename } from '../../platform/fs/paths.js';
import type { HttpErrorKind } from '../../platform/http/http-error.js';
import type { LineProcessEnd } from '../../platform/process/process.js';
import type { SafeError, SafeErrorCode } from '../server.js';
import type { Failure } from './classify.js';

/** Characters of a server's text that are passed on. */
const SERVER_TEXT = 2000;
const NOT_MCP = 'answered with something that is not MCP.';

export interface SafeWords {
  /** The server's name without invisible characters. */
  readonly server: string;
  /** The person's home directory, shown as `~`. */
  readonly home: string | undefined;
}

export function safeWords(name: string, home: string | undefined): SafeWords {
  return { server: visible(sliceWhole(name, 0, 100)), home };
}

export function safeError(
  words: SafeWords,
  code: SafeErrorCode,
  text: string,
  more: { readonly mayHaveRun?: boolean; readonly url?: string | undefined } = {},
): SafeError {
  return {
    code,
    message: `MCP server "${words.server}" ${text}`,
    mayHaveRun: more.mayHaveRun ?? false,
    url: more.url,
  };
}

/** Formats a failed connect, request or call; only a call may have had effects. */
export function errorOf(
  words: SafeWords,
  failure: Failure,
  what: 'connect' | 'request' | 'call',
): SafeError {
  const isConnect = what === 'connect';
  const mayHaveRun = what === 'call';
  const because = (code: SafeErrorCode, text: string): SafeError =>
    safeError(words, code, text, { mayHaveRun });
  const notReached = (text: string): SafeError => safeError(words, 'connect-failed', text);
  switch (failure.kind) {
    case 'auth':
      if (!failure.isOwn) return needsAuth(words, failure.message);
      return notReached('refused the Authorization header that is configured for it (HTTP 401).');
    case 'auth-failed':
      return { code: 'connect-failed', message: failure.message, mayHaveRun: false };
    case 'headers': {
      const why = serverText(words, failure.message);
      return notReached(`was not contacted, as its headers helper failed: ${why}`);
    }
    case 'timeout':
      return because(isConnect ? 'connect-timeout' : 'call-timeout', 'did not answer in time.');
    case 'flooded':
      return because('protocol', `was disconnected while it was being asked: ${failure.message}.`);
    case 'too-long':
      return tooLong(words, mayHaveRun);
    case 'stopped':
      return because(failure.code, failure.text);
    case 'protocol':
      return because('protocol', failure.said ?? NOT_MCP);
    case 'ended':
      if (!isConnect) return crashed(words, mayHaveRun);
      return notReached(`could not be started: ${endText(words, failure)}.`);
    case 'closed':
      if (!isConnect) return crashed(words, mayHaveRun);
      return notReached('closed the connection before it was ready.');
    case 'not-sent':
      return isConnect
        ? notReached('closed the connection before it was ready.')
        : safeError(
            words,
            'session-lost',
            'is not connected any more; the next call connects anew.',
          );
    case 'http': {
      const text = httpText(failure.status);
      if (isConnect) return notReached(`refused the connection: ${text}.`);
      // fail-closed: a 5xx may follow completed work.
      const more = { mayHaveRun: mayHaveRun && failure.status >= 500 };
      return safeError(words, 'server-error', `answered with ${text}.`, more);
    }
    case 'network':
      if (!isConnect && failure.network === 'protocol') return tooLong(words, mayHaveRun);
      if (!isConnect && !NEVER_ARRIVED.has(failure.network)) return crashed(words, mayHaveRun);
      return notReached(`cannot be reached: ${NETWORK_TEXTS[failure.network] ?? FAILED}.`);
    case 'rpc': {
      const said = `error ${failure.code}: ${serverText(words, failure.message)}`;
      if (isConnect) return notReached(`refused the connection with ${said}`);
      // A JSON-RPC error may follow partial work.
      return isSessionError(failure)
        ? because('session-lost', 'has lost our session; the next call connects anew.')
        : because('server-error', `reports ${said}`);
    }
  }
}

const FAILED = 'the request failed';

/** Recognises a lost session that is reported as a JSON-RPC error. */
export function isSessionError(thrown: Failure): boolean {
  return thrown.kind === 'rpc' && thrown.code === -32001 && /session/i.test(thrown.message);
}

/** Failures before the first byte was sent. */
export const NEVER_ARRIVED: ReadonlySet<HttpErrorKind> = new Set([
  'refused',
  'dns',
  'unreachable',
  'proxy',
  'invalid_url',
]);

export function crashed(words: SafeWords, mayHaveRun: boolean): SafeError {
  return safeError(
    words,
    'crashed',
    'closed the connection. Server may have crashed or restarted; the next call connects anew.',
    { mayHaveRun },
  );
}

/** A retry would be as long again. */
function tooLong(words: SafeWords, mayHaveRun: boolean): SafeError {
  const text =
    'sent an answer that is longer than 16 MiB, or broken off; it was not taken. Ask for less at a time.';
  return safeError(words, 'protocol', text, { mayHaveRun });
}

/** `message` comes from the auth provider, which names the server and the remedy. */
function needsAuth(words: SafeWords, message: string | undefined): SafeError {
  const text =
    'needs a sign-in. A person has to sign in (portcullis mcp auth) before it can be used.';
  const error = safeError(words, 'needs-auth', text);
  return message === undefined ? error : { ...error, message };
}

/**
 * A server's text as the model may read it: bounded, without invisible characters, secrets, home paths and
 * our own markers.
 */
export function serverText(words: SafeWords, text: string): string {
  const cut = sliceWhole(text, 0, SERVER_TEXT * 4);
  const seen = withoutHome(redact(cut), words.home)
    .split('\n')
    .map((line) => visible(line.replaceAll('\t', ' ').replace(/\r$/, '')))
    .join('\n');
  // fail-closed: an error must not imitate the program's markers. They are quoted before the cut, which
  // cannot undo it.
  const clean = escapeReservedTags(seen);
  return clean.length <= SERVER_TEXT ? clean : `${sliceWhole(clean, 0, SERVER_TEXT)}…`;
}

/** Replaces the home directory in all spellings: with either slash, JSON-escaped or URL-encoded. */
function withoutHome(text: string, home: string | undefined): string {
  const parts = (home ?? '').split(/[\\/]+/).filter((part) => part !== '');
  const isOne = parts.length > 0 && (home ?? '').length > 1;
  const own = isOne ? text.replaceAll(spelled(parts), '~') : text;
  return own.replace(HOMES, '~');
}

/** Other home directories, and this one when it is unknown. `/users/42` may be part of a URL. */
const HOMES =
  /(?:(?:\/|%2[Ff])(?:home|Users)(?:\/|%2[Ff])|[A-Za-z](?::|%3[Aa])(?:[\\/]+|%5[Cc]|%2[Ff])[Uu]sers(?:[\\/]+|%5[Cc]|%2[Ff]))(?:(?!%2[Ff]|%5[Cc])[^/\\\s"':])+/g;

function spelled(parts: readonly string[]): RegExp {
  const written = parts.map((part) => {
    const forms = new Set([part, encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd'))]);
    return `(?:${[...forms].map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`;
  });
  const between = '(?:[\\\\/]+|%2F|%5C)';
  const isDrive = /^[A-Za-z]:$/.test(parts[0] ?? '');
  // A sibling directory may have the same prefix.
  const first = isDrive ? '' : '(?:\\\\+|/|%2F|%5C)';
  return new RegExp(`${first}${written.join(between)}(?![\\w-])`, 'gi');
}

function endText(
  words: SafeWords,
  { end, program }: { readonly end: LineProcessEnd; readonly program?: string },
): string {
  if (end.startErrorKind === 'program-missing') return missingText(words, program);
  if (end.startErrorKind === 'directory') return 'its working directory does not exist';
  if (end.startErrorKind === 'too-long') return 'its arguments are too long';
  if (end.startError !== undefined) return 'the system did not start its program';
  if (end.lineTooLong !== undefined) return 'it wrote a line that is too long';
  return end.exitCode === null
    ? `its process was ended by ${end.signal ?? 'a signal'}`
    : `its process ended with exit code ${end.exitCode}`;
}

/** Names the missing program without directories, because the model may read it; `mcp status` shows the PATH. */
function missingText(words: SafeWords, program: string | undefined): string {
  if (program === undefined) return 'its program was not found';
  const named = `its program "${serverText(words, basename(program))}" was not found`;
  return /[/\\]/.test(program) ? named : `${named} in PATH; \`portcullis mcp status\` shows which`;
}

function httpText(status: number): string {
  const reason = HTTP_REASONS[status];
  return reason === undefined ? `HTTP ${status}` : `HTTP ${status} (${reason})`;
}

const HTTP_REASONS: Readonly<Record<number, string>> = {
  301: 'it has moved; its new address has to be configured',
  302: 'it redirects elsewhere, which is not followed',
  303: 'it redirects elsewhere, which is not followed',
  307: 'it redirects elsewhere, which is not followed',
  308: 'it has moved; its new address has to be configured',
  403: 'access denied',
  404: 'nothing is at this address',
  405: 'it does not speak this transport',
  429: 'too many requests',
};

const NETWORK_TEXTS: Readonly<Partial<Record<HttpErrorKind, string>>> = {
  refused: 'nothing listens at its address',
  dns: 'its name could not be resolved',
  tls: 'no trusted TLS connection',
  reset: 'it closed the connection',
  unreachable: 'there is no way to its address',
  timeout: 'it did not answer in time',
  protocol: 'it does not speak HTTP, or sent too much',
  proxy: 'the proxy does not let us through',
  invalid_url: 'its address cannot be used',
};

const SCOPE_CHARS = 200;

/**
 * Reports that this request needs more rights than the token has; the session stays for other requests. It
 * uses this response's challenge, because concurrent requests may lack other scopes.
 */
export function scopeError(words: SafeWords, asked: string | undefined): SafeError {
  const scope = sliceWhole(serverText(words, asked ?? ''), 0, SCOPE_CHARS);
  const what =
    scope === '' ? 'a scope that it does not name' : `the scope ${JSON.stringify(scope)}`;
  const text = `refused the request, which was not carried out: the sign-in lacks ${what}. A person has to sign in for that (oauth.scopes of its entry, portcullis mcp auth).`;
  return safeError(words, 'needs-auth', text);
}
