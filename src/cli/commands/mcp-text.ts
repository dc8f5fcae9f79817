import { displayPath } from '../../env/paths.js';
import { placeOf } from '../../mcp/declaration.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { visible } from '../../util/visible.js';
import type { McpHere } from './mcp-here.js';

/** For people: name, scope, transport, how it stands and where it is written. */
export function serverText(here: McpHere, server: ServerDeclaration): string {
  const { name, scope, entry, standing } = server;
  const type = entry === undefined ? '' : `, ${entry.type}`;
  const state =
    standing.kind === 'ready' ? NOT_TRIED : `${WORDS[standing.kind]}: ${standing.reason}`;
  const lines = here.configuration.describe(server).map((line) => `  ${line}\n`);
  return `${visible(name)}  (${scope}${type})  ${originText(here, server)}\n${lines.join('')}  ${visible(state)}\n`;
}

/** For machines. Holds what is written, without values of variables and headers. */
export function serverData(here: McpHere, server: ServerDeclaration): Record<string, unknown> {
  const { name, key, scope, entry, origin, standing, contentHash } = server;
  return {
    name,
    key,
    scope,
    type: entry?.type ?? null,
    status: standing.kind,
    ...(standing.kind === 'ready' ? {} : { reason: standing.reason }),
    ...placeOf(origin),
    contentHash,
    entry: here.configuration.describe(server),
  };
}

const NOT_TRIED = 'allowed, not connected (portcullis mcp status connects and checks it)';

const WORDS = {
  'pending-approval': 'pending approval',
  disabled: 'disabled',
  blocked: 'blocked',
  invalid: 'not usable',
  'not-configured': 'not configured',
} as const;

function originText({ cwd }: McpHere, { origin }: ServerDeclaration): string {
  if (origin.file === undefined) return '';
  const line = origin.line === undefined ? '' : `:${origin.line}`;
  return `${visible(displayPath(origin.file, cwd))}${line}`;
}
