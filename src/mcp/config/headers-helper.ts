import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type Environment, shellEnvironment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { McpScope, RemoteEntry } from '../server.js';

export interface HeadersHelperDeps {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Environment;
  /** The directory of the declaring file. */
  readonly cwd: string;
  /** Whether the folder is trusted; helpers of projects and plugins run only then. */
  readonly trusted: boolean;
  /** A Node platform name. */
  readonly platform: string;
}

export interface HelperDeclaration {
  readonly name: string;
  readonly scope: McpScope;
  readonly entry: Pick<RemoteEntry, 'url' | 'headersHelper'>;
}

/** Runs the helper once. The error is one line and quotes none of its output. */
export type HeadersHelper = () => Promise<Result<Record<string, string>, string>>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const GRACE_MS = 250;

/** Scopes that a person did not write: their helpers get no credentials. */
const FOREIGN: ReadonlySet<McpScope> = new Set(['project', 'plugin', 'agent']);
/** Scopes that are bound to a folder or written by others. */
const NEEDS_TRUST: ReadonlySet<McpScope> = new Set(['local', ...FOREIGN]);

export function createHeadersHelper(
  declaration: HelperDeclaration,
  deps: HeadersHelperDeps,
): HeadersHelper | undefined {
  const { headersHelper } = declaration.entry;
  if (headersHelper === undefined) return undefined;
  return async () => {
    // fail-closed: without these headers the connection is not made.
    if (NEEDS_TRUST.has(declaration.scope) && !deps.trusted) {
      return err('its headersHelper runs only in a trusted folder');
    }
    const shell = shellFor(headersHelper, deps);
    const result = await deps.processes.run({
      ...shell,
      cwd: deps.cwd,
      env: environmentFor(declaration, deps),
      timeoutMs: TIMEOUT_MS,
      graceMs: GRACE_MS,
      groupLifetimeMs: TIMEOUT_MS,
      maxOutputBytes: MAX_BYTES,
      maxTotalBytes: MAX_BYTES * 16,
      label: `headers of MCP server ${declaration.name}`,
      owner: { server: declaration.name },
    });
    if (result.startError !== undefined) return err('its headersHelper cannot be started');
    if (result.timedOut) {
      return err(`its headersHelper gave no answer within ${TIMEOUT_MS / 1000} s`);
    }
    if (result.exitCode !== 0) {
      return err(
        `its headersHelper failed (exit ${result.exitCode ?? result.signal ?? 'unknown'})`,
      );
    }
    if (result.stdoutTruncated === true || result.outputLimitHit === true) {
      return err('its headersHelper printed too much');
    }
    return headersFrom(result.stdout);
  };
}

/** fail-closed: one invalid value invalidates all, because partial headers make a different request. */
export function headersFrom(text: string): Result<Record<string, string>, string> {
  const parsed = parseJson(text.trim());
  if (!parsed.ok || !isRecord(parsed.value)) {
    return err('its headersHelper did not print a JSON object');
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed.value)) {
    if (!HEADER_NAME.test(name)) return err('its headersHelper printed a name that is no header');
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      return err(`its headersHelper printed no usable text for the header ${name}`);
    }
    headers[name] = value;
  }
  return ok(headers);
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** Excludes line breaks, which would start another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function environmentFor(
  { name, scope, entry }: HelperDeclaration,
  { env, cwd }: HeadersHelperDeps,
): Record<string, string> {
  const extra = {
    CLAUDE_CODE_MCP_SERVER_NAME: name,
    CLAUDE_CODE_MCP_SERVER_URL: entry.url,
    PWD: cwd,
  };
  if (FOREIGN.has(scope)) return shellEnvironment(env, { extra });
  // A person's own helper may need credentials to make the headers.
  const whole = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return { ...Object.fromEntries(whole), ...extra };
}

function shellFor(
  command: string,
  { platform, env }: HeadersHelperDeps,
): { readonly command: string; readonly args: readonly string[] } {
  return platform === 'win32'
    ? {
        command: env.CLAUDE_CODE_GIT_BASH_PATH || 'bash',
        args: ['--norc', '--noprofile', '-c', command],
      }
    : { command: '/bin/sh', args: ['-c', command] };
}
