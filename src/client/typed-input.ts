import { messageOf, PortcullisError } from '../errors.js';
import type { ImageBlock } from '../protocol/content.js';
import type { CommandOutput } from './events.js';
import type { SessionClient } from './session-client.js';

/** What a person typed and sent with Enter. */
export interface TypedInput {
  readonly text: string;
  /** The text as the person saw it: long pastes are placeholders in it. Absent: the same. */
  readonly shown?: string | undefined;
  /** Images that were pasted. */
  readonly images?: readonly ImageBlock[] | undefined;
}

/** What the first character makes of it. */
export type TypedLine =
  /** `/model opus` */
  | { readonly kind: 'command'; readonly line: string }
  /** `! git status` */
  | { readonly kind: 'shell'; readonly command: string }
  /** `# Use tabs` */
  | { readonly kind: 'memory'; readonly text: string }
  | { readonly kind: 'prompt' }
  /** It is not sent; why not, and what to do. */
  | { readonly kind: 'rejected'; readonly problem: string };

const ONE_LINE =
  'Not run: a ! command is one line. Join lines with &&, or put a space before the ! to send the text as a prompt.';

/** Tells commands, shell commands, notes and prompts apart. Only for keys of a person: no other text runs a shell. */
export function readTypedLine({ text, shown = text }: TypedInput): TypedLine {
  if (shown.startsWith('!')) {
    const command = text.slice(1).trim();
    if (command === '') return { kind: 'rejected', problem: 'Type a command after the !.' };
    // fail-closed: lines that were pasted, or are hidden behind a placeholder, are not run unread.
    const isOneLine = text === shown && !command.includes('\n');
    return isOneLine ? { kind: 'shell', command } : { kind: 'rejected', problem: ONE_LINE };
  }
  const [, note] = text === shown ? (/^#[ \t]+(\S[^\n]*)$/.exec(text) ?? []) : [];
  return note === undefined ? commandOrPrompt(text) : { kind: 'memory', text: note };
}

/** The same for text that a program gives: a prompt of the command line, a line of a menu. */
export function commandOrPrompt(text: string): TypedLine {
  return text.startsWith('/') ? { kind: 'command', line: text } : { kind: 'prompt' };
}

/** What became of it, for the person who typed it. */
export interface Sent {
  readonly output?: CommandOutput | undefined;
  readonly notices: readonly string[];
}

/** Sends it to the session. `id` is that of the prompt. Rejects with an error fit to be shown. */
export async function sendTyped(
  client: SessionClient,
  line: TypedLine,
  input: TypedInput & { readonly id: string },
): Promise<Sent> {
  switch (line.kind) {
    case 'command':
      return { output: await client.send('command', { line: line.line }), notices: [] };
    case 'shell':
      await client.send('shell', { command: line.command });
      return { notices: [] };
    case 'memory': {
      const { path } = await client.send('remember', { text: line.text });
      return { notices: [path === undefined ? 'Nothing was saved.' : `Added to ${path}.`] };
    }
    case 'rejected':
      throw new PortcullisError('usage', line.problem);
    case 'prompt': {
      const { text, shown = text, images = [], id } = input;
      const named = await namedImages(client, shown);
      const content = [{ type: 'text' as const, text }, ...images, ...named.blocks];
      await client.send('prompt', { content, id });
      return { notices: named.notices };
    }
  }
}

/** The images whose paths a prompt names without an `@`: typed, or dropped onto the window. */
async function namedImages(
  client: SessionClient,
  text: string,
): Promise<{ readonly blocks: readonly ImageBlock[]; readonly notices: readonly string[] }> {
  const blocks: ImageBlock[] = [];
  const notices: string[] = [];
  for (const path of imagePaths(text)) {
    try {
      const { image } = await client.send('image', { path });
      if (image !== undefined) blocks.push(image.block);
    } catch (thrown) {
      notices.push(`The image was not attached: ${messageOf(thrown)}`);
    }
  }
  return { blocks, notices };
}

const WORDS = /(?<=^|\s)(?:'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s\\'"])+))/g;
const MOST_IMAGES = 20;

/** Words that may be paths of images; quotes and backslashes of dropped files are taken off. */
export function imagePaths(text: string): readonly string[] {
  const words = [...text.matchAll(WORDS)].map(
    ([, single, double, plain = '']) =>
      single ?? double ?? plain.replace(/[.,;:!?)]+$/, '').replace(/\\(.)/g, '$1'),
  );
  const paths = words
    .filter((word) => !word.startsWith('@') && /\.(?:png|jpe?g|gif|webp)$/i.test(word))
    .map((word) => word.replace(/^file:\/\//, ''));
  return [...new Set(paths)].slice(0, MOST_IMAGES);
}
