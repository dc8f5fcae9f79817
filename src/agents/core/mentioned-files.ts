import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { MentionedPlace } from '../../context/prompt/mention-places.js';
import { err, type Result } from '../../lib/result.js';
import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import { visible } from '../../lib/text/visible.js';
import { type ResultBlock, textOf, type UserBlock } from '../../protocol/content.js';
import { listingTool } from '../../tools/files/directory-listing.js';
import { targetPath } from '../../tools/files/file-target.js';
import type { AnyTool, FileVersion } from '../../tools/tool.js';
import type { OutsideAnswer, OutsideInvoke, SeenFiles } from './outside-calls.js';

export interface FileMentionParts {
  readonly config: Pick<SessionConfig, 'runsAs'>;
  readonly environment: Pick<SessionEnvironment, 'fs' | 'workspace'>;
  /** Absent: the session cannot read files. */
  readonly read: AnyTool | undefined;
  readonly invoke: OutsideInvoke;
  readonly signal: AbortSignal;
  /** Shows a text to the person. */
  tell(text: string): void;
}

export interface AttachedFiles {
  readonly blocks: readonly UserBlock[];
  /** What hooks said about the calls. */
  readonly contexts: readonly string[];
  /** Count as read once the blocks are shown. */
  readonly seen: SeenFiles;
}

/** The most files of one prompt; pasted text may name any number. */
export const MOST_FILES = 25;
/** The characters of attached files after which the rest of a prompt's files is skipped. */
export const ALL_CHARS = 300_000;
/** Encoded characters of one prompt's images and documents; a larger one is attached alone. */
export const ALL_ENCODED = 20 * 1024 * 1024;

/**
 * Attaches the files and directories that a prompt names. Each is a call of Read and shown in its
 * format, so that the model can edit the file without reading it again. Failures are reported.
 */
export async function attachedFiles(
  places: readonly MentionedPlace[],
  parts: FileMentionParts,
): Promise<AttachedFiles> {
  const blocks: UserBlock[] = [];
  const contexts: string[] = [];
  const seen: SeenFiles[number][] = [];
  const fail = (name: string, why: string): void => {
    const failure = escapeReservedTags(`${name} was not attached: ${why}`);
    parts.tell(failure);
    blocks.push({ type: 'text', text: `[${failure}]` });
  };
  let left = ALL_CHARS;
  let encodedLeft = ALL_ENCODED;
  for (const [index, place] of places.entries()) {
    const name = visible(place.label);
    const andOthers = index === places.length - 1 ? name : `${name} and what is named behind it`;
    if (index === MOST_FILES) {
      fail(andOthers, TOO_MANY);
      break;
    }
    const answer = left <= 0 ? err(FULL) : await readPlace(place, parts);
    if (!answer.ok && parts.signal.aborted) {
      fail(andOthers, INTERRUPTED);
      break;
    }
    if (!answer.ok) {
      fail(name, answer.error);
      continue;
    }
    const encoded = encodedChars(answer.value);
    if (encoded > encodedLeft && encodedLeft < ALL_ENCODED) {
      fail(name, FULL);
      // Instructions for these files were shown and will not come again with later files, so they are kept.
      blocks.push(...answer.value.followUp.map(textBlock));
      continue;
    }
    encodedLeft -= encoded;
    const shown = marked(place, answer.value, parts);
    left -= textOf(shown.blocks).length;
    blocks.push(...shown.blocks, ...answer.value.followUp.map(textBlock));
    contexts.push(...answer.value.contexts);
    seen.push(...shown.seen);
  }
  return { blocks, contexts, seen };
}

function encodedChars({ content }: OutsideAnswer): number {
  if (typeof content === 'string') return 0;
  return content.reduce((sum, block) => sum + dataOf(block).length, 0);
}

function dataOf(block: ResultBlock): string {
  return 'source' in block && 'data' in block.source ? block.source.data : '';
}

export const INTERRUPTED = 'interrupted';
const TOO_MANY = `at most ${MOST_FILES} files of one prompt are`;
const FULL = 'the files before it fill the prompt';

async function readPlace(
  { path, kind, lines }: MentionedPlace,
  { config, environment, read, invoke, signal }: FileMentionParts,
): Promise<Result<OutsideAnswer, string>> {
  // fail-closed: a session that cannot read files does not read them for a prompt either.
  if (read === undefined) return err('there is no Read tool here');
  const tool = kind === 'directory' ? listingTool(read, environment) : read;
  const range = lines && { offset: lines.from, limit: lines.to - lines.from + 1 };
  const unattended = config.runsAs?.asks === 'deny';
  return await invoke(tool, { file_path: path, ...range }, { signal, unattended });
}

/** Wraps file content in tags that it cannot imitate, because it is not the person's own text. */
function marked(
  { label, kind }: MentionedPlace,
  { content, input, seen }: OutsideAnswer,
  { environment }: FileMentionParts,
): { readonly blocks: readonly UserBlock[]; readonly seen: SeenFiles } {
  let isExact = true;
  const quoted = (text: string): string => {
    const safe = escapeReservedTags(text);
    isExact &&= safe === text;
    return safe;
  };
  const inside =
    typeof content === 'string'
      ? quoted(content)
      : content.map((block) => (block.type === 'text' ? textBlock(quoted(block.text)) : block));
  const path = targetPath(String(input.file_path), environment.workspace);
  const head = [
    `<mentioned-file name="${attribute(label)}" path="${attribute(path)}"`,
    ...(kind === 'directory' ? ['kind="directory"'] : []),
    ...(isExact ? [] : [`note="${QUOTED}"`]),
  ];
  const begin = `${head.join(' ')}>`;
  const end = '</mentioned-file>';
  return {
    blocks:
      typeof inside === 'string'
        ? [textBlock(`${begin}\n${inside}\n${end}`)]
        : [textBlock(begin), ...inside, textBlock(end)],
    // fail-closed: escaped content was not seen exactly, so the file does not count as fully read.
    seen: isExact ? seen : seen.map(([file, version]) => [file, inPart(version)]),
  };
}

const QUOTED =
  'Some &lt; stand for the bracket that is in the file. Read it before you change what is around them.';

function inPart({ mtimeMs, size, hash }: FileVersion): FileVersion {
  return { mtimeMs, size, hash, whole: false };
}

function attribute(text: string): string {
  return visible(text).replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function textBlock(text: string): UserBlock {
  return { type: 'text', text };
}
