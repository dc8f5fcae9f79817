import { openInboxOf } from '../app.js';
import type { Envelope } from '../client/events.js';
import type { AnyAnswer } from '../client/questions.js';
import type { AgentView } from '../client/session-client.js';
import { messageOf, PortcullisError } from '../errors.js';
import { stateDirectory } from '../platform/fs/paths.js';
import { type InboxRow, inboxRow, storedRow } from './inbox-rows.js';
import { type LiveSession, listLive, liveDirectory } from './live-files.js';
import { sessionTitle } from './past-sessions.js';
import { type BoundQuestion, RemoteSession, type RemoteSnapshot } from './remote-session.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A session that runs now, as lists show it. */
export interface LiveRow {
  readonly key: string;
  readonly sessionId: string;
  readonly kind: LiveSession['kind'];
  readonly pid: number;
  readonly cwd: string;
  readonly title: string;
  readonly state: 'needs you' | 'working' | 'idle' | 'opening' | 'unreachable';
  readonly startedAt: string;
  readonly model: string;
  readonly mode: string;
  readonly models: readonly { readonly value: string; readonly displayName: string }[];
  readonly costUsd: number;
  readonly unknownModels: readonly string[];
  readonly contextTokens?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly agents: readonly AgentView[];
  readonly tasks: RemoteSnapshot['tasks'];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  /** Why it could not be joined. */
  readonly problem?: string | undefined;
}

export interface Overview {
  readonly sessions: readonly LiveRow[];
  readonly inbox: readonly InboxRow[];
}

const SCAN_MS = 500;
const SETTLE_MS = 60;
/** A session whose socket refused or failed is tried again after this time. */
const RETRY_MS = 5_000;

/** Joins every session of this user on this machine and follows what it asks. */
export class SessionHub {
  readonly #env: Environment;
  readonly #only: string | undefined;
  readonly #joined = new Map<string, JoinedSession>();
  readonly #listeners = new Set<(overview: Overview) => void>();
  readonly #timer: ReturnType<typeof setInterval>;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #stored = '';

  /** `only`: the beginning of the id of the one session that is shown. */
  constructor(env: Environment, only?: string) {
    this.#env = env;
    this.#only = only;
    this.#timer = setInterval(() => this.#scan(), SCAN_MS);
    this.#scan();
  }

  overview(): Overview {
    const sessions = [...this.#joined.values()];
    const asked = sessions.flatMap((one) => one.inbox());
    const known = new Set(asked.map(({ id }) => id));
    // Background agents of sessions that cannot be joined ask in files.
    const stored = this.#only === undefined ? openInboxOf(this.#env).list() : [];
    const rows = stored.filter(({ id }) => !known.has(id)).map(storedRow);
    const inbox = [...asked, ...rows].sort((a, b) => (a.askedAt < b.askedAt ? -1 : 1));
    return { sessions: sessions.map((one) => one.row()), inbox };
  }

  /** Calls the listener now and after every change. Returns the end of it. */
  subscribe(listener: (overview: Overview) => void): () => void {
    this.#listeners.add(listener);
    listener(this.overview());
    return () => void this.#listeners.delete(listener);
  }

  /** The session of a key. Throws where it is gone. */
  session(key: string): RemoteSession {
    const remote = this.#joined.get(key)?.remote;
    if (remote !== undefined) return remote;
    throw new PortcullisError('session', 'this session does not run any more');
  }

  row(key: string): LiveRow | undefined {
    return this.#joined.get(key)?.row();
  }

  /** Answers a question for a person. `closed`: it is over, and somebody else may have answered it. */
  async answer(
    key: string,
    given: { readonly question: string; readonly hash: string; readonly answer: AnyAnswer },
    person: string,
  ): Promise<'accepted' | 'closed'> {
    if (key !== '') return await this.session(key).answer({ ...given, person });
    const inbox = openInboxOf(this.#env);
    const asked = inbox.list().find(({ id }) => id === given.question);
    if (asked === undefined) return 'closed';
    // fail-closed: an answer to what was shown is no answer to anything else.
    if (asked.callHash !== given.hash) {
      throw new PortcullisError('usage', 'the question has changed since it was shown');
    }
    const { behavior, message, scope } = given.answer as Readonly<Record<string, unknown>>;
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
    clearInterval(this.#timer);
    clearTimeout(this.#settling);
    for (const one of this.#joined.values()) one.close();
  }

  #scan(): void {
    const all = listLive(stateDirectory(this.#env));
    const only = this.#only;
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

  /** Tells the listeners once for all that happens within a moment. */
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

/** Events after which what lists show of a session may be different. */
const CHANGES: ReadonlySet<string> = new Set([
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
]);

/** One session and what is known of it. */
class JoinedSession {
  remote: RemoteSession | undefined;
  #live: LiveSession;
  readonly #env: Environment;
  readonly #onChange: () => void;
  readonly #questions = new Map<string, BoundQuestion>();
  /** What was asked and answered since the last snapshot was taken. */
  #recent: { readonly envelope: Envelope; readonly hash: string | undefined }[] = [];
  #snapshot: RemoteSnapshot | undefined;
  #title = '';
  #problem: string | undefined;
  #triedAt = 0;
  #refreshing = false;
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
  }

  inbox(): readonly InboxRow[] {
    return [...this.#questions.values()].map((bound) =>
      inboxRow(bound, { key: this.#live.key, title: this.#title, sessionId: this.#live.sessionId }),
    );
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
      costUsd: usage?.costUsd ?? 0,
      unknownModels: usage?.unknownModels ?? [],
      contextTokens: usage?.contextTokens,
      contextWindow: usage?.contextWindow,
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
    if (this.#questions.size > 0) return 'needs you';
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
        this.#questions.clear();
        this.#onChange();
      });
      await this.#refresh();
      const after = this.#snapshot?.seq ?? 0;
      await remote.subscribe((envelope, hash) => this.#follow(envelope, hash), {
        after,
        deltas: false,
        types: ['question', 'question_closed', ...CHANGES],
      });
    } catch (thrown) {
      // Shown in the list, and tried again later.
      this.#problem = messageOf(thrown);
    }
    this.#onChange();
  }

  #follow(envelope: Envelope, hash: string | undefined): void {
    const { event } = envelope;
    if (event.type === 'question' || event.type === 'question_closed') {
      this.#recent.push({ envelope, hash });
      this.#take(envelope, hash);
      this.#onChange();
    }
    if (CHANGES.has(event.type)) void this.#refresh();
  }

  #take({ event }: Envelope, hash: string | undefined): void {
    if (event.type === 'question' && hash !== undefined) {
      this.#questions.set(event.question.id, { question: event.question, hash });
    } else if (event.type === 'question_closed') this.#questions.delete(event.id);
  }

  /** Takes a new snapshot; changes meanwhile are in the next one. */
  async #refresh(): Promise<void> {
    this.#isStale = true;
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      while (this.#isStale && this.remote !== undefined) {
        this.#isStale = false;
        const snapshot = await this.remote.snapshot();
        this.#snapshot = snapshot;
        this.#questions.clear();
        for (const bound of snapshot.questions) this.#questions.set(bound.question.id, bound);
        this.#recent = this.#recent.filter(({ envelope }) => envelope.seq > snapshot.seq);
        for (const { envelope, hash } of this.#recent) this.#take(envelope, hash);
        this.#title = await sessionTitle(this.#env, this.row());
        this.#onChange();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
    } catch {
      // The session is gone; the end of its connection says so.
    } finally {
      this.#refreshing = false;
    }
  }
}
