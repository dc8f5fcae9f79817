import type { Result } from '../../lib/result.js';
import type { McpConnection, RawResourceContent } from '../server.js';
import {
  findConnection,
  markedResource,
  oneLine,
  type SaveBytes,
  shownContents,
  unknownServer,
} from './content.js';

/** A resource named in a prompt as `@server:scheme://path`. */
export interface Mention {
  readonly server: string;
  readonly uri: string;
}

/** Mentions attached per prompt; a pasted text may contain any number. */
export const MOST_MENTIONS = 10;
/** Characters of one resource, and of all resources of one prompt. */
const ONE_CHARS = 50_000;
const ALL_CHARS = 150_000;

/** `://` distinguishes a URI from a path after a name. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s<>"`]+/;
/** Allows names like `plugin:kit:server`. */
const NAME = /^[\p{L}\p{N}_.-]+(?::[\p{L}\p{N}_.-]+){0,2}?(?=:[A-Za-z][A-Za-z0-9+.-]*:\/\/)/u;

/**
 * Finds the distinct resources that a prompt mentions. Pass only text that a person typed: in files and model
 * output a mention has no effect. `servers` are the known names, which may contain blanks; unknown names are
 * found too, so that a typo can be reported.
 */
export function findMentions(text: string, servers: readonly string[]): readonly Mention[] {
  if (!text.includes('@')) return [];
  const found = new Map<string, Mention>();
  const known = [...servers].sort((a, b) => b.length - a.length);
  for (const match of text.matchAll(/(?<![\p{L}\p{N}_.@/])@/gu)) {
    const mention = mentionAt(text.slice(match.index + 1, match.index + 1 + LONGEST), known);
    if (mention !== undefined) found.set(JSON.stringify(mention), mention);
  }
  return [...found.values()];
}

const LONGEST = 4096;

function mentionAt(text: string, known: readonly string[]): Mention | undefined {
  const server =
    known.find((name) => text.startsWith(`${name}:`) && URI.test(text.slice(name.length + 1))) ??
    NAME.exec(text)?.[0];
  if (server === undefined) return undefined;
  const uri = URI.exec(text.slice(server.length + 1))?.[0];
  return uri === undefined ? undefined : { server, uri: withoutEnd(uri) };
}

/** Removes punctuation and closing brackets of the surrounding sentence from the URI. */
function withoutEnd(uri: string): string {
  const end = /[.,;:!?'*]+$/;
  let kept = uri.replace(end, '');
  for (const [open, close] of ['()', '[]', '{}']) {
    const opened = kept.split(open ?? '').length;
    while (kept.endsWith(close ?? '') && kept.split(close ?? '').length > opened) {
      kept = kept.slice(0, -1).replace(end, '');
    }
  }
  return kept;
}

export interface MentionDeps {
  readonly connections: readonly McpConnection[];
  readonly save: SaveBytes;
  /** Reads through the permission gate; the error is the reason for a refusal. */
  read(mention: Mention): Promise<Result<readonly RawResourceContent[], string>>;
}

/** The block attached to the prompt for one mention. */
export interface MentionBlock {
  readonly mention: Mention;
  /** The marked content for the model, or why there is none. */
  readonly text: string;
  /** Tells the person why nothing was attached. */
  readonly failure?: string;
}

/** Reads the mentioned resources; failed mentions become notes. */
export async function resolveMentions(
  mentions: readonly Mention[],
  deps: MentionDeps,
): Promise<readonly MentionBlock[]> {
  const read = await Promise.all(
    mentions.map((mention, index) =>
      index < MOST_MENTIONS
        ? readMention(mention, index, deps)
        : `only ${MOST_MENTIONS} resources of one prompt are attached`,
    ),
  );
  let left = ALL_CHARS;
  return mentions.map((mention, index) => {
    const one = read[index];
    if (one === undefined || typeof one === 'string') return failed(mention, one ?? 'not read');
    if (one.text.length > left) return failed(mention, 'the resources before it fill the prompt');
    left -= one.text.length;
    return { mention, text: one.text };
  });
}

async function readMention(
  mention: Mention,
  index: number,
  { connections, save, read }: MentionDeps,
): Promise<{ readonly text: string } | string> {
  const connection = findConnection(connections, mention.server);
  if (connection === undefined) return unknownServer(connections, mention.server);
  const { name } = connection.declaration;
  const answer = await read({ server: name, uri: mention.uri });
  if (!answer.ok) return answer.error;
  if (answer.value.length === 0) return 'the server sent nothing for it';
  const shown = await shownContents(answer.value, {
    cap: ONE_CHARS,
    save: (name, bytes) => save(`mention-${index}-${name}`, bytes),
  });
  return { text: shown.map((one) => markedResource(name, one)).join('\n') };
}

function failed(mention: Mention, why: string): MentionBlock {
  const failure = `@${oneLine(mention.server)}:${oneLine(mention.uri)} was not attached: ${why}`;
  return { mention, text: `[${failure}]`, failure };
}
