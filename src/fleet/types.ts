import type { AnyAnswer, Question } from '../client/questions.js';

/**
 * `ready`: has work and waits for a worker. `parked`: waits for an answer and holds no slot. `idle`: nothing to do.
 * `stopped`: a turn failed or a limit was reached; the next message starts it again.
 */
export type SessionPhase = 'ready' | 'running' | 'parked' | 'idle' | 'stopped' | 'cancelled';

/** What is asked of the fleet. JSON; never changes after it was submitted. */
export interface SessionOrder {
  readonly id: string;
  readonly tenant: string;
  readonly title?: string | undefined;
  /** Address of a git repository; absent: an empty workspace. */
  readonly repository?: string | undefined;
  /** The branch, tag or commit that the work starts from; absent: the repository's HEAD. */
  readonly base?: string | undefined;
  /** Session options as `readSessionOptions` takes them: model, mode, rules, settings, limits. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly budgetUsd?: number | undefined;
  /** Larger numbers first. */
  readonly priority: number;
  /** A worker needs all of them. */
  readonly labels: readonly string[];
  /** Calls that may run twice with one key: tool names, and `Bash(<prefix>)`. */
  readonly idempotent: readonly string[];
  /** The drive is refused where the policy of the worker is not that of the first drive. */
  readonly pinPolicy: boolean;
  /** How long a question stays open. */
  readonly askHours: number;
  readonly submittedAt: string;
}

export interface Mail {
  /** A UUID: the prompt has the same id in the transcript, so it is delivered once. */
  readonly id: string;
  /** A second message with this key is the same message. */
  readonly key: string;
  readonly from: string;
  readonly text: string;
  /** `next`: joins the running turn. `later`: is a turn of its own. */
  readonly when: 'next' | 'later';
}

export interface FleetSession {
  readonly order: SessionOrder;
  readonly phase: SessionPhase;
  /** Why it waits or stopped; empty: nothing to say. */
  readonly reason: string;
  /** Grows with every claim and every takeover. Writes with an older one are refused. */
  readonly epoch: number;
  readonly owner: string;
  readonly turns: number;
  /** A prompt was delivered whose turn has not ended. */
  readonly turnOpen: boolean;
  readonly snapshot?: Snapshot | undefined;
  readonly policyDigest: string;
  readonly spentUsd: number;
  readonly updatedAt: string;
}

/** A commit with the files of a session after a turn. */
export interface Snapshot {
  readonly turn: number;
  readonly commit: string;
  readonly tree: string;
  /** The commit that the workspace had checked out. */
  readonly head: string;
}

/** The right to drive a session, and what the drive starts from. */
export interface Claim {
  readonly session: FleetSession;
  readonly worker: string;
  readonly epoch: number;
}

/** What the drive before left behind. */
export interface SessionRecord {
  readonly entries: readonly StoredEntry[];
  readonly lastReceipt: string | undefined;
  readonly intents: readonly Intent[];
}

export interface StoredEntry {
  readonly seq: number;
  readonly epoch: number;
  /** Empty: the main agent. */
  readonly agent: string;
  /** One line of the transcript, JSON. */
  readonly line: string;
}

/** What a second run of a call does. */
export type EffectClass = 'read' | 'idempotent' | 'unsafe';

/** A call that was about to run. */
export interface Intent {
  /** Unique in the fleet; the call finds it as `PORTCULLIS_CALL_ID`. */
  readonly key: string;
  readonly callId: string;
  readonly agent: string;
  readonly tool: string;
  readonly inputHash: string;
  readonly effect: EffectClass;
  /** Its result is in the transcript. */
  readonly ended: boolean;
}

/** A question that waits for a person. */
export interface Ask {
  readonly id: string;
  readonly session: string;
  readonly callHash: string;
  readonly policyDigest: string;
  readonly question: Question;
  readonly askedAt: string;
  readonly expiresAt: string;
}

export interface OpenAsk extends Ask {
  readonly tenant: string;
  readonly title: string;
}

export interface GivenAnswer {
  readonly by: string;
  readonly answer: AnyAnswer;
  readonly at: string;
}

/** Everything that a drive writes at once: all of it, or nothing where the epoch is stale. */
export interface Batch {
  /** Counts the batches of an epoch: one that arrives twice is written once. */
  readonly number: number;
  readonly entries: readonly Pick<StoredEntry, 'agent' | 'line'>[];
  /** Lines of the journal. */
  readonly receipts: readonly string[];
  readonly intents: readonly Intent[];
  /** Keys of intents whose result is among the entries. */
  readonly ended: readonly string[];
  /** Ids of mail that is in the transcript now. */
  readonly delivered: readonly string[];
  readonly asks: readonly Ask[];
  /** Live events for attached clients, JSON. */
  readonly events: readonly string[];
  readonly patch: SessionPatch;
}

export interface SessionPatch {
  readonly turns?: number;
  readonly turnOpen?: boolean;
  readonly snapshot?: Snapshot;
  readonly policyDigest?: string;
  readonly spentUsd?: number;
  readonly reason?: string;
  /** Open questions do not count any more: their turn is over. */
  readonly closeAsks?: boolean;
  /** The drive ends: the slot is free, and so is what was reserved of the budget. */
  readonly release?: 'idle' | 'parked' | 'stopped' | 'ready';
}

export interface CommitReply {
  /** Clients follow the session: its events are stored. */
  readonly watched: boolean;
  readonly cancelled: boolean;
}

export interface WorkerInfo {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly labels: readonly string[];
  readonly slots: number;
  /** Absent: it works for all tenants. */
  readonly tenant?: string | undefined;
  readonly draining: boolean;
}

export interface WorkerRow extends WorkerInfo {
  readonly running: number;
  readonly beatAgoMs: number;
  /** It missed its deadline; its sessions were given to others. */
  readonly lost: boolean;
}

export interface BeatReply {
  /** Others have taken the sessions of this worker: it must end. */
  readonly lost: boolean;
  /** Names of rate limits that are set, such as `model:*`. */
  readonly rates: readonly string[];
}

export interface TenantLimits {
  /** Drives at the same time; absent: no limit. */
  readonly concurrency?: number | undefined;
  /** Drives that start within a minute. */
  readonly ratePerMinute?: number | undefined;
  readonly budgetUsd?: number | undefined;
  /** Taken from the budget before a drive starts. */
  readonly reserveUsd?: number | undefined;
}

export interface TenantRow extends TenantLimits {
  readonly name: string;
  readonly running: number;
  readonly ready: number;
  readonly spentUsd: number;
}

export interface Schedule {
  readonly name: string;
  /** Five fields, UTC. */
  readonly cron: string;
  readonly prompt: string;
  readonly order: Omit<SessionOrder, 'id' | 'submittedAt'>;
  readonly enabled: boolean;
  /** The last minute that it ran for, ISO. */
  readonly lastRun: string;
}

export interface SessionFilter {
  readonly tenant?: string | undefined;
  readonly phase?: SessionPhase | undefined;
  readonly limit?: number | undefined;
}

/** A write with an epoch that is not the session's any more. */
export class StaleEpochError extends Error {
  constructor(session: string, epoch: number) {
    super(`session ${session} is not driven by epoch ${epoch} any more`);
    this.name = 'StaleEpochError';
  }
}

/** Sessions that any worker can drive. Two drivers: files of one machine, and PostgreSQL. */
export interface Fleet {
  readonly driver: 'local' | 'postgres';

  submit(order: SessionOrder, mail: readonly Mail[]): Promise<void>;
  /** False: there is no such session, or it was cancelled. */
  send(session: string, mail: Mail): Promise<boolean>;
  /** False: it is over already. */
  cancel(session: string): Promise<boolean>;
  show(session: string): Promise<FleetSession | undefined>;
  list(filter?: SessionFilter): Promise<readonly FleetSession[]>;
  /** Transcript lines after a number, all agents. */
  entries(session: string, after?: number): Promise<readonly StoredEntry[]>;
  receipts(session: string): Promise<readonly string[]>;
  intents(session: string): Promise<readonly Intent[]>;
  asks(session?: string): Promise<readonly OpenAsk[]>;
  /** The first answer counts. `closed`: answered, expired, or its turn is over. */
  answer(ask: string, answer: GivenAnswer): Promise<'accepted' | 'closed'>;
  /** Has events stored for the next half minute, and gives those after a number. */
  watch(session: string, after: number): Promise<readonly { seq: number; event: string }[]>;
  workers(): Promise<readonly WorkerRow[]>;
  tenants(): Promise<readonly TenantRow[]>;
  setTenant(name: string, limits: TenantLimits): Promise<void>;
  /** Null takes the limit away. */
  setRate(name: string, perMinute: number | null): Promise<void>;
  schedules(): Promise<readonly Schedule[]>;
  putSchedule(schedule: Schedule): Promise<void>;
  removeSchedule(name: string): Promise<boolean>;

  /** Announces a worker, and says that it lives. */
  beat(worker: WorkerInfo): Promise<BeatReply>;
  leave(worker: string): Promise<void>;
  claim(worker: WorkerInfo): Promise<Claim | undefined>;
  read(claim: Claim): Promise<SessionRecord>;
  /** Mail that is not in the transcript yet, oldest first. */
  mail(session: string): Promise<readonly Mail[]>;
  /** Answers to questions of a session; those without an answer in time are `expired`. */
  answers(
    session: string,
    asks: readonly string[],
  ): Promise<ReadonlyMap<string, GivenAnswer | 'expired'>>;
  /** Throws `StaleEpochError` where another worker has the session. */
  commit(claim: Claim, batch: Batch): Promise<CommitReply>;
  /** Gives sessions of dead workers to others, and wakes parked ones whose question expired. */
  reap(deadlineMs: number): Promise<readonly string[]>;
  /** Takes one token; the milliseconds to wait before it may be used. */
  takeToken(rate: string): Promise<number>;
  /** True for the one caller that runs a schedule for this minute. */
  takeRun(schedule: string, minute: string): Promise<boolean>;
  /** Removes sessions that ended before this time, with all that belongs to them. */
  prune(before: string): Promise<number>;

  /** Resolves when something may have changed about a session (absent: about what is ready), or after the time. */
  wait(ms: number, signal?: AbortSignal, session?: string): Promise<void>;
  /** Rejects where the fleet cannot be reached. */
  check(): Promise<void>;
  close(): Promise<void>;
}
