import type { McpConnection, RawResource, RawResourceContent } from '../server.js';
import { shownText } from '../tools/names.js';
import { fileExtension } from '../tools/output.js';

/** A resource as the model, people, hooks and hosts see it. */
export interface ShownResource {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** The file with its binary content. */
  readonly blobSavedTo?: string;
  readonly problem?: string;
}

/** Saves bytes in an owner-only file and returns its path. */
export type SaveBytes = (name: string, bytes: Uint8Array) => Promise<string>;

/** Characters shown of a name or type, and of a URI, which must stay usable. */
const SHORT = 500;
export const LONGEST_URI = 4000;
/** Base64 of 48 MiB. */
const LONGEST_BLOB = 64 * 1024 * 1024;
/** Parts of one resource; a directory may have one per file. */
const MOST_PARTS = 50;

/** Prepares a resource for display: sanitises and cuts text, saves bytes in files. */
export async function shownContents(
  contents: readonly RawResourceContent[],
  { cap, save }: { readonly cap: number; readonly save: SaveBytes },
): Promise<readonly ShownResource[]> {
  const shown: ShownResource[] = [];
  let left = cap;
  for (const content of contents.slice(0, MOST_PARTS)) {
    const one = await shownPart(content, { left, save, index: shown.length });
    left = Math.max(0, left - (one.text?.length ?? 0));
    shown.push(one);
  }
  const more = contents.length - shown.length;
  if (more > 0) shown.push({ uri: '', problem: `${more} further parts are not shown` });
  return shown;
}

async function shownPart(
  { uri, mimeType, text, blob }: RawResourceContent,
  {
    left,
    save,
    index,
  }: { readonly left: number; readonly save: SaveBytes; readonly index: number },
): Promise<ShownResource> {
  const head = {
    uri: oneLine(uri, LONGEST_URI),
    ...(typeof mimeType === 'string' ? { mimeType: oneLine(mimeType) } : {}),
  };
  if (typeof text === 'string') return { ...head, text: shownText(text, left) };
  if (typeof blob !== 'string')
    return { ...head, problem: 'the server sent neither text nor bytes' };
  if (blob.length > LONGEST_BLOB) {
    return { ...head, problem: `${blob.length} characters of base64 are too many to keep` };
  }
  const bytes = decodeBase64(blob);
  if (bytes === undefined) return { ...head, problem: 'its bytes are not valid base64' };
  const name = `${index}.${fileExtension(mimeType)}`;
  return { ...head, blobSavedTo: await save(name, bytes) };
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Wraps a resource in tags that its content cannot imitate, so that the model treats it as data, not instructions. */
export function markedResource(server: string, shown: ShownResource): string {
  const type = shown.mimeType === undefined ? '' : ` type="${attribute(shown.mimeType)}"`;
  const head = `<mcp-resource server="${attribute(server)}" uri="${attribute(shown.uri)}"${type}>`;
  return `${head}\n${quoted(bodyOf(shown))}\n</mcp-resource>`;
}

function bodyOf({ text, blobSavedTo, problem }: ShownResource): string {
  if (text !== undefined) return text === '' ? '(empty)' : text;
  if (blobSavedTo !== undefined) return `(no text; its bytes were saved to ${blobSavedTo})`;
  return `(not shown: ${problem ?? 'nothing was sent'})`;
}

function quoted(text: string): string {
  return text.replace(/<(\s{0,9}\/?\s{0,9})mcp-resource/gi, '&lt;$1mcp-resource');
}

function attribute(text: string): string {
  return oneLine(text, LONGEST_URI).replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

export function oneLine(text: unknown, cap: number = SHORT): string {
  return shownText(String(text), cap).replace(/\s+/g, ' ');
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly description?: string;
  readonly server: string;
}

export function listedResource(server: string, resource: RawResource): ListedResource {
  const { uri, name, title, mimeType, description } = resource;
  return {
    uri: oneLine(uri, LONGEST_URI),
    name: oneLine(name ?? title ?? uri),
    ...(typeof mimeType === 'string' ? { mimeType: oneLine(mimeType) } : {}),
    ...(typeof description === 'string' ? { description: oneLine(description) } : {}),
    server,
  };
}

/** Finds a server by its name or by its part in tool names. */
export function findConnection(
  connections: readonly McpConnection[],
  name: string,
): McpConnection | undefined {
  const exact = connections.find(({ declaration }) => declaration.name === name);
  if (exact !== undefined) return exact;
  const alike = connections.filter(({ declaration }) => declaration.key === name);
  // fail-closed: an ambiguous key matches no server.
  return alike.length === 1 ? alike[0] : undefined;
}

export function unknownServer(connections: readonly McpConnection[], name: string): string {
  const names = connections.map(({ declaration }) => declaration.name).sort();
  const known = names.length === 0 ? 'There is none.' : `There are: ${names.join(', ')}.`;
  return `No MCP server "${oneLine(name)}" can be used. ${known}`;
}
