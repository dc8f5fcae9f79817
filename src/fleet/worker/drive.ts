import { setTimeout } from 'node:timers/promises';
import { type AgentSession, openSession, systemClock } from '../../app.js';
import type { SessionEvent, TurnResult } from '../../client/events.js';
import { connectClient, type LocalClient } from '../../client/local-client.js';
import { TurnRunner } from '../../client/turn-runner.js';
import { messageOf, PortcullisError } from '../../errors.js';
import type { Claim, Fleet, FleetSession, Mail, SessionRecord, Snapshot } from '../types.js';
import type { Logger } from './metrics.js';
import { OpenQuestions } from './open-questions.js';
import { digestOf, sessionConfig, takeoverNote } from './session-config.js';
import { SessionWriter } from './session-writer.js';
import type { Workspace, Workspaces } from './workspace.js';

const WORKSPACE_ATTEMPTS = 5;
const WORKSPACE_PAUSE_MS = 500;

export interface DriveSettings {
  /** How long a question keeps its slot before the session is parked. */
  readonly graceMs: number;
  /** Turns after which others get the slot. */
  readonly maxTurns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DriveParts {
  readonly fleet: Fleet;
  readonly claim: Claim;
  readonly workspaces: Workspaces;
  readonly settings: DriveSettings;
  readonly log: Logger;
  /** Names of rates that are set. */
  rates(): readonly string[];
  /** Aborts when the worker ends: the session is handed over between two turns. */
  readonly leaving: AbortSignal;
  /** Aborts when it can wait no longer: the session is handed over in the middle of a turn. */
  readonly hurry: AbortSignal;
}

/** Why a drive ended. `lost`: another worker has the session, and nothing more is written. */
export type DriveEnd =
  | { readonly kind: 'idle' | 'parked' | 'stopped' | 'ready'; readonly reason: string }
  | { readonly kind: 'lost' };

const POLL_MS = 2_000;
const WATCHED_MS = 300;
const TOUCH_MS = 5_000;

/**
 * One drive of a session: provision, run turns until there is nothing to do, release. The steps are called in this
 * order; only the owner of the epoch can repeat one.
 */
export class Drive {
  readonly #parts: DriveParts;
  #session: FleetSession;
  #record: SessionRecord = { entries: [], lastReceipt: undefined, intents: [] };
  #workspace: Workspace | undefined;
  #writer: SessionWriter | undefined;
  #runner: TurnRunner | undefined;
  #open: AgentSession | undefined;
  #questions: OpenQuestions | undefined;
  #end: DriveEnd | undefined;
  #result: DriveEnd | undefined;
  #turns = 0;
  #isTurnOpen = false;
  /** A call with effects ran since the last snapshot. */
  #isDirty = false;
  #outdated: Snapshot | undefined;
  /** The work after the last turn: the next one waits for it. */
  #settled: Promise<void> = Promise.resolve();
  #isFinishing = false;
  #isClosed = false;
  #isWoken = false;
  #stopSleep: () => void = () => undefined;
  readonly #pushed = new Set<string>();

  constructor(parts: DriveParts) {
    this.#parts = parts;
    this.#session = parts.claim.session;
  }

  get id(): string {
    return `${this.#session.order.id}:${this.#parts.claim.epoch}`;
  }

  get turns(): number {
    return this.#turns;
  }

  /** Undefined: it has not ended. */
  get end(): DriveEnd | undefined {
    return this.#result;
  }

  async provision(): Promise<void> {
    const { fleet, claim, workspaces } = this.#parts;
    this.#record = await fleet.read(claim);
    for (let attempt = 1; this.#workspace === undefined && this.#end === undefined; attempt++) {
      try {
        this.#workspace = await workspaces.open(this.#session);
      } catch (thrown) {
        // The git of a worker that was killed may still work in the same clone for a moment.
        if (attempt < WORKSPACE_ATTEMPTS) await setTimeout(WORKSPACE_PAUSE_MS * attempt);
        else this.#end = { kind: 'stopped', reason: `no workspace: ${messageOf(thrown)}` };
      }
    }
  }

  async drive(): Promise<DriveEnd> {
    const writer = this.#openWriter();
    if (this.#end !== undefined || this.#workspace === undefined)
      return this.#end ?? { kind: 'lost' };
    const runner = this.#openRunner(writer, this.#workspace);
    this.#runner = runner;
    const client = connectClient(runner, { name: 'fleet', answers: OpenQuestions.kinds });
    this.#questions = new OpenQuestions({
      client,
      writer,
      fleet: this.#parts.fleet,
      session: this.#session,
      workspace: this.#workspace.directory,
      digest: () => this.#session.policyDigest,
      graceMs: this.#parts.settings.graceMs,
    });
    client.subscribe(({ event }) => this.#follow(event, writer), { deltas: false });
    const running = runner.run();
    const onClosed = (): void => {
      this.#isClosed = true;
      this.#wake();
    };
    running.then(onClosed, onClosed);
    try {
      await runner.open();
      this.#takeUp(runner);
      await this.#loop(runner, client, writer);
      await running;
      await this.#settled;
    } catch (thrown) {
      this.#end ??= { kind: 'stopped', reason: messageOf(thrown) };
      runner.stop();
      await running.catch(() => undefined);
    }
    if (writer.isLost) return { kind: 'lost' };
    return this.#end ?? { kind: 'idle', reason: '' };
  }

  async release(end: DriveEnd): Promise<void> {
    this.#result = end;
    const writer = this.#writer ?? this.#openWriter();
    if (end.kind === 'lost' || writer.isLost) return;
    await writer.flush({ release: end.kind, reason: end.reason });
    if (writer.isLost) {
      this.#result = { kind: 'lost' };
      return;
    }
    if (end.kind === 'parked') await this.#parts.workspaces.remove(this.#session);
    else this.#parts.workspaces.keep(this.#session);
  }

  #openWriter(): SessionWriter {
    const { fleet, claim, log } = this.#parts;
    const writer = new SessionWriter({
      fleet,
      claim,
      record: this.#record,
      saveFiles: () => this.#saveFiles(),
      onLost: (why) => {
        log('warning', 'session taken away', { session: this.id, why });
        this.#handOver({ kind: 'ready', reason: why === 'cancelled' ? 'cancelled' : '' });
      },
      onRetry: (problem) => log('warning', 'write is tried again', { session: this.id, problem }),
    });
    this.#writer = writer;
    return writer;
  }

  #openRunner(writer: SessionWriter, workspace: Workspace): TurnRunner {
    const { env } = this.#parts.settings;
    return new TurnRunner({
      env,
      clock: systemClock,
      prepareTurn: () => this.#settled,
      open: async ({ emit, asker, elicit }) => {
        const config = sessionConfig({
          session: this.#session,
          record: this.#record,
          directory: workspace.directory,
          env,
          writer,
          onEffect: () => {
            this.#isDirty = true;
          },
          admit: (model) => this.#admit(model),
        });
        const session = await openSession({ ...config, emit, asker, elicit });
        this.#open = session;
        this.#pinPolicy(session, writer);
        return session;
      },
    });
  }

  /** fail-closed: where the first drive had other rules, nothing runs if the order says so. */
  #pinPolicy(session: AgentSession, writer: SessionWriter): void {
    const { order, policyDigest: first } = this.#session;
    const policyDigest = digestOf(session, order);
    if (order.pinPolicy && first !== '' && first !== policyDigest) {
      throw new PortcullisError(
        'denied',
        'the policy of this worker is not the one that the session began with',
      );
    }
    this.#session = { ...this.#session, policyDigest };
    writer.note({ policyDigest });
  }

  /** Goes on with the turn that the worker before could not end. */
  #takeUp(runner: TurnRunner): void {
    const { turnOpen, snapshot } = this.#session;
    if (!turnOpen) return;
    this.#isTurnOpen = true;
    const text = takeoverNote(snapshot, this.#workspace?.restored === true);
    const message = {
      uuid: systemClock.uuid(),
      content: [{ type: 'text' as const, text }],
      meta: true,
    };
    runner.push({ message: { ...message, verbatim: true }, priority: 'now', named: false });
  }

  /** Runs until the session is closed: settles questions, gives it mail, and decides when the drive ends. */
  async #loop(runner: TurnRunner, client: LocalClient, writer: SessionWriter): Promise<void> {
    const signals = [this.#parts.leaving, this.#parts.hurry];
    const onLeaving = (): void => this.#wake();
    for (const signal of signals) signal.addEventListener('abort', onLeaving);
    try {
      while (!this.#isClosed) {
        await this.#settled;
        if (writer.millisecondsSinceCommit > TOUCH_MS) await writer.touch();
        else if (writer.isWatched) await writer.flush();
        await this.#questions?.settle();
        if (!writer.isFrozen) await this.#decide(runner, client, writer);
        await this.#sleep(writer);
      }
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', onLeaving);
    }
  }

  async #decide(runner: TurnRunner, client: LocalClient, writer: SessionWriter): Promise<void> {
    const { leaving, hurry, settings } = this.#parts;
    const isQuiet = this.#isQuiet(runner, writer);
    if (this.#questions?.isPastGrace === true && isQuiet) {
      return this.#handOver({ kind: 'parked', reason: 'waits for an answer' });
    }
    if (hurry.aborted && isQuiet) return this.#handOver({ kind: 'ready', reason: '' });
    if (this.#end !== undefined || this.#isFinishing) return;
    const isBusy = this.#isTurnOpen || runner.queue.size > 0;
    if (!isBusy && (leaving.aborted || this.#turns >= settings.maxTurns)) {
      this.#end = { kind: 'ready', reason: '' };
      return runner.endInput('now');
    }
    if ((await this.#push(client, isBusy)) || isBusy) return;
    // Work in the background is waited for; mail that comes meanwhile starts the next drive.
    this.#isFinishing = true;
    runner.endInput('finish');
  }

  /** No call with effects runs, nor anything in the background: nothing is lost by a handover now. */
  #isQuiet(runner: TurnRunner, writer: SessionWriter): boolean {
    return writer.callsInFlight === 0 && runner.state.tasks.length === 0;
  }

  /** Gives mail to the session: one message a turn, or into the running turn. True: something was pushed. */
  async #push(client: LocalClient, isBusy: boolean): Promise<boolean> {
    const waiting = (await this.#parts.fleet.mail(this.#session.order.id)).filter(
      ({ id }) => !this.#pushed.has(id),
    );
    const now = isBusy ? waiting.filter(({ when }) => when === 'next') : waiting.slice(0, 1);
    for (const mail of now) await this.#pushMail(client, mail);
    return now.length > 0;
  }

  async #pushMail(client: LocalClient, { id, text, when }: Mail): Promise<void> {
    this.#pushed.add(id);
    this.#writer?.expectMail(id);
    await client.send('prompt', { id, content: [{ type: 'text', text }], priority: when });
  }

  async #sleep(writer: SessionWriter): Promise<void> {
    if (!this.#isWoken && !this.#isClosed) {
      const stop = new AbortController();
      this.#stopSleep = () => stop.abort();
      const ms = writer.isWatched ? WATCHED_MS : POLL_MS;
      await this.#parts.fleet.wait(ms, stop.signal, this.#session.order.id);
    }
    this.#isWoken = false;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#stopSleep();
  }

  #follow(event: SessionEvent, writer: SessionWriter): void {
    if (event.type !== 'transcript') writer.event(event);
    if (event.type === 'turn_started') {
      this.#isTurnOpen = true;
      writer.note({ turnOpen: true });
    } else if (event.type === 'turn_finished') {
      this.#isTurnOpen = false;
      this.#settled = this.#settled.then(() => this.#endTurn(event.turn, writer));
      void this.#settled.finally(() => this.#wake());
    } else if (event.type === 'question') {
      this.#questions?.ask(event.question);
      this.#wake();
    } else if (event.type === 'question_closed') this.#questions?.closed(event.id);
    else if (event.type === 'task_finished') this.#wake();
  }

  /** Saves the files and writes the rest of the turn. */
  async #endTurn(turn: TurnResult, writer: SessionWriter): Promise<void> {
    if (writer.isFrozen) return;
    this.#turns++;
    const turns = this.#session.turns + this.#turns;
    for (const id of turn.prompts) writer.delivered(id);
    await writer.flush({
      turns,
      turnOpen: false,
      closeAsks: true,
      spentUsd: this.#open?.accounts().cost.knownUsd ?? this.#session.spentUsd,
      reason: turn.problem,
    });
    const { kind } = turn.run.outcome.reason;
    if (kind === 'model_failure' || kind === 'budget' || kind === 'stuck') {
      this.#end ??= { kind: 'stopped', reason: turn.problem };
    }
    if (this.#end !== undefined) this.#runner?.stop();
  }

  async #saveFiles(): Promise<Snapshot | undefined> {
    if (!this.#isDirty || this.#workspace === undefined) return undefined;
    const turn = this.#session.turns + this.#turns + (this.#isTurnOpen ? 1 : 0);
    // A call that still runs may change more.
    this.#isDirty = (this.#writer?.callsInFlight ?? 0) > 0;
    try {
      const made = await this.#parts.workspaces.snapshot(this.#session, turn, this.#outdated);
      if (made === undefined) return undefined;
      // Stays until its successor is written, which it is when the next one is made.
      this.#outdated = this.#session.snapshot;
      this.#session = { ...this.#session, snapshot: made };
      return made;
    } catch (thrown) {
      this.#isDirty = true;
      this.#end = { kind: 'stopped', reason: messageOf(thrown) };
      return undefined;
    }
  }

  /** Ends the drive at this very point: what the session still writes is dropped. */
  #handOver(end: DriveEnd): void {
    this.#end ??= end;
    this.#writer?.freeze();
    this.#runner?.stop();
    this.#wake();
  }

  /** Waits for the turn of a request under the rates that workers share. */
  async #admit(model: string): Promise<void> {
    const { fleet, rates, log } = this.#parts;
    for (const rate of rates().filter((name) => name === 'model:*' || name === `model:${model}`)) {
      const ms = await fleet.takeToken(rate);
      if (ms <= 0) continue;
      const text = `waits ${Math.ceil(ms / 1000)} s for the rate limit ${rate}`;
      log('info', text, { session: this.id });
      this.#open?.news({ type: 'notice', level: 'info', text });
      await setTimeout(ms);
    }
  }
}
