import { sha256 } from '../env/hash.js';
import { join, projectSlug } from '../env/paths.js';
import { atExit } from '../env/this-process.js';
import { nodeTranscriptFiles, type TranscriptFiles } from '../env/transcript-files.js';
import { PortcullisError } from '../errors.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { parseJson } from '../util/json.js';
import { redactSureDeep } from '../util/redact.js';
import { agentFacts } from './agent-facts.js';
import { parseLine, SessionReader } from './lines.js';
import { findByTitle, newestSession, projectsHolding } from './listing.js';
import {
  asPayloadRef,
  PAYLOAD_DIRECTORY,
  type PayloadRef,
  payloadFile,
  payloadLost,
  serialiseLine,
} from './payload.js';
import { isSafeId, requireSafeId } from './session-id.js';
import type { LoadedSession, LostLines, NewLine, SessionStore } from './store.js';
import { TranscriptWriter } from './transcript-writer.js';

export interface JsonlStoreOptions {
  /** Holds `projects/`. */
  readonly configDir: string;
  /** The project's directory, absolute; its slug names the project's folder. */
  readonly cwd: string;
  /** Takes the place of the slug. */
  readonly projectDirName?: string;
  readonly onLost?: (lost: LostLines) => void;
  /** What was reported as lost is saved after all. */
  readonly onRecovered?: (path: string) => void;
  readonly files?: TranscriptFiles;
}

/**
 * Transcripts as JSON lines in the ecosystem's layout: `<config>/projects/<slug>/<session>.jsonl`,
 * subagents and long outputs in a directory of the session's name beside it.
 */
export function createJsonlStore(options: JsonlStoreOptions): SessionStore {
  return new JsonlStore(options);
}

class JsonlStore implements SessionStore {
  readonly #options: JsonlStoreOptions;
  readonly #files: TranscriptFiles;
  readonly #projects: string;
  readonly #project: string;
  /** Sessions that were found in another project stay in its folder. */
  readonly #foundIn = new Map<string, string>();
  /** Where the session is kept that was asked for last. */
  #lastPlace: SessionPlace | undefined;
  readonly #writers = new Map<string, TranscriptWriter>();
  /** Those with lines that are to be written together with what comes next. */
  readonly #gathering = new Set<TranscriptWriter>();
  #flushing: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Set: the process does not end without writing them. */
  #stopWaiting: (() => void) | undefined;
  /** By transcript: what is being written beside it. */
  readonly #beside = new Map<string, Promise<void>>();

  constructor(options: JsonlStoreOptions) {
    this.#options = options;
    this.#files = options.files ?? nodeTranscriptFiles;
    this.#projects = join(options.configDir, 'projects');
    this.#project = projectName(options);
  }

  append(sessionId: string, lines: readonly NewLine[], agentId?: string): number {
    const place = this.#place(sessionId);
    const transcript = this.#transcript(place, agentId);
    const texts: string[] = [];
    let grown = 0;
    let facts: ReturnType<typeof agentFacts>;
    for (const line of lines) {
      const text = serialiseLine(line, place.spill);
      grown += text.length + 1;
      texts.push(text);
      if (line.type === 'attachment') facts ??= agentFacts(line);
    }
    const writer = this.#writer(transcript);
    if (agentId === undefined) writer.append(sessionId, texts);
    else {
      this.#gather(writer, sessionId, texts);
      // What is needed to go on with an agent is there as soon as others know of it.
      if (facts !== undefined) {
        this.#describe(transcript.path, facts);
        writer.flush();
      }
    }
    return grown;
  }

  async read(sessionId: string, agentId?: string): Promise<LoadedSession | undefined> {
    this.flush();
    this.#locate(sessionId);
    const reader = new SessionReader();
    const exists = await this.#files.readLines(this.#path(sessionId, agentId), (line) =>
      reader.add(line === undefined ? { kind: 'damaged' } : parseLine(line)),
    );
    return exists ? reader.session(sessionId) : undefined;
  }

  async payload(sessionId: string, toolUseResult: unknown): Promise<unknown> {
    const ref = asPayloadRef(toolUseResult);
    if (ref === undefined) return toolUseResult;
    const path = join(this.#directory(sessionId), ref.$ref);
    const text = await this.#files.readText(path);
    if (text === undefined) throw payloadLost(path, 'is gone');
    if (sha256(text) !== ref.sha256) throw payloadLost(path, 'was changed');
    const parsed = parseJson(text);
    if (!parsed.ok) throw payloadLost(path, `cannot be read: ${parsed.error}`);
    return parsed.value;
  }

  async agents(sessionId: string): Promise<readonly string[]> {
    this.flush();
    this.#locate(sessionId);
    const names = this.#files.list(join(this.#directory(sessionId), 'subagents'));
    return names.flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? []).filter(isSafeId);
  }

  async newest(): Promise<string | undefined> {
    return newestSession(this.#files, {
      directory: join(this.#projects, this.#project),
      cwd: this.#options.projectDirName === undefined ? this.#options.cwd : undefined,
    });
  }

  async find(idOrTitle: string): Promise<string | undefined> {
    if (isSafeId(idOrTitle) && this.#locate(idOrTitle)) return idOrTitle;
    return findByTitle(this.#files, join(this.#projects, this.#project), idOrTitle);
  }

  transcriptPath(sessionId: string, agentId?: string): string {
    return this.#path(sessionId, agentId);
  }

  prepare(sessionId: string, agentId: string): AtOnce<void> {
    return this.#writer(this.#transcript(this.#place(sessionId), agentId)).prepare();
  }

  async release(sessionId: string, agentId: string): Promise<void> {
    const transcript = this.#transcript(this.#place(sessionId), agentId);
    const { path } = transcript;
    const writer = this.#writers.get(path);
    // What could not be saved is kept, to be tried again at the end.
    if (writer?.close() === 0) {
      this.#writers.delete(path);
      transcript.writer = undefined;
    }
    if (writer !== undefined) this.#gathering.delete(writer);
    const writing = this.#beside.get(path);
    if (writing !== undefined) {
      await writing;
      if (this.#beside.get(path) === writing) this.#beside.delete(path);
    }
    this.#lastPlace?.transcripts.delete(agentId);
  }

  flush(of?: { readonly sessionId: string; readonly agentId: string }): void {
    if (of !== undefined) {
      this.#writers.get(this.#path(of.sessionId, of.agentId))?.flush({ andNext: true });
      return;
    }
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    let failure: { readonly thrown: unknown } | undefined;
    // Whoever is told of a failure may append more: that is written too.
    for (const writer of this.#gathering) {
      this.#gathering.delete(writer);
      try {
        writer.flush();
      } catch (thrown) {
        // One that fails does not keep the others from the disk.
        failure ??= { thrown };
      }
    }
    if (failure !== undefined) throw failure.thrown;
  }

  spillDirectory(sessionId: string): string {
    const directory = join(this.#directory(sessionId), PAYLOAD_DIRECTORY);
    this.#files.makeDirectory(directory);
    return directory;
  }

  close(): number {
    this.#isClosed = true;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.flush();
    let unsaved = 0;
    for (const writer of this.#writers.values()) unsaved += writer.close();
    return unsaved;
  }

  /** Agents are many and write little at a time: a write for each line is a large part of what they cost. */
  #gather(writer: TranscriptWriter, sessionId: string, lines: readonly string[]): void {
    const mayWait = writer.gather(sessionId, lines);
    // Nobody comes after the end to write it.
    if (!mayWait || this.#isClosed) {
      writer.flush();
      return;
    }
    this.#gathering.add(writer);
    this.#flushing ??= setTimeout(() => this.flush(), LONGEST_GATHERED_MS).unref();
    this.#stopWaiting ??= atExit(() => this.flush());
  }

  /** Whether the session exists, here or, under a unique id, in another project. */
  #locate(sessionId: string): boolean {
    if (this.#files.modifiedAt(this.#path(sessionId, undefined)) !== undefined) return true;
    const project = projectsHolding(this.#files, this.#projects, sessionId);
    if (project !== undefined) {
      this.#foundIn.set(sessionId, project);
      this.#lastPlace = undefined;
    }
    return project !== undefined;
  }

  #place(sessionId: string): SessionPlace {
    if (this.#lastPlace?.sessionId !== sessionId) {
      const project = this.#foundIn.get(sessionId) ?? this.#project;
      const directory = join(this.#projects, project, requireSafeId(sessionId, 'session'));
      const spill = (json: string): PayloadRef | undefined => this.#spill(sessionId, json);
      const agents = join(directory, 'subagents', 'agent-');
      this.#lastPlace = { sessionId, directory, agents, transcripts: new Map(), spill };
    }
    return this.#lastPlace;
  }

  #directory(sessionId: string): string {
    return this.#place(sessionId).directory;
  }

  #path(sessionId: string, agentId: string | undefined): string {
    return this.#transcript(this.#place(sessionId), agentId).path;
  }

  #transcript(place: SessionPlace, agentId: string | undefined): Transcript {
    const { directory, agents, transcripts } = place;
    const known = transcripts.get(agentId);
    if (known !== undefined) return known;
    const path =
      agentId === undefined
        ? `${directory}.jsonl`
        : `${agents}${requireSafeId(agentId, 'agent')}.jsonl`;
    const transcript = { path, writer: undefined };
    transcripts.set(agentId, transcript);
    return transcript;
  }

  /** What other programs want to know of an agent stands beside its transcript. */
  #describe(path: string, facts: Readonly<Record<string, unknown>>): void {
    const file = path.replace(/\.jsonl$/, '.meta.json');
    try {
      const writing = this.#files.writeAside(file, JSON.stringify(redactSureDeep(facts)));
      if (isLater(writing)) this.#beside.set(path, writing.catch(noLoss));
    } catch {
      noLoss();
    }
  }

  #writer(transcript: Transcript): TranscriptWriter {
    transcript.writer ??= this.#writerAt(transcript.path);
    return transcript.writer;
  }

  #writerAt(path: string): TranscriptWriter {
    const known = this.#writers.get(path);
    if (known !== undefined) return known;
    const writer = new TranscriptWriter(this.#files.openLog(path), this.#options);
    this.#writers.set(path, writer);
    return writer;
  }

  #spill(sessionId: string, json: string): PayloadRef | undefined {
    const digest = sha256(json);
    const ref = { $ref: payloadFile(digest), bytes: Buffer.byteLength(json), sha256: digest };
    try {
      this.#files.writeOnce(join(this.#directory(sessionId), ref.$ref), json);
      return ref;
    } catch {
      // The payload then stays in the line, whose own failure is reported and tried again.
      return undefined;
    }
  }
}

/** What cannot be written beside a transcript: that says the same. */
function noLoss(): void {}

interface SessionPlace {
  readonly sessionId: string;
  readonly directory: string;
  /** How the paths of the transcripts of agents begin. */
  readonly agents: string;
  /** By agent, undefined being the session itself: every line asks for one. */
  readonly transcripts: Map<string | undefined, Transcript>;
  /** Keeps a long output beside them. */
  readonly spill: (json: string) => PayloadRef | undefined;
}

interface Transcript {
  readonly path: string;
  /** Undefined: nothing was appended yet, or all of it is written and the file is closed. */
  writer: TranscriptWriter | undefined;
}

/** fail-closed: a name given from outside becomes a part of a path, so it must be a name and no way. */
function projectName({ projectDirName, cwd }: JsonlStoreOptions): string {
  if (projectDirName === undefined || projectDirName === '') return projectSlug(cwd);
  if (/^[\w-][\w.-]{0,254}$/.test(projectDirName)) return projectDirName;
  throw new PortcullisError(
    'config',
    `${JSON.stringify(projectDirName)} cannot be the name of a folder of transcripts`,
    {
      remedy: 'CLAUDE_CODE_PROJECT_DIR_NAME takes letters, digits, "-", "_" and "."; or unset it.',
    },
  );
}

/** What may be lost when the process is killed: the end of a conversation that nothing has followed from yet. */
const LONGEST_GATHERED_MS = 50;
