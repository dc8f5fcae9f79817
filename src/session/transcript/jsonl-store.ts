import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { redactSureDeep } from '../../lib/text/redact.js';
import {
  AppendError,
  type AppendLog,
  createAppendLog,
  makePrivateDirectory,
} from '../../platform/fs/append-log.js';
import { join, projectSlug } from '../../platform/fs/paths.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { modifiedAt, readLines } from '../../platform/fs/transcript-files.js';
import { sha256 } from '../../platform/hash.js';
import { isSafeId, requireSafeId } from '../session-id.js';
import { parseLine, SessionReader } from './lines.js';
import { agentsIn, findByTitle, newestSession, projectHolding, transcriptIn } from './listing.js';
import {
  agentFacts,
  asPayloadRef,
  PAYLOAD_DIRECTORY,
  type PayloadRef,
  payloadFile,
  payloadLost,
  serialiseLine,
} from './payload.js';
import type { LoadedSession, LostLines, NewLine, SessionStore } from './store.js';

export interface JsonlStoreOptions {
  /** Holds `projects/`. */
  readonly configDir: string;
  /** The project's directory, absolute; its slug names the project's folder. */
  readonly cwd: string;
  /** Replaces the slug. */
  readonly projectDirName?: string;
  /** Replaces files that only grow. */
  readonly openLog?: (path: string) => AppendLog;
  readonly onLost?: (lost: LostLines) => void;
  /** Called when lines reported as lost have been saved after all. */
  readonly onRecovered?: (path: string) => void;
}

/**
 * Transcripts as JSON lines in the ecosystem's layout: `<config>/projects/<slug>/<session>.jsonl`, with
 * subagents and long outputs in a directory of the session's name beside it.
 */
export function createJsonlStore(options: JsonlStoreOptions): SessionStore {
  return new JsonlStore(options);
}

class JsonlStore implements SessionStore {
  readonly #options: JsonlStoreOptions;
  readonly #projects: string;
  readonly #project: string;
  /** A session found in another project stays in that project's folder. */
  readonly #foundIn = new Map<string, string>();
  readonly #writers = new Map<string, TranscriptWriter>();

  constructor(options: JsonlStoreOptions) {
    this.#options = options;
    this.#projects = join(options.configDir, 'projects');
    this.#project = projectName(options);
  }

  append(sessionId: string, lines: readonly NewLine[], agentId?: string): number {
    const path = this.transcriptPath(sessionId, agentId);
    const texts = lines.map((line) => serialiseLine(line, (json) => this.#spill(sessionId, json)));
    this.#writer(path).append(sessionId, texts);
    const facts = agentId === undefined ? undefined : lines.map(agentFacts).find(Boolean);
    if (facts !== undefined) this.#describe(path, facts);
    return texts.reduce((grown, text) => grown + text.length + 1, 0);
  }

  async read(sessionId: string, agentId?: string): Promise<LoadedSession | undefined> {
    this.#locate(sessionId);
    const reader = new SessionReader();
    const exists = await readLines(this.transcriptPath(sessionId, agentId), (line) =>
      reader.add(line === undefined ? { kind: 'damaged' } : parseLine(line)),
    );
    return exists ? reader.session(sessionId) : undefined;
  }

  async payload(sessionId: string, toolUseResult: unknown): Promise<unknown> {
    const ref = asPayloadRef(toolUseResult);
    if (ref === undefined) return toolUseResult;
    const path = join(this.#directory(sessionId), ref.$ref);
    const text = stateFiles.read(path);
    if (text === undefined) throw payloadLost(path, 'is gone');
    if (sha256(text) !== ref.sha256) throw payloadLost(path, 'was changed');
    const parsed = parseJson(text);
    if (!parsed.ok) throw payloadLost(path, `cannot be read: ${parsed.error}`);
    return parsed.value;
  }

  async agents(sessionId: string): Promise<readonly string[]> {
    this.#locate(sessionId);
    return agentsIn(this.#directory(sessionId));
  }

  async newest(): Promise<string | undefined> {
    return newestSession({
      directory: join(this.#projects, this.#project),
      cwd: this.#options.projectDirName === undefined ? this.#options.cwd : undefined,
    });
  }

  async find(idOrTitle: string): Promise<string | undefined> {
    if (isSafeId(idOrTitle) && this.#locate(idOrTitle)) return idOrTitle;
    return findByTitle(join(this.#projects, this.#project), idOrTitle);
  }

  transcriptPath(sessionId: string, agentId?: string): string {
    return transcriptIn(this.#directory(sessionId), agentId);
  }

  release(sessionId: string, agentId: string): void {
    const path = this.transcriptPath(sessionId, agentId);
    // A writer with unsaved lines is kept, to try again when the store closes.
    if (this.#writers.get(path)?.close() === 0) this.#writers.delete(path);
  }

  spillDirectory(sessionId: string): string {
    const directory = join(this.#directory(sessionId), PAYLOAD_DIRECTORY);
    makePrivateDirectory(directory);
    return directory;
  }

  close(): number {
    let unsaved = 0;
    for (const writer of this.#writers.values()) unsaved += writer.close();
    return unsaved;
  }

  /** Finds the session in this project or, if its id is unique, in another one. */
  #locate(sessionId: string): boolean {
    if (modifiedAt(this.transcriptPath(sessionId)) !== undefined) return true;
    const project = projectHolding(this.#projects, { sessionId });
    if (project !== undefined) this.#foundIn.set(sessionId, project);
    return project !== undefined;
  }

  #directory(sessionId: string): string {
    const project = this.#foundIn.get(sessionId) ?? this.#project;
    return join(this.#projects, project, requireSafeId(sessionId, 'session'));
  }

  /** Writes the agent's metadata beside its transcript, for other programs. */
  #describe(path: string, facts: Readonly<Record<string, unknown>>): void {
    try {
      const text = JSON.stringify(redactSureDeep(facts));
      stateFiles.write(path.replace(/\.jsonl$/, '.meta.json'), text);
    } catch {
      // Ignored: the transcript holds the same facts.
    }
  }

  #writer(path: string): TranscriptWriter {
    const known = this.#writers.get(path);
    if (known !== undefined) return known;
    const { openLog: open = createAppendLog } = this.#options;
    const writer = new TranscriptWriter(open(path), this.#options);
    this.#writers.set(path, writer);
    return writer;
  }

  #spill(sessionId: string, json: string): PayloadRef | undefined {
    const digest = sha256(json);
    const ref = { $ref: payloadFile(digest), bytes: Buffer.byteLength(json), sha256: digest };
    try {
      stateFiles.writeOnce(join(this.#directory(sessionId), ref.$ref), json);
      return ref;
    } catch {
      // The payload then stays in the line, whose own failure is reported and retried.
      return undefined;
    }
  }
}

/** fail-closed: the configured name becomes part of a path, so separators are refused. */
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

/** Writes one file's lines in order; lines that failed to save go first in the next append. */
class TranscriptWriter {
  readonly #log: AppendLog;
  readonly #options: Pick<JsonlStoreOptions, 'onLost' | 'onRecovered'>;
  #unsaved: readonly string[] = [];
  #reported = false;

  constructor(log: AppendLog, options: JsonlStoreOptions) {
    this.#log = log;
    this.#options = options;
  }

  append(sessionId: string, lines: readonly string[]): void {
    const all = this.#unsaved.length === 0 ? lines : [...this.#unsaved, ...lines];
    try {
      this.#log.append(all);
      this.#unsaved = [];
    } catch (thrown) {
      if (!(thrown instanceof AppendError)) throw thrown;
      this.#unsaved = all.slice(thrown.savedLines);
      this.#report(sessionId, thrown);
      return;
    }
    if (this.#reported) this.#options.onRecovered?.(this.#log.path);
    this.#reported = false;
  }

  close(): number {
    if (this.#unsaved.length > 0) this.append('', []);
    this.#log.close();
    return this.#unsaved.length;
  }

  #report(sessionId: string, failure: AppendError): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#options.onLost?.({
      sessionId,
      path: this.#log.path,
      lines: this.#unsaved.length,
      message: failure.message,
      remedy: failure.remedy,
    });
  }
}
