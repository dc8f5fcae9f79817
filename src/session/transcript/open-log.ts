import type { Clock } from '../../platform/clock.js';
import { join } from '../../platform/fs/paths.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { VERSION } from '../../version.js';
import { type History, openHistory, type SessionStart } from '../open.js';
import { factsOf, Recorder } from '../recorder.js';
import type { ResumeOptions } from '../resume.js';
import { createJsonlStore } from './jsonl-store.js';
import { createMemoryStore } from './memory-store.js';
import { mirrored } from './mirror.js';
import type { SessionStore } from './store.js';

export interface SessionLogOptions {
  readonly persist: boolean;
  readonly configDir: string;
  /** The project's directory. */
  readonly cwd: string;
  readonly temporaryDirectory: string;
  readonly projectDirName: string | undefined;
  readonly start: SessionStart;
  readonly fork: boolean;
  readonly title?: string | undefined;
  readonly entrypoint: string;
  readonly gitBranch: string | undefined;
  readonly workspace: { readonly cwd: string };
  readonly clock: Clock;
  /** Sends every line to the host, which keeps a copy. */
  readonly mirror?: boolean;
  /** Set when another worker may have left calls without a result. */
  readonly drive?: Required<Pick<ResumeOptions, 'runsAgain'>> | undefined;
  /** Replaces files. */
  readonly store?: SessionStore | undefined;
  emit(news: SessionNews): void;
}

export interface SessionLog {
  readonly store: SessionStore;
  readonly history: History;
  readonly recorder: Recorder;
}

/** Opens the transcript of a session: its history and the recorder that continues it. */
export async function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  const { clock, workspace, gitBranch } = options;
  const own = options.store ?? openStore(options);
  const store = options.mirror === true ? mirrored(own, options.emit) : own;
  const history = await openHistory(store, options.start, {
    fork: options.fork,
    clock,
    runsAgain: options.drive?.runsAgain,
  });
  const { damagedLines = 0, forkedFrom = history.sessionId } = history;
  if (damagedLines > 0) {
    const text = `${store.transcriptPath(forkedFrom)} has damaged lines, which are missing from the conversation: ${damagedLines}`;
    options.emit({ type: 'notice', level: 'warning', text });
  }
  const recorder = new Recorder({
    store,
    sessionId: history.sessionId,
    clock,
    cwd: () => workspace.cwd,
    version: VERSION,
    entrypoint: options.entrypoint,
    parentUuid: history.parentUuid,
    usedUuids: history.usedUuids,
    gitBranch,
    ...factsOf(history),
  });
  for (const { call, result } of history.missingResults) recorder.result(call, result);
  if (options.title !== undefined) recorder.title(options.title);
  return { store, history, recorder };
}

/** A store in files with the ecosystem's layout, or in memory only. */
function openStore(options: SessionLogOptions): SessionStore {
  const { configDir, cwd, projectDirName, emit } = options;
  if (!options.persist) {
    // A random name, which no other process can have prepared.
    const directory = join(options.temporaryDirectory, `portcullis-${options.clock.uuid()}`);
    return createMemoryStore({ directory });
  }
  return createJsonlStore({
    configDir,
    cwd,
    projectDirName,
    onLost: ({ message, lines }) => emit({ type: 'writes_lost', code: message, lost: lines }),
    onRecovered: (file) =>
      emit({ type: 'notice', level: 'info', text: `${file} is written again; nothing was lost` }),
  });
}
