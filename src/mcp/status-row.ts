import { isRecord } from '../lib/own.js';
import { sliceWhole } from '../lib/text/truncate.js';
import { visible } from '../lib/text/visible.js';
import type { McpServerStatusRow, McpToolRow } from '../protocol/mcp-status.js';
import type { ServerStatus } from './server.js';
import type { ServerListing } from './tools/listing.js';

const DESCRIPTION_CHARS = 2_000;
const HIDDEN = '[hidden]';

/** A server's status for hosts and people; `written` is its entry before expansion. */
export function statusRow(
  status: ServerStatus,
  listing: ServerListing | undefined,
  written: unknown,
): McpServerStatusRow {
  const { name, state, serverInfo, error, transport, scope, protocolVersion } = status;
  const problems = [...(listing?.problems ?? []), ...(status.leftOut ?? [])];
  return {
    name,
    status: state,
    serverInfo,
    error,
    config: shownEntry(written),
    transport,
    scope,
    source: transport === 'sdk' ? 'sdk' : scope,
    protocolVersion,
    tools: listing === undefined || state === 'disabled' ? undefined : toolRows(listing),
    problems: problems.length === 0 || state === 'disabled' ? undefined : problems,
  };
}

function toolRows({ tools }: ServerListing): readonly McpToolRow[] {
  return tools.map((tool) => {
    const { name, description, annotations = {} } = tool.raw;
    const hints = HINTS.filter(([hint]) => typeof annotations[hint] === 'boolean');
    return {
      name: visible(name),
      description: description && visible(sliceWhole(description, 0, DESCRIPTION_CHARS)),
      annotations:
        hints.length === 0
          ? undefined
          : Object.fromEntries(hints.map(([hint, shown]) => [shown, annotations[hint]])),
    };
  });
}

const HINTS = [
  ['readOnlyHint', 'readOnly'],
  ['destructiveHint', 'destructive'],
  ['openWorldHint', 'openWorld'],
] as const;

/** Shows names but no values. fail-closed: unknown fields are left out. */
function shownEntry(raw: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(raw)) return undefined;
  const { type, name, command, args, env, url, headers, timeout, alwaysLoad } = raw;
  return {
    ...(type === 'sdk' && typeof name === 'string' ? { name } : {}),
    ...(typeof type === 'string' ? { type } : typeof command === 'string' ? { type: 'stdio' } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(Array.isArray(args) ? { args: shownArguments(args) } : {}),
    ...(isRecord(env) ? { env: namesOf(env) } : {}),
    ...(typeof url === 'string' ? { url: withoutValues(url) } : {}),
    ...(isRecord(headers) ? { headers: namesOf(headers) } : {}),
    ...(typeof timeout === 'number' ? { timeout } : {}),
    ...(typeof alwaysLoad === 'boolean' ? { alwaysLoad } : {}),
  };
}

function namesOf(table: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(table).map((name) => [name, HIDDEN]));
}

const SECRET_OPTION = /(?:key|token|secret|password|passwd|credential|authorization)/i;

/** Hides the value of an option whose name suggests a secret. */
function shownArguments(args: readonly unknown[]): readonly unknown[] {
  return args.map((arg, at) => {
    if (typeof arg !== 'string') return HIDDEN;
    const [option = '', ...value] = arg.split('=');
    if (arg.startsWith('-') && value.length > 0 && SECRET_OPTION.test(option)) {
      return `${option}=${HIDDEN}`;
    }
    const before = args[at - 1];
    const isValue =
      typeof before === 'string' && /^-[^=]*$/.test(before) && SECRET_OPTION.test(before);
    return isValue && !arg.startsWith('-') ? HIDDEN : arg;
  });
}

/** A query may contain a key; variable references are safe to show. */
function withoutValues(url: string): string {
  return url.replace(/([?&][^=&#]*=)(?!\$\{)[^&#]+/g, `$1${HIDDEN}`);
}
