import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { join, projectSlug } from '../../platform/fs/paths.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { modifiedAt, readEnds } from '../../platform/fs/transcript-files.js';
import { isSafeId, requireSafeId } from '../session-id.js';
import { parseLine } from './lines.js';

/** How much of a transcript's start and end other viewers read. */
export const LISTING_WINDOW = 64 * 1024;

export interface SessionFile {
  readonly id: string;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** The newest transcript with a conversation; `cwd` separates projects whose folders share a slug. */
export function newestSession(where: {
  readonly directory: string;
  readonly cwd: string | undefined;
}): string | undefined {
  return sessionsIn(where.directory).find(({ path }) => {
    const ends = readEnds(path, LISTING_WINDOW);
    if (ends === undefined || isSidechain(ends.head)) return false;
    if (!hasConversation(ends.head) && !hasConversation(ends.tail)) return false;
    return where.cwd === undefined || !isOfCollidingProject(ends.head, where.cwd);
  })?.id;
}

/** The one project, by folder name, that has a session of this id; throws when several have one. */
export function projectHolding(
  projects: string,
  {
    sessionId,
    among = stateFiles.list(projects),
  }: { sessionId: string; among?: readonly string[] },
): string | undefined {
  const holding = among.filter(
    (project) => modifiedAt(join(projects, project, `${sessionId}.jsonl`)) !== undefined,
  );
  if (holding.length <= 1) return holding[0];
  throw new PortcullisError(
    'session',
    `the session ${sessionId} is in ${holding.length} projects: ${holding.join(', ')}`,
    { remedy: 'Name the directory of the one that you mean, or start there.' },
  );
}

/** The subagents that have a transcript below a session's directory. */
export function agentsIn(directory: string): readonly string[] {
  const names = stateFiles.list(join(directory, 'subagents'));
  return names.flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? []).filter(isSafeId);
}

/** The transcript of a session, or of one of its agents. */
export function transcriptIn(directory: string, agentId: string | undefined): string {
  if (agentId === undefined) return `${directory}.jsonl`;
  return join(directory, 'subagents', `agent-${requireSafeId(agentId, 'agent')}.jsonl`);
}

/** The session with this title; throws when several have it. */
export function findByTitle(directory: string, title: string): string | undefined {
  if (title === '') return undefined;
  const titled = sessionsIn(directory)
    .filter(({ path }) => titleOf(path) === title)
    .map(({ id }) => id);
  return onlyOne(titled, title);
}

/** The only match for a title; throws when there are several. */
export function onlyOne(titled: readonly string[], title: string): string | undefined {
  if (titled.length <= 1) return titled[0];
  throw new PortcullisError(
    'session',
    `${titled.length} sessions have the title ${JSON.stringify(title)}: ${titled.join(', ')}`,
    { remedy: 'Name the one that you mean by its id.' },
  );
}

/** The transcripts of a project, newest first. */
export function sessionsIn(directory: string): readonly SessionFile[] {
  return stateFiles
    .list(directory)
    .flatMap((name) => {
      const id = name.endsWith('.jsonl') ? name.slice(0, -'.jsonl'.length) : '';
      if (!isSafeId(id)) return [];
      const path = join(directory, name);
      const at = modifiedAt(path);
      return at === undefined ? [] : [{ id, path, modifiedAt: at }];
    })
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
}

function titleOf(path: string): string | undefined {
  const ends = readEnds(path, LISTING_WINDOW);
  if (ends === undefined) return undefined;
  return lastTitle(ends.tail) ?? lastTitle(ends.head);
}

function lastTitle(text: string): string | undefined {
  let title: string | undefined;
  for (const line of text.split('\n')) {
    if (!line.includes('"custom-title"')) continue;
    const parsed = parseLine(line);
    if (parsed.kind === 'meta' && parsed.line.type === 'custom-title') {
      title = parsed.line.customTitle;
    }
  }
  return title;
}

/** Searches the text, because the first line may be longer than the part that was read. */
function isSidechain(head: string): boolean {
  return /"isSidechain":\s*true/.test(head.slice(0, head.indexOf('\n') + 1 || undefined));
}

function hasConversation(text: string): boolean {
  return /"type":\s*"(?:user|assistant)"/.test(text);
}

/** Different directories can share a slug; the first entry names the real one. */
function isOfCollidingProject(head: string, cwd: string): boolean {
  const quoted = /"cwd":\s*("(?:[^"\\]|\\.)*")/.exec(head)?.[1];
  const parsed = parseJson(quoted ?? '');
  // Without a readable directory the folder's name alone decides.
  if (!parsed.ok || typeof parsed.value !== 'string') return false;
  if (projectSlug(parsed.value) !== projectSlug(cwd)) return false;
  return plain(parsed.value) !== plain(cwd);
}

function plain(path: string): string {
  return path.replaceAll('\\', '/').replace(/\/+$/, '');
}
