import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { join } from '../../platform/fs/paths.js';
import { nodeTranscriptFiles as files } from '../../platform/fs/transcript-files.js';
import { isSafeId, requireSafeId } from '../session-id.js';
import { classifyLine, SessionReader } from './lines.js';
import { agentsIn, LISTING_WINDOW, projectHolding, sessionsIn, transcriptIn } from './listing.js';
import type { LoadedSession } from './store.js';

/** One line of a transcript, of whatever kind. */
export type RawLine = Readonly<Record<string, unknown>>;

/** Where a session is kept. */
export interface ArchivePlace {
  readonly project: string;
  readonly sessionId: string;
}

export interface ArchiveItem extends ArchivePlace {
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly size?: number;
}

/** Transcripts as they lie there, for those who look through them without opening a session. */
export interface TranscriptArchive {
  /** In this project, or, with none, in the only one that has it. */
  find(sessionId: string, project: string | undefined): Promise<ArchivePlace | undefined>;
  /** Newest first. */
  list(project: string | undefined): Promise<readonly ArchiveItem[]>;
  /** The lines at both ends, enough to tell what the session is about. */
  readSummary(place: ArchivePlace): Promise<readonly RawLine[]>;
  /** Undefined: there is none. `agentId` selects a subagent's. */
  lines(place: ArchivePlace, agentId?: string): Promise<readonly RawLine[] | undefined>;
  append(place: ArchivePlace, lines: readonly RawLine[], agentId?: string): Promise<void>;
  /** The session with all that belongs to it, or one agent's transcript. */
  remove(place: ArchivePlace, agentId?: string): Promise<void>;
  agents(place: ArchivePlace): Promise<readonly string[]>;
}

/** The transcripts of a user, `<config>/projects/<project>/<session>.jsonl`. */
export function openFileArchive(configDir: string): TranscriptArchive {
  const projects = join(configDir, 'projects');
  const directoryOf = ({ project, sessionId }: ArchivePlace): string =>
    join(projects, requireProject(project), requireSafeId(sessionId, 'session'));
  const fileOf = (place: ArchivePlace, agentId: string | undefined): string =>
    transcriptIn(directoryOf(place), agentId);
  const listOne = async (project: string): Promise<ArchiveItem[]> => {
    const found = sessionsIn(files, join(projects, project));
    return await Promise.all(
      found.map(async ({ id: sessionId, path, modifiedAt }) => {
        return { project, sessionId, modifiedAt, size: (await fs.stat(path))?.size };
      }),
    );
  };
  return {
    async find(sessionId, project) {
      if (!isSafeId(sessionId)) return undefined;
      const names = project === undefined ? files.list(projects) : [project];
      const among = names.filter(isProject);
      const only = projectHolding(files, projects, { sessionId, among });
      return only === undefined ? undefined : { project: only, sessionId };
    },
    async list(project) {
      const names = project === undefined ? files.list(projects).filter(isProject) : [project];
      const all = (await Promise.all(names.map(listOne))).flat();
      return all.sort((a, b) => b.modifiedAt - a.modifiedAt);
    },
    async readSummary(place) {
      const ends = files.readEnds(fileOf(place, undefined), LISTING_WINDOW);
      if (ends === undefined) return [];
      const both = ends.head === ends.tail ? [ends.head] : [ends.head, ends.tail];
      // Lines that are cut off at the inner ends cannot be read and are left out.
      return both.flatMap((text) => text.split('\n').flatMap(readLine));
    },
    async lines(place, agentId) {
      const path = fileOf(place, agentId);
      const lines: RawLine[] = [];
      const exists = await files.readLines(
        path,
        (line) => void lines.push(...readLine(line ?? '')),
      );
      return exists ? lines : undefined;
    },
    async append(place, lines, agentId) {
      const log = files.openLog(fileOf(place, agentId));
      try {
        log.append(lines.map((line) => JSON.stringify(line)));
      } finally {
        log.close();
      }
    },
    async remove(place, agentId) {
      await fs.remove(fileOf(place, agentId));
      if (agentId !== undefined) return;
      await fs.remove(directoryOf(place), { recursive: true });
    },
    async agents(place) {
      return agentsIn(files, directoryOf(place));
    },
  };
}

function isProject(name: string): boolean {
  return /^[\w-][\w.-]{0,254}$/.test(name);
}

/** fail-closed: it becomes a part of a path. */
function requireProject(name: string): string {
  if (isProject(name)) return name;
  throw new PortcullisError('session', `${JSON.stringify(name)} cannot be the name of a project`);
}

function readLine(line: string): readonly RawLine[] {
  const parsed = parseJson(line);
  return parsed.ok && isRecord(parsed.value) ? [parsed.value] : [];
}

/** A session from its lines, as the stores give it. */
export function sessionOf(sessionId: string, lines: readonly RawLine[]): LoadedSession {
  const reader = new SessionReader();
  for (const line of lines) reader.add(classifyLine(line));
  return reader.session(sessionId);
}
