import type { AgentSession, InputMessage, RunResult } from '../app.js';
import { PortcullisError } from '../errors.js';
import { callerOf, createCommandRunner, PROMPT } from './command-runner.js';
import {
  type CommandContext,
  type FoundCommand,
  runCommand,
  type SlashCommandTable,
} from './commands/command.js';
import { EventLog } from './event-log.js';
import type { CommandOutput, QueuedPrompt, SessionEvent, TurnResult } from './events.js';
import { IdleWork } from './idle-work.js';
import { jsonRun } from './json-event.js';
import { PromptQueue, TurnPrompts } from './prompt-queue.js';
import { QuestionBroker, type Respondent } from './question-broker.js';
import type { Completion, CompletionQuery } from './session-client.js';
import { type Replacement, SessionSlot, type SlotOptions } from './session-slot.js';
import { SessionState } from './session-state.js';
import { ToolCalls } from './tool-calls.js';
import { turnEnd } from './turn-end.js';
import { runTypedShell } from './typed-shell.js';
import { Waits } from './waits.js';

export interface RunnerOptions extends SlotOptions {
  /** Slash commands that prompts and clients may name. */
  readonly commands?: SlashCommandTable | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Awaited at the start of every turn, before anything of it runs. */
  prepareTurn?(session: AgentSession): Promise<void>;
  /** A person types the prompts: hooks are notified when the session waits for one. */
  readonly awaitsPerson?: boolean | undefined;
  readonly clock: { now(): number; uuid(): string };
}

/**
 * Runs the turns of one session for all its clients: queues prompts, steers the running turn, wakes for
 * finished background work, runs slash commands, replaces the session, and closes it in the end.
 */
export class TurnRunner {
  readonly queue = new PromptQueue();
  readonly log: EventLog;
  readonly questions: QuestionBroker;
  readonly calls: ToolCalls;
  readonly state = new SessionState();
  readonly #options: RunnerOptions;
  readonly #slot: SessionSlot;
  readonly #waits: Waits;
  #held = false;
  #inputOver: 'finish' | 'now' | undefined;
  #stopped = false;
  #endReason: Parameters<AgentSession['close']>[0];
  /** The session has run what comes before its first prompt. */
  #begun = false;
  /** A turn is being made ready and cannot be interrupted yet. */
  #starting = false;
  #interrupted = false;
  #isRunning = false;
  /** A turn or a command that needs an idle session is at work. */
  #isBusy = false;
  readonly #prompts = new TurnPrompts((event) => this.emit(event));
  /** Why no further turn may run. */
  #failure: { readonly thrown: unknown } | undefined;
  readonly #idleWork = new IdleWork();

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#waits = new Waits(options.awaitsPerson === true);
    const { clock } = options;
    this.log = new EventLog(clock.now);
    this.calls = new ToolCalls((event) => this.log.append(event));
    this.#slot = new SessionSlot(options, {
      emit: (event) => this.emit(event),
      questions: () => this.questions,
      onRefused: () => this.#waits.wake(),
      isOver: () => this.#stopped || this.state.phase === 'closed',
    });
    this.questions = new QuestionBroker({
      emit: (event) => this.emit(event),
      onWaiting: (isWaiting) => {
        const state = isWaiting ? 'requires_action' : this.#isRunning ? 'running' : 'idle';
        this.current?.news({ type: 'state', state });
      },
      ...clock,
    });
  }

  /** Undefined: none was asked for yet. */
  get session(): Promise<AgentSession> | undefined {
    return this.#slot.session;
  }

  /** The open session. */
  get current(): AgentSession | undefined {
    return this.#slot.current;
  }

  /** Opens the session where it is not open yet. */
  open(): Promise<AgentSession> {
    return this.#slot.open();
  }

  /** Remembers a change of the session, for every session that takes the place of this one. */
  steered(apply: () => Promise<void>): void {
    this.#slot.steering.push(apply);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  uuid(): string {
    return this.#options.clock.uuid();
  }

  /** Prompts wait, and no session is opened for them, until this is called with false. */
  hold(isHeld: boolean): void {
    this.#held = isHeld;
    this.#waits.wake();
  }

  push(prompt: QueuedPrompt): void {
    this.queue.push(prompt);
    const { uuid: id, content } = prompt.message;
    this.emit({ type: 'prompt', id, state: 'queued', named: prompt.named, content });
    this.#waits.wake();
  }

  cancel(id: string): boolean {
    const named = this.queue.all.find(({ message }) => message.uuid === id)?.named ?? false;
    if (!this.queue.cancel(id)) return false;
    this.emit({ type: 'prompt', id, state: 'cancelled', named });
    return true;
  }

  cancelAll(): readonly string[] {
    return this.queue.all.map(({ message }) => message.uuid).filter((id) => this.cancel(id));
  }

  /** Ends the turn that runs, also one that is only about to. */
  interrupt(): boolean {
    if (this.#starting) {
      this.#interrupted = true;
      this.#waits.hurry();
    }
    return this.current?.interrupt() === true || this.#starting;
  }

  /** No more prompts come. `finish`: what runs and waits is done first, background work included. */
  endInput(how: 'finish' | 'now' = 'finish'): void {
    if (how === 'now') this.#inputOver = how;
    else this.#inputOver ??= how;
    this.#waits.wake();
  }

  /** Ends the session whatever it does: the running turn is interrupted, waiting prompts are dropped. */
  stop(reason?: Parameters<AgentSession['close']>[0]): void {
    this.#endReason = reason;
    this.#stopped = true;
    this.cancelAll();
    this.session?.then(
      () => this.interrupt(),
      () => undefined,
    );
    this.#waits.wake();
  }

  /** Runs a slash command for a client: at once, or between two turns where it needs an idle session. */
  async command(line: string, by: Respondent): Promise<CommandOutput | undefined> {
    const found = this.#options.commands?.find(line);
    if (found === undefined) return undefined;
    const session = await this.open();
    if (found.command.needsIdle !== true)
      return await runCommand(found, this.#commandContext(session, by));
    return await this.#betweenTurns(async () =>
      runCommand(found, this.#commandContext(await this.open(), by)),
    );
  }

  /** Runs a shell command that a person typed. Rejects while a turn runs. */
  async shell(command: string): Promise<void> {
    if (this.#isBusy || this.#hasWork()) {
      throw new PortcullisError('usage', 'a turn is running', {
        remedy: 'interrupt it or wait for its end, then run the command',
      });
    }
    await this.#betweenTurns(async () => {
      const session = await this.open();
      this.#takeTurn(session, 0);
      await this.#begin(session);
      this.#starting = false;
      if (!this.#interrupted) await runTypedShell(this, session, command);
    });
  }

  async #betweenTurns<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#idleWork.push(work);
    this.#waits.wake();
    return await done;
  }

  /** Shows an event to all clients. */
  emit(event: SessionEvent): void {
    this.state.follow(event);
    this.log.append(event);
    this.calls.follow(event);
    // There may be nothing left to wait for.
    if (event.type === 'task_finished') this.#waits.wake();
  }

  /**
   * Runs turns until the input is over and everything is done, or it is stopped. Rejects where the session
   * cannot be opened. Closes the session in any case.
   */
  async run(): Promise<void> {
    try {
      await this.#loop();
      this.emit({ type: 'closing' });
    } finally {
      this.questions.close();
      // A start that was refused has opened nothing.
      const opened = await this.session?.catch(() => undefined);
      try {
        await opened?.close(this.#endReason);
      } finally {
        this.#idleWork.close();
        this.emit({ type: 'closed', reason: this.#endReason ?? 'other' });
      }
    }
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      if (this.#failure !== undefined) throw this.#failure.thrown;
      const work = this.#idleWork.next();
      this.#isBusy = work !== undefined;
      if (work !== undefined) {
        await work();
        continue;
      }
      const background = (await this.session)?.takeBackgroundInput() ?? [];
      if (background.length > 0 || this.#hasWork()) {
        this.#isBusy = true;
        await this.#step(background);
        continue;
      }
      if (this.#inputOver === 'now') return;
      const session = await this.session;
      // A prompt or the end may have come during the wait above, when nothing could be woken.
      if (this.#stopped || this.#hasWork() || this.#idleWork.size > 0) continue;
      if (session !== undefined && !this.#begun && this.#options.awaitsPerson === true) {
        // A person sees what hooks do at the start before the first prompt.
        await this.#begin(session);
        continue;
      }
      if (session !== undefined) this.#rest(session);
      if (this.#inputOver !== undefined) {
        if ((await session?.waitForBackground()) !== true) return;
        continue;
      }
      await this.#waits.sleep(session, () => this.endInput('now'));
    }
  }

  #hasWork(): boolean {
    const mayOpen = !this.#held || this.session !== undefined || this.#inputOver !== undefined;
    return this.queue.size > 0 && mayOpen;
  }

  async #step(background: readonly InputMessage[]): Promise<void> {
    const session = await this.open();
    await this.#options.ready?.();
    // While the session opened it may have been stopped, or the prompt cancelled.
    if (this.#stopped || background.length + this.queue.size === 0) return;
    const first = background.length > 0 ? undefined : this.queue.first;
    if (first?.append === true) return await this.#append(session);
    const { command = '' } = first ?? {};
    const found = command === '' ? undefined : this.#options.commands?.find(command);
    // A summary is a turn of its own: hooks and limits hold for it.
    if (found === undefined || found.command.name === 'compact') {
      return await this.#turn(session, background);
    }
    await this.#queuedCommand(session, found);
  }

  async #turn(session: AgentSession, background: readonly InputMessage[]): Promise<void> {
    // A command waits for its own turn; reports of background work do not wait for it.
    const isAlone = background.length > 0 && this.queue.startsAlone;
    const taken = await this.#take(session, isAlone ? 0 : undefined);
    const running = session.run([...background, ...taken.map(({ message }) => message)], {
      takeInput: () => this.#prompts.start(this.queue.takeForRunning()),
    });
    this.#starting = false;
    if (this.#interrupted) session.interrupt();
    const run = await running;
    const origin =
      taken.length === 0
        ? { kind: 'task-notification' }
        : taken.find((prompt) => prompt.origin !== undefined)?.origin;
    this.#finished(run, { prompts: this.#prompts.ids, origin });
    this.#prompts.end(run.outcome.reason.kind === 'aborted' ? 'cancelled' : 'completed');
  }

  #finished(run: RunResult, more: Pick<TurnResult, 'prompts' | 'origin' | 'opening'>): void {
    const { reason, text } = run.outcome;
    const facts = { problem: turnEnd(reason).problem, text, queued: this.queue.size };
    this.emit({ type: 'turn_finished', turn: { ...facts, run: jsonRun(run), ...more } });
  }

  async #append(session: AgentSession): Promise<void> {
    const begun = performance.now();
    const taken = await this.#take(session);
    this.#starting = false;
    const problem = (await session.append(taken.map(({ message }) => message))) ?? '';
    this.emit({ type: 'appended', problem, durationMs: performance.now() - begun });
    this.#prompts.end('completed');
  }

  async #queuedCommand(session: AgentSession, found: FoundCommand): Promise<void> {
    const begun = performance.now();
    // What replaces the session needs nothing of the old one, not even its first hooks.
    const replaces = found.command.needsIdle === true;
    if (replaces) this.#takeTurn(session);
    else await this.#take(session);
    const output = await runCommand(found, this.#commandContext(session, PROMPT));
    if (this.#failure !== undefined) return;
    if (replaces) await this.#prepare(await this.open(), []);
    this.#starting = false;
    const durationMs = performance.now() - begun;
    const line = `/${found.command.name} ${found.argument}`.trimEnd();
    this.emit({ type: 'command_output', line, output, durationMs });
    this.#prompts.end('completed');
  }

  async complete(query: CompletionQuery, by: Respondent): Promise<readonly Completion[]> {
    const context = this.#commandContext(await this.open(), by);
    return (await this.#options.commands?.complete(context, query)) ?? [];
  }

  #commandContext(session: AgentSession, by: Respondent): CommandContext {
    const { env } = this.#options;
    return { session, runner: createCommandRunner(this, by), caller: callerOf(by), env };
  }

  /** Closes the session and opens another one in its place. */
  async replace(replacement: Replacement): Promise<void> {
    this.#begun = false;
    try {
      await this.#slot.replace(replacement, this.#prompts.ids[0]);
    } catch (thrown) {
      // fail-closed: a session that is not steered as the one before must not go on.
      this.#failure = { thrown };
      throw thrown;
    }
  }

  /** Takes what comes next and makes the session ready for it. */
  async #take(session: AgentSession, count?: number): Promise<readonly QueuedPrompt[]> {
    const taken = this.#takeTurn(session, count);
    await this.#prepare(session, this.#prompts.ids);
    return taken;
  }

  #takeTurn(session: AgentSession, count?: number): readonly QueuedPrompt[] {
    this.#starting = true;
    this.#interrupted = false;
    if (!this.#isRunning) session.news({ type: 'state', state: 'running' });
    this.#isRunning = true;
    const taken = count === 0 ? [] : this.queue.takeTurn();
    this.#prompts.start(taken);
    return taken;
  }

  async #prepare(session: AgentSession, prompts: readonly string[]): Promise<void> {
    if (!this.#begun) await this.#waits.forServers(session.mcp.answered());
    await this.#options.prepareTurn?.(session);
    this.emit({ type: 'turn_started', info: session.info(), prompts: [...prompts] });
    await this.#begin(session);
  }

  /** Runs what comes before the first prompt. */
  async #begin(session: AgentSession): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    for (const first of await session.begin()) {
      // A call that was put off goes on: there is no prompt that would show the turn to clients.
      if (first.length === 0 || !this.#isRunning) {
        this.emit({ type: 'turn_started', info: session.info(), prompts: [], resumes: true });
      }
      this.#finished(await session.run(first), { prompts: [], opening: true });
    }
  }

  /** Nothing is left to do: reports `idle` once no agent works in the background. */
  #rest(session: AgentSession): void {
    if (!this.#isRunning || this.state.hasBackgroundAgents) return;
    this.#isRunning = false;
    session.news({ type: 'state', state: 'idle' });
  }
}
