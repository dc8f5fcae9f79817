import { openInboxOf } from '../app.js';
import type { AnyAnswer } from '../client/questions.js';
import { messageOf, PortcullisError } from '../errors.js';
import { stateDirectory } from '../platform/fs/paths.js';
import type { FleetSessions } from './fleet-sessions.js';
import { type LiveSession, listLive, liveDirectory } from './live-files.js';
import { sessionTitle } from './past-sessions.js';
import type { Environment } from './project.js';
import { type ConsoleSession, RemoteSession, type RemoteSnapshot } from './remote-session.js';
import { type InboxRow, inboxRow, type LiveRow, storedRow } from './rows.js';

export interface Overview {
  readonly sessions: readonly LiveRow[];
  readonly inbox: readonly InboxRow[];
  /** Why sessions of the fleet may be missing or out of date. */
  readonly problem?: string | undefined;
}

const SCAN_MS = 500;
const SETTLE_MS = 60;
/** A session whose socket refused or failed is tried again after this time. */
const RETRY_MS = 5_000;
/** The greatest age of the snapshot of a working session. */
const RUNNING_MS = 2_000;

/** Joins every session of this user on this machine and follows its state and questions. */
export class SessionHub {
  readonly #env: Environment;
  /** The beginning of the id of the one session that is shown. */
  readonly only: string | undefined;
  /** Undefined: no fleet is configured, and nothing of it is loaded. */
  fleet: FleetSessions | undefined;
  readonly #joined = new Map<string, JoinedSession>();
  readonly #listeners = new Set<(overview: Overview) => void>();
  readonly #timer: ReturnType<typeof setInterval>;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #stored = '';
  #isClosed = false;

  constructor(env: Environment, only?: string) {
    this.#env = env;
    this.only = only;
    if (env.PORTCULLIS_FLEET) void this.#followFleet();
    this.#timer = setInterval(() => this.#scan(), SCAN_MS);
    this.#scan();
  }

  overview(): Overview {
    const sessions = [...this.#joined.values()];
    const { fleet } = this;
    const asked = [...sessions.flatMap((one) => one.inbox()), ...(fleet?.inbox() ?? [])];
    const known = new Set(asked.map(({ id }) => id));
    // Sessions that cannot be joined store the questions of their background agents in files.
    const stored = this.only === undefined ? openInboxOf(this.#env).list() : [];
    const rows = stored.filter(({ id }) => !known.has(id)).map(storedRow);
    const inbox = [...asked, ...rows].sort((a, b) =>
      a.question.askedAt < b.question.askedAt ? -1 : 1,
    );
    const live = [...sessions.map((one) => one.row()), ...(fleet?.rows() ?? [])];
    return { sessions: live, inbox, problem: fleet?.problem };
  }

  /** Calls the listener now and after every change. Returns a function that ends this. */
  subscribe(listener: (overview: Overview) => void): () => void {
    this.#listeners.add(listener);
    listener(this.overview());
    return () => void this.#listeners.delete(listener);
  }

  /** The session of a key. Rejects where it has ended. */
  async session(key: string): Promise<ConsoleSession> {
    const found = this.#joined.get(key)?.remote ?? (await this.fleet?.session(key));
    if (found !== undefined) return found;
    throw new PortcullisError('session', 'this session no longer runs');
  }

  /** Answers a question for a person. `closed`: it is over, or another answer came first. */
  async answer(
    key: string,
    given: { readonly question: string; readonly hash: string; readonly answer: AnyAnswer },
    person: string,
  ): Promise<'accepted' | 'closed'> {
    const { question, answer, hash } = given;
    if (key !== '')
      return await (await this.session(key)).answer(question, answer, { hash, person });
    const inbox = openInboxOf(this.#env);
    const asked = inbox.list().find(({ id }) => id === question);
    if (asked === undefined) return 'closed';
    // fail-closed: an answer holds only for the call that was shown.
    if (asked.callHash !== hash) {
      throw new PortcullisError('usage', 'the question has changed since it was shown');
    }
    const { behavior, message, scope } = answer as Readonly<Record<string, unknown>>;
    const answered = inbox.answer(asked.id, {
      behavior: behavior === 'allow' ? 'allow' : 'deny',
      scope: scope === undefined ? 'once' : 'session',
      message: typeof message === 'string' ? message : undefined,
      person,
    });
    if (!answered.ok) throw new PortcullisError('session', answered.error);
    this.#changed();
    return 'accepted';
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#settling);
    this.fleet?.close();
    for (const one of this.#joined.values()) one.close();
  }

  async #followFleet(): Promise<void> {
    const { FleetSessions } = await import('./fleet-sessions.js');
    const onChange = (): void => this.#changed();
    this.fleet = new FleetSessions(this.#env, { name: 'console', only: this.only, onChange });
    if (this.#isClosed) this.fleet.close();
  }

  #scan(): void {
    const all = listLive(stateDirectory(this.#env));
    const only = this.only;
    const wanted = all.filter(({ sessionId }) => only === undefined || sessionId.startsWith(only));
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, joined] of this.#joined) {
      if (keys.has(key)) continue;
      joined.close();
      this.#joined.delete(key);
      this.#changed();
    }
    for (const live of wanted) {
      const joined = this.#joined.get(live.key);
      if (joined !== undefined) joined.update(live);
      else {
        this.#joined.set(live.key, new JoinedSession(live, this.#env, () => this.#changed()));
        this.#changed();
      }
    }
    const stored = openInboxOf(this.#env)
      .list()
      .map(({ id }) => id)
      .join();
    if (stored !== this.#stored) this.#changed();
    this.#stored = stored;
  }

  /** Notifies the listeners once for all changes within a moment. */
  #changed(): void {
    if (this.#settling !== undefined) return;
    this.#settling = setTimeout(() => {
      this.#settling = undefined;
      if (this.#listeners.size === 0) return;
      const overview = this.overview();
      for (const listener of this.#listeners) listener(overview);
    }, SETTLE_MS);
  }
}

/** Events after which lists and the inbox may show a session differently. */
const CHANGES: readonly string[] = [
  'question',
  'question_closed',
  'opened',
  'state',
  'mode',
  'prompt',
  'turn_finished',
  'task_started',
  'task_progress',
  'task_finished',
  'background_tasks',
  'command_output',
  'compacted',
];

/** A session of this machine and its newest snapshot. */
class JoinedSession {
  remote: RemoteSession | undefined;
  #live: LiveSession;
  readonly #env: Environment;
  readonly #onChange: () => void;
  #snapshot: RemoteSnapshot | undefined;
  #title = '';
  #problem: string | undefined;
  #triedAt = 0;
  #refreshedAt = 0;
  #isRefreshing = false;
  #isStale = false;
  #isClosed = false;

  constructor(live: LiveSession, env: Environment, onChange: () => void) {
    this.#live = live;
    this.#env = env;
    this.#onChange = onChange;
    void this.#join();
  }

  update(live: LiveSession): void {
    this.#live = live;
    if (this.remote === undefined && Date.now() - this.#triedAt > RETRY_MS) void this.#join();
    // Spent and reserved amounts change in the middle of a turn, without an event.
    const isOld = Date.now() - this.#refreshedAt > RUNNING_MS;
    if (this.#snapshot?.state === 'running' && isOld) void this.#refresh();
  }

  inbox(): readonly InboxRow[] {
    const { key, sessionId } = this.#live;
    const questions = this.#snapshot?.questions ?? [];
    return questions.map((bound) => inboxRow(bound, { key, title: this.#title, sessionId }));
  }

  row(): LiveRow {
    const { key, kind, by, startedAt } = this.#live;
    const { info, usage, agents = [], tasks = [] } = this.#snapshot ?? {};
    return {
      key,
      sessionId: info?.sessionId ?? this.#live.sessionId,
      kind,
      pid: by.pid,
      cwd: info?.cwd ?? this.#live.cwd,
      title: this.#title,
      state: this.#state(),
      startedAt,
      model: info?.model ?? '',
      mode: info?.mode ?? '',
      models: (info?.models ?? []).map(({ value, displayName }) => ({ value, displayName })),
      costUsd: 0,
      unknownModels: [],
      ...usage,
      agents,
      tasks,
      servers: (info?.mcpServers ?? []).map(({ name, status }) => ({ name, status })),
      problem: this.#problem,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.remote?.close();
  }

  #state(): LiveRow['state'] {
    if (this.#problem !== undefined) return 'unreachable';
    if ((this.#snapshot?.questions.length ?? 0) > 0) return 'needs you';
    switch (this.#snapshot?.state) {
      case 'running':
      case 'requires_action':
        return 'working';
      case 'idle':
        return 'idle';
      default:
        return 'opening';
    }
  }

  async #join(): Promise<void> {
    this.#triedAt = Date.now();
    try {
      const directory = liveDirectory(stateDirectory(this.#env));
      const remote = await RemoteSession.connect(this.#live, directory);
      if (this.#isClosed) {
        remote.close();
        return;
      }
      this.remote = remote;
      this.#problem = undefined;
      void remote.closed.then(() => {
        if (this.remote !== remote) return;
        this.remote = undefined;
        this.#snapshot = undefined;
        this.#onChange();
      });
      await this.#refresh();
      const after = this.#snapshot?.seq ?? 0;
      const options = { after, deltas: false, types: CHANGES };
      await remote.subscribe(() => void this.#refresh(), options);
    } catch (thrown) {
      // The list shows the problem; the next attempt follows after RETRY_MS.
      this.#problem = messageOf(thrown);
    }
    this.#onChange();
  }

  /** Takes a new snapshot, and another one where the session changed meanwhile. */
  async #refresh(): Promise<void> {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      while (this.#isStale && this.remote !== undefined) {
        this.#isStale = false;
        this.#snapshot = await this.remote.snapshot();
        this.#refreshedAt = Date.now();
        this.#title = await sessionTitle(this.#env, this.row());
        this.#onChange();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
    } catch {
      // The session has ended; `closed` of its connection resolves.
    } finally {
      this.#isRefreshing = false;
    }
  }
}
