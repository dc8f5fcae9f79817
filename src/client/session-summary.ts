import { type ArchiveItem, openTranscripts, projectKeyOf, type RawLine } from '../app.js';
import { isRecord } from '../lib/own.js';
import { sliceWhole } from '../lib/text/truncate.js';

const LONGEST_PROMPT = 200;

/** An earlier conversation, for lists. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly summary: string;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  readonly createdAt?: number;
  readonly fileSize?: number;
  readonly customTitle?: string;
  readonly firstPrompt?: string;
  readonly gitBranch?: string;
  readonly cwd?: string;
  readonly tag?: string;
}

/** The conversations of a directory, or of all of them, newest first. */
export async function recentSessions(
  env: Parameters<typeof openTranscripts>[0],
  cwd: string | undefined,
  limit: number,
): Promise<readonly SessionSummary[]> {
  const archive = openTranscripts(env);
  const found: SessionSummary[] = [];
  for (const item of await archive.list(cwd === undefined ? undefined : projectKeyOf(cwd))) {
    if (found.length >= limit) break;
    const summary = summarizeSession(item, await archive.readSummary(item));
    if (summary !== undefined) found.push(summary);
  }
  return found;
}

/** What a session is about, from the lines at its ends. Undefined: it is no conversation of a person's. */
export function summarizeSession(
  item: ArchiveItem,
  lines: readonly RawLine[],
): SessionSummary | undefined {
  if (lines[0]?.isSidechain === true) return undefined;
  const last = (type: string, field: string): string | undefined =>
    text(lines.findLast((line) => line.type === type && typeof line[field] === 'string')?.[field]);
  const firstPrompt = lines.map(promptOf).find((prompt) => prompt !== undefined);
  const customTitle = last('custom-title', 'customTitle');
  const summary =
    customTitle ??
    last('ai-title', 'aiTitle') ??
    last('last-prompt', 'lastPrompt') ??
    last('summary', 'summary') ??
    firstPrompt;
  if (summary === undefined) return undefined;
  const first = (field: string): string | undefined =>
    text(lines.find((line) => text(line[field]) !== undefined)?.[field]);
  const created = Date.parse(first('timestamp') ?? '');
  const tag = last('tag', 'tag');
  const cwd = first('cwd');
  const gitBranch = text(lines.findLast((line) => text(line.gitBranch) !== undefined)?.gitBranch);
  return {
    sessionId: item.sessionId,
    summary,
    lastModified: Math.floor(item.modifiedAt),
    fileSize: item.size,
    customTitle,
    firstPrompt,
    gitBranch,
    cwd,
    tag,
    ...(Number.isNaN(created) ? {} : { createdAt: created }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What a person said; undefined for results of tools and what the runtime added. */
function promptOf(line: RawLine): string | undefined {
  if (line.type !== 'user' || line.isMeta === true || line.isCompactSummary === true) {
    return undefined;
  }
  const content = isRecord(line.message) ? line.message.content : undefined;
  const blocks: readonly unknown[] = Array.isArray(content)
    ? content
    : [{ type: 'text', text: content }];
  for (const block of blocks) {
    const said = isRecord(block) && block.type === 'text' ? text(block.text)?.trim() : undefined;
    if (said === undefined || said === '' || said.startsWith('<')) continue;
    return said.length <= LONGEST_PROMPT ? said : `${sliceWhole(said, 0, LONGEST_PROMPT)}…`;
  }
  return undefined;
}
