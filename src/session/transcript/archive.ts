import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { createAppendLog } from '../../platform/fs/append-log.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { join } from '../../platform/fs/paths.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { readEnds, readLines } from '../../platform/fs/transcript-files.js';
import { isSafeId, requireSafeId } from '../session-id.js';
import type { RawLine } from './lines.js';
import { agentsIn, LISTING_WINDOW, projectHolding, sessionsIn, transcriptIn } from './listing.js';

/** The location of a stored session. */
export interface ArchivePlace {
  readonly project: string;
  readonly sessionId: string;
}

export interface ArchiveItem extends ArchivePlace {
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly size?: number;
}

/** Stored transcripts, for readers that list or edit them without opening a session. */
export interface TranscriptArchive {
  /** Looks in this project or, without one, in all projects; undefined when none or several have it. */
  find(sessionId: string, project: string | undefined): Promise<ArchivePlace | undefined>;
  /** Newest first. */
  list(project: string | undefined): Promise<readonly ArchiveItem[]>;
  /** The lines at both ends, enough to summarise the session. */
  readSummary(place: ArchivePlace): Promise<readonly RawLine[]>;
  /** Undefined when there is no transcript; `agentId` selects a subagent's. */
  lines(place: ArchivePlace, agentId?: string): Promise<readonly RawLine[] | undefined>;
  append(place: ArchivePlace, lines: readonly RawLine[], agentId?: string): Promise<void>;
  /** Removes the session with all its files, or one agent's transcript. */
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
    const found = sessionsIn(join(projects, project));
    return await Promise.all(
      found.map(async ({ id: sessionId, path, modifiedAt }) => {
        return { project, sessionId, modifiedAt, size: (await fs.stat(path))?.size };
      }),
    );
  };
  return {
    async find(sessionId, project) {
      if (!isSafeId(sessionId)) return undefined;
      const names = project === undefined ? stateFiles.list(projects) : [project];
      const among = names.filter(isProject);
      const only = projectHolding(projects, { sessionId, among });
      return only === undefined ? undefined : { project: only, sessionId };
    },
    async list(project) {
      const names = project === undefined ? stateFiles.list(projects).filter(isProject) : [project];
      const all = (await Promise.all(names.map(listOne))).flat();
      return all.sort((a, b) => b.modifiedAt - a.modifiedAt);
    },
    async readSummary(place) {
      const ends = readEnds(fileOf(place, undefined), LISTING_WINDOW);
      if (ends === undefined) return [];
      const both = ends.head === ends.tail ? [ends.head] : [ends.head, ends.tail];
      // Lines cut off by the read window do not parse and are dropped.
      return both.flatMap((text) => text.split('\n').flatMap(readLine));
    },
    async lines(place, agentId) {
      const path = fileOf(place, agentId);
      const lines: RawLine[] = [];
      const exists = await readLines(path, (line) => void lines.push(...readLine(line ?? '')));
      return exists ? lines : undefined;
    },
    async append(place, lines, agentId) {
      const log = createAppendLog(fileOf(place, agentId));
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
      return agentsIn(directoryOf(place));
    },
  };
}

function isProject(name: string): boolean {
  return /^[\w-][\w.-]{0,254}$/.test(name);
}

/** fail-closed: the name becomes part of a path. */
function requireProject(name: string): string {
  if (isProject(name)) return name;
  throw new PortcullisError('session', `${JSON.stringify(name)} cannot be the name of a project`);
}

function readLine(line: string): readonly RawLine[] {
  const parsed = parseJson(line);
  return parsed.ok && isRecord(parsed.value) ? [parsed.value] : [];
}
