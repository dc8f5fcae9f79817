import { isRecord } from '../../lib/own.js';
import { LONGEST_URI, oneLine } from '../resources/content.js';
import type { RawPrompt, RawResource } from '../server.js';
import { normaliseName, shownName, toolNameProblem } from '../tools/names.js';

/** Kinds of lists whose items are told of here; tools are told of by whoever checks their definitions. */
export type PlainKind = 'resources' | 'prompts';

/** An item of a server's list that cannot be used, and why. */
export interface Unusable {
  readonly name: unknown;
  readonly reason: string;
}

/** Why nothing can be read of an item; undefined when it can. */
export function unreadableReason(kind: PlainKind, value: unknown): string | undefined {
  if (!isRecord(value)) return 'it is no object';
  if (kind === 'resources') return uriProblem(value.uri);
  if (typeof value.name !== 'string' || value.name === '') return 'it has no name';
  const given = value.arguments ?? [];
  if (!Array.isArray(given)) return 'its arguments are no list';
  // fail-closed: words are given to arguments by their places, so that none can be left out.
  const isNamed = (one: unknown): boolean => isRecord(one) && typeof one.name === 'string';
  return given.every(isNamed) ? undefined : 'one of its arguments has no name';
}

/** By what people know it. */
export function nameOfItem(kind: PlainKind, value: unknown): unknown {
  if (!isRecord(value)) return '';
  const isGiven = (one: unknown): boolean => typeof one === 'string' && one !== '';
  return [kind === 'resources' ? value.uri : undefined, value.name, value.title].find(isGiven);
}

/** Whoever reads the list has to give the URI back as it is. */
function uriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.trim() === '') return 'it has no URI';
  if (uri.length > LONGEST_URI) return `its URI has ${uri.length} characters`;
  // fail-closed: what is shown and what is fetched must be the same.
  return oneLine(uri, LONGEST_URI) === uri
    ? undefined
    : 'its URI holds characters that are not seen, or that would be shown as others';
}

/** The first of those with one URI, and the others. */
export function distinctResources(resources: readonly RawResource[]): {
  readonly kept: readonly RawResource[];
  readonly unusable: readonly Unusable[];
} {
  const byUri = new Map<string, RawResource>();
  const repeated = new Set<string>();
  for (const resource of resources) {
    if (byUri.has(resource.uri)) repeated.add(resource.uri);
    else byUri.set(resource.uri, resource);
  }
  const reason = 'it is listed more than once; the first one counts';
  return {
    kept: repeated.size === 0 ? resources : [...byUri.values()],
    unusable: [...repeated].map((name) => ({ name, reason })),
  };
}

/** Prompts that stay in the list and are not offered. */
export function unusablePrompts(prompts: readonly RawPrompt[]): readonly Unusable[] {
  const byName = new Map<string, number>();
  const normal = prompts.map(({ name }) => normaliseName(name));
  for (const name of normal) byName.set(name, (byName.get(name) ?? 0) + 1);
  return prompts.flatMap(({ name }, at) => {
    const problem = toolNameProblem(name);
    if (problem !== undefined) return [{ name, reason: problem }];
    const isAlone = byName.get(normal[at] ?? '') === 1;
    const reason = 'another one has the same name once other characters are underscores';
    return isAlone ? [] : [{ name, reason }];
  });
}

/** People read a few; a server may have thousands. */
const MOST_NAMED = 10;

/** One text for all of them, of bounded length and with nothing invisible in it. */
export function unusableText(
  kind: PlainKind,
  server: string,
  unusable: readonly Unusable[],
): string | undefined {
  const [first] = unusable;
  if (first === undefined) return undefined;
  const told = unusable
    .slice(0, MOST_NAMED)
    .map(
      ({ name, reason }) => `${isNamed(name) ? shownName(name) : 'one without a name'} (${reason})`,
    );
  const more = unusable.length - told.length;
  const rest = more === 0 ? '' : `; and ${more} more`;
  return `${kind} of the MCP server "${server}" that are not offered: ${told.join('; ')}${rest}`;
}

function isNamed(name: unknown): boolean {
  return typeof name === 'string' && name !== '';
}
