import type { SessionConfig } from '../agents/session-config.js';
import { textOf, type UserBlock } from '../protocol/content.js';
import { listingTool } from '../tools/directory-listing.js';
import type { AnyTool } from '../tools/tool.js';
import { quoteMarks } from '../util/quote-marks.js';
import { err, type Result } from '../util/result.js';
import { visible } from '../util/visible.js';
import type { Ground } from './ground.js';
import type { MentionedPlace } from './mentioned-places.js';
import type { OutsideAnswer, OutsideInvoke } from './outside-calls.js';

export interface FileMentionParts {
  readonly config: Pick<SessionConfig, 'runsAs'>;
  readonly ground: Pick<Ground, 'fs'>;
  /** Absent: the session cannot read files. */
  readonly read: AnyTool | undefined;
  readonly invoke: OutsideInvoke;
  readonly signal: AbortSignal;
  /** For people. */
  tell(text: string): void;
}

export interface AttachedFiles {
  readonly blocks: readonly UserBlock[];
  /** What hooks said about the calls. */
  readonly contexts: readonly string[];
}

/** Files of one prompt; a pasted text may name any number. */
export const MOST_FILES = 25;
/** Characters of one prompt's files after which no further one is read. */
export const ALL_CHARS = 300_000;

/**
 * The files and directories that a prompt names. Each is a call of Read and shown as Read shows it, so
 * that it can be edited without being read again. What is refused or cannot be shown is told.
 */
export async function attachedFiles(
  places: readonly MentionedPlace[],
  parts: FileMentionParts,
): Promise<AttachedFiles> {
  const blocks: UserBlock[] = [];
  const contexts: string[] = [];
  const fail = (name: string, why: string): void => {
    const failure = quoteMarks(`${name} was not attached: ${why}`);
    parts.tell(failure);
    blocks.push({ type: 'text', text: `[${failure}]` });
  };
  let left = ALL_CHARS;
  for (const [index, place] of places.entries()) {
    const name = visible(place.label);
    if (index === MOST_FILES) {
      const others = places.length - MOST_FILES;
      fail(`${name}${others === 1 ? '' : ' and what is named behind it'}`, TOO_MANY);
      break;
    }
    const answer = left <= 0 ? err(FULL) : await readPlace(place, parts);
    if (!answer.ok) {
      fail(name, answer.error);
      continue;
    }
    const shown = marked(place, answer.value);
    left -= textOf(shown).length;
    blocks.push(...shown, ...answer.value.followUp.map(textBlock));
    contexts.push(...answer.value.contexts);
  }
  return { blocks, contexts };
}

const TOO_MANY = `at most ${MOST_FILES} files of one prompt are`;
const FULL = 'the files before it fill the prompt';

async function readPlace(
  { path, kind, lines }: MentionedPlace,
  { config, ground, read, invoke, signal }: FileMentionParts,
): Promise<Result<OutsideAnswer, string>> {
  // fail-closed: a session that cannot read files does not read them for a prompt either.
  if (read === undefined) return err('there is no Read tool here');
  if (signal.aborted) return err('interrupted');
  const tool = kind === 'directory' ? listingTool(read, ground) : read;
  const range = lines === undefined ? {} : { offset: lines.from, limit: lines.to - lines.from + 1 };
  const unattended = config.runsAs?.asks === 'deny';
  return await invoke(tool, { file_path: path, ...range }, { signal, unattended });
}

/** Between marks that nothing in it can imitate: what a file says is no word of the person who names it. */
function marked(
  { label, path, kind }: MentionedPlace,
  { content }: OutsideAnswer,
): readonly UserBlock[] {
  const what = kind === 'directory' ? ' kind="directory"' : '';
  const head = `<mentioned-file name="${attribute(label)}" path="${attribute(path)}"${what}>`;
  const end = '</mentioned-file>';
  if (typeof content === 'string') return [textBlock(`${head}\n${quoteMarks(content)}\n${end}`)];
  const inside = content.map((block) =>
    block.type === 'text' ? textBlock(quoteMarks(block.text)) : block,
  );
  return [textBlock(head), ...inside, textBlock(end)];
}

function attribute(text: string): string {
  return visible(text).replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function textBlock(text: string): UserBlock {
  return { type: 'text', text };
}
