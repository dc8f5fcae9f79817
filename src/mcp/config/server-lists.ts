import { isRecord } from '../../lib/own.js';
import type { SettingSource, Sourced } from '../../lib/sourced.js';
import { originOf } from '../../lib/sourced.js';
import { visible } from '../../lib/text/visible.js';
import type { ConfigProblem, SettingValues } from '../../settings/types.js';
import type { McpEntry } from '../server.js';
import { steersProgram } from './entry-text.js';
import { expand, type Variables } from './expand.js';
import { serverKey } from './names.js';
import { urlFits, whyNeverMatches } from './server-lists-url.js';

/** An item of `allowedMcpServers` or `deniedMcpServers` with variables expanded. */
export type ListItem = { readonly origin: string } & (
  | { readonly by: 'name'; readonly name: string }
  | { readonly by: 'command'; readonly words: readonly string[] }
  | { readonly by: 'url'; readonly pattern: string }
);

/** A server may be used when no item denies it and every allow list contains it. */
export interface ServerLists {
  readonly denied: readonly ListItem[];
  /** The allow lists: none allows everything, an empty list nothing. */
  readonly fences: readonly (readonly ListItem[])[];
}

export interface ListedServer {
  readonly name: string;
  readonly entry: McpEntry;
}

/**
 * Reads the lists. Deny lists add up. The allow lists of administrator, command line and user form one list;
 * those of projects and hosts narrow it. With `allowManagedMcpServersOnly` the lists of command line and user
 * narrow too instead of adding.
 */
export function readServerLists(
  values: SettingValues,
  variables: Variables,
): { readonly lists: ServerLists; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const items = (key: string, counts: (source: SettingSource) => boolean): readonly ListItem[] =>
    values
      .said(key)
      .filter(({ source }) => counts(source))
      .flatMap((one) => item(one, { key, variables, problems }));
  const denied = items('deniedMcpServers', () => true);
  const managedOnly = values.said('allowManagedMcpServersOnly').find(({ value }) => value === true);
  const others: readonly (readonly SettingSource[])[] = [['sdk'], ['local'], ['project']];
  const groups: readonly (readonly SettingSource[])[] =
    managedOnly === undefined
      ? [['managed', 'cli', 'user'], ...others]
      : [['managed'], ['cli'], ['user'], ...others];
  const listed = groups
    .map((group) => (source: SettingSource) => group.includes(source))
    .filter((counts) => values.has('allowedMcpServers', counts))
    .map((counts) => items('allowedMcpServers', counts));
  const hasOwn = values.has('allowedMcpServers', (one) => one === 'managed' || one === 'sdk');
  if (managedOnly === undefined || hasOwn) return { lists: { denied, fences: listed }, problems };
  problems.push(noOwnList(managedOnly));
  // fail-closed: a missing managed list allows no server.
  return { lists: { denied, fences: [...listed, []] }, problems };
}

function noOwnList(said: Sourced<unknown>): ConfigProblem {
  return {
    severity: 'warning',
    source: said.source,
    file: said.file,
    line: said.line,
    message:
      '`allowManagedMcpServersOnly` is set, and there is no managed list: no server is used.',
    remedy: 'Add `allowedMcpServers` beside it.',
  };
}

/**
 * Why a server of any source may not be used; undefined when it may. Allow lists do not apply to in-process
 * (`sdk`) servers.
 */
export function blockedReason(lists: ServerLists, server: ListedServer): string | undefined {
  if (lists.denied.length === 0 && lists.fences.length === 0) return undefined;
  const denies = lists.denied.find((one) => denied(one, server));
  if (denies !== undefined) return `deniedMcpServers forbids it (${denies.origin})`;
  if (server.entry.type === 'sdk') return undefined;
  // fail-closed: a server that an existing allow list does not contain is refused.
  if (!lists.fences.every((fence) => allowed(fence, server))) {
    return 'allowedMcpServers does not list it';
  }
  const isByCommand = lists.fences.some((fence) => fence.some(({ by }) => by === 'command'));
  return isByCommand ? otherProgram(server.entry) : undefined;
}

/** fail-closed: another PATH makes the allowed command start another program. */
function otherProgram(entry: McpEntry): string | undefined {
  if (entry.type !== 'stdio') return undefined;
  const name = Object.keys(entry.env).find(steersProgram);
  return name === undefined
    ? undefined
    : `allowedMcpServers lists its command, and its env sets ${name}, which decides what that command runs`;
}

function denied(one: ListItem, { name, entry }: ListedServer): boolean {
  return one.by === 'name' ? folded(one.name) === folded(name) : fits(one, entry, true);
}

/**
 * Names are the weakest criterion and count only when the list has no commands (or, for remote servers, no
 * addresses).
 */
function allowed(fence: readonly ListItem[], { name, entry }: ListedServer): boolean {
  const stricter = entry.type === 'stdio' ? 'command' : 'url';
  if (fence.some(({ by }) => by === stricter)) return fence.some((one) => fits(one, entry, false));
  return fence.some((one) => one.by === 'name' && one.name === name);
}

function fits(one: ListItem, entry: McpEntry, refuses: boolean): boolean {
  if (one.by === 'command') {
    if (entry.type !== 'stdio') return false;
    const words = [entry.command, ...entry.args];
    return words.length === one.words.length && words.every((word, at) => word === one.words[at]);
  }
  if (one.by === 'name' || entry.type === 'stdio' || entry.type === 'sdk') return false;
  return urlFits(one.pattern, entry.url, refuses);
}

function folded(name: string): string {
  return serverKey(name).toLowerCase();
}

interface Reading {
  readonly key: string;
  readonly variables: Variables;
  readonly problems: ConfigProblem[];
}

function item(one: Sourced<unknown>, { key, variables, problems }: Reading): readonly ListItem[] {
  if (!isRecord(one.value)) return [];
  const { serverName, serverCommand, serverUrl } = one.value;
  const missing = new Set<string>();
  const filled = (text: string): string => {
    const done = expand(text, variables);
    for (const name of done.missing) missing.add(name);
    return done.text;
  };
  const origin = originOf(one);
  const read: readonly ListItem[] =
    typeof serverName === 'string'
      ? [{ by: 'name', name: serverName, origin }]
      : Array.isArray(serverCommand)
        ? [{ by: 'command', words: serverCommand.map((word) => filled(String(word))), origin }]
        : typeof serverUrl === 'string'
          ? [{ by: 'url', pattern: filled(serverUrl), origin }]
          : [];
  const forbids = key === 'deniedMcpServers';
  const place = {
    source: one.source,
    file: one.file,
    line: one.line,
  };
  if (missing.size === 0) {
    const idle = forbids ? read.map(forbidsNothing).find((why) => why !== undefined) : undefined;
    if (idle === undefined) return read;
    // fail-closed: a deny item that can never match is a mistake.
    problems.push({ severity: 'fatal', ...place, ...idle });
    return [];
  }
  problems.push({
    // fail-closed: without the variable it is unknown what to deny.
    severity: forbids ? 'fatal' : 'warning',
    ...place,
    message: `\`${key}\` uses ${[...missing].map((name) => `\${${name}}`).join(', ')}, which has no value.`,
    remedy: 'Set the variable, or give it a default.',
  });
  // An allow item stays unmatched: its presence still makes names insufficient.
  return forbids ? [] : read;
}

/** Why a deny item can match no server. */
function forbidsNothing(one: ListItem): Pick<ConfigProblem, 'message' | 'remedy'> | undefined {
  const says = (what: string, why: string): string =>
    `\`deniedMcpServers\` forbids nothing with ${what}: ${why}.`;
  if (one.by === 'url') {
    const why = whyNeverMatches(one.pattern);
    if (why === undefined) return undefined;
    const message = says(`the address "${visible(one.pattern)}"`, visible(why));
    return { message, remedy: 'Write it like "https://*.example.com/*".' };
  }
  if (one.by === 'command') {
    const [program = ''] = one.words;
    if (program !== '' && program !== '*') return undefined;
    const message = says('this command', 'it names no program, and words are compared whole');
    return { message, remedy: 'Write every word of the command, the program first.' };
  }
  const { name } = one;
  if (name.trim() === name && name !== '' && !name.includes('*')) return undefined;
  const why = name.includes('*')
    ? 'names are compared whole, and "*" is no pattern in them'
    : 'no name of a server begins or ends with a blank';
  const remedy =
    'Write the name as `portcullis mcp list` shows it, or forbid addresses with {"serverUrl": "*"}.';
  return { message: says(`the name "${visible(name)}"`, why), remedy };
}
