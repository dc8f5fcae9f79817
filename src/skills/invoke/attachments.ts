import {
  findNamed,
  includeTargets,
  MOST_NAMES,
  withoutSentenceEnd,
} from '../../context/instructions/includes.js';
import { isTextName } from '../../context/instructions/text-extensions.js';
import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { isInside } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Skill } from '../skill.js';
import { fillTarget, type RenderValues } from './render.js';

/** A file that the text of a skill names. */
export interface WantedFile {
  readonly path: string;
  readonly agent: AgentRef;
  /** The skill's directory, when it contains the file and the skill may read it. */
  readonly ownDirectory?: string;
}

export type FileAnswer =
  | {
      readonly kind: 'read';
      readonly text: string;
      readonly isCut: boolean;
    }
  /** It cannot be shown: too large, or no text. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface AttachmentParts {
  readonly home: string;
  /** Whether the path is a regular file, following links. */
  isFile(path: string): Promise<boolean>;
  /** Whether a skill may read its own directory. */
  opensOwn(skill: Skill): Promise<boolean>;
  /** Reads through the gate without asking a person: a file that no rule allows is refused. */
  read(file: WantedFile, signal: AbortSignal): Promise<FileAnswer>;
}

export interface Attached {
  /** Appended to the text; empty when it names no file. */
  readonly text: string;
  readonly notes: readonly string[];
}

const MOST_ATTACHED = 10;
/** Characters of one file. */
const ATTACHED_CHARS = 40_000;

const NOTHING_ATTACHED: Attached = { text: '', notes: [] };

export interface AttachmentRequest {
  readonly skill: Skill;
  /** The author's text; only there `@` names files, so that arguments cannot name any. */
  readonly body: string;
  readonly values: RenderValues;
  /** The project and the directories of the skill's own files, as this agent sees them. */
  readonly projectDir: string;
  readonly beside: readonly string[];
  readonly agent: AgentRef;
  readonly signal: AbortSignal;
}

/**
 * Reads the files that `@path` names in a skill's text, relative to the skill's directory or the project,
 * in the syntax of instruction includes. A name without a file stays text; a file that may not be read is
 * an error that stops the skill.
 */
export async function attachedFiles(
  parts: AttachmentParts,
  wish: AttachmentRequest,
): Promise<Result<Attached, string>> {
  const { skill } = wish;
  // fail-closed: a server's text must not fetch local files, because the server is another machine.
  if (skill.origin === 'mcp' || skill.source === 'mcp') return ok(NOTHING_ATTACHED);
  const texts: string[] = [];
  const notes: string[] = [];
  const seen = new Set<string>();
  const targets = includeTargets(wish.body, { variables: true });
  if (targets.length > MOST_NAMES) {
    notes.push(`only the first ${MOST_NAMES} names with an @ are looked up`);
  }
  for (const written of targets.slice(0, MOST_NAMES)) {
    const target = fillTarget(written, wish.values);
    const path = await found(parts, wish, target);
    if (path === undefined || seen.has(path)) continue;
    seen.add(path);
    const name = `@${visible(target)}`;
    const one = await contentOf(parts, wish, { path, isLast: seen.size > MOST_ATTACHED });
    if (one.kind === 'refused') return err(`its file ${name} was refused: ${one.reason}`);
    if (one.kind === 'failed') {
      texts.push(`\n\n[${name} is not attached: ${one.reason}]`);
      notes.push(`${name} is not attached: ${one.reason}`);
    } else {
      const shown = sliceWhole(one.text, 0, ATTACHED_CHARS);
      const isCut = one.isCut || shown.length < one.text.length;
      if (isCut) notes.push(`only the beginning of ${name} is attached`);
      const much = isCut ? ', its beginning' : '';
      texts.push(`\n\nContents of ${path} (${name}${much}):\n\n${shown}`);
    }
    if (seen.size > MOST_ATTACHED) break;
  }
  return ok({ text: texts.join(''), notes });
}

/** The path of the file; undefined when the name is no file. */
async function found(
  { home, isFile }: AttachmentParts,
  { skill, projectDir, beside }: AttachmentRequest,
  target: string,
): Promise<string | undefined> {
  const bases = hasDirectory(skill) ? [...beside, projectDir] : [projectDir];
  // A file that cannot be inspected counts as found, so that reading it reports the error.
  const look = async (path: string): Promise<true | undefined> =>
    (await isFile(path).catch(() => true)) ? true : undefined;
  for (const name of new Set([target, withoutSentenceEnd(target)])) {
    const named = await findNamed(name, { bases, home, look });
    if (named !== undefined) return named.path;
  }
  return undefined;
}

/** Commands are single files that share their directory with others. */
function hasDirectory({ isCommand, directory }: Skill): boolean {
  return isCommand !== true && directory !== '';
}

async function contentOf(
  parts: AttachmentParts,
  { skill, agent, signal }: AttachmentRequest,
  { path, isLast }: { readonly path: string; readonly isLast: boolean },
): Promise<FileAnswer> {
  if (isLast) return { kind: 'failed', reason: `no more than ${MOST_ATTACHED} files are` };
  if (!isTextName(path)) return { kind: 'failed', reason: 'it is not a text' };
  if (signal.aborted) return { kind: 'refused', reason: 'interrupted' };
  const { directory } = skill;
  try {
    const isBeside = hasDirectory(skill) && isInside(path, directory);
    const isOwn = isBeside && (await parts.opensOwn(skill));
    const own = isOwn ? { ownDirectory: directory } : {};
    return await parts.read({ path, agent, ...own }, signal);
  } catch (thrown) {
    // fail-closed: a file whose reading failed was not read.
    return { kind: 'refused', reason: messageOf(thrown) };
  }
}
