import type { AgentSession, InputMessage, LoopEvent, RunResult, SessionNews } from '../harness.js';
import { type InitNames, initFrame } from './frames.js';
import { areSameRows, type CommandRow, initNames } from './initialize.js';
import { failureFields, localText, syntheticFrame } from './local-frames.js';
import type { Outlet } from './outlet.js';
import { originField, type PromptQueue, type QueuedPrompt } from './prompt-queue.js';
import { describeEnd, localResultFrame, resultFrame } from './result.js';
import type { Spent } from './spent.js';
import { StartNotices } from './start-notices.js';
import { createToolProgress, type ToolProgress } from './tool-progress.js';
import type { Frame } from './wire.js';

export interface TurnDeps {
  readonly outlet: Outlet;
  readonly queue: PromptQueue;
  readonly spent: Spent;
  frames(event: LoopEvent | SessionNews): readonly Frame[];
  uuid(): string;
  /** Background work has ended: there may be nothing left to wait for. */
  onWorkEnded(): void;
}

/** The turns of a session, each told from its first frame to its result. */
export interface Turns {
  /** One turn, with everything that waits and these reports of background work. */
  take(session: AgentSession, background: readonly InputMessage[]): Promise<RunResult>;
  /** What is asked of the runtime itself, without the model. */
  local(session: AgentSession): Promise<void>;
  /** Ends the session and goes on with a new one, of this id. */
  clear(session: AgentSession, reopen: (id: string) => Promise<AgentSession>): Promise<void>;
  /** The commands as the host was just told of them. */
  commandsTold(rows: readonly CommandRow[]): void;
  /** The commands are others now. */
  commandsChanged(session: AgentSession): Promise<void>;
  /** Tells the host what a session says, whether a turn runs or not. */
  emit(event: LoopEvent | SessionNews): void;
  /** Ends the turn that runs, also one that is only about to. */
  interrupt(session: AgentSession): void;
  /** Nothing is left to do. Told to the host once no agent works in the background. */
  rest(session: AgentSession): void;
  /** A prompt has arrived. */
  queued(prompt: QueuedPrompt): void;
  /** A prompt was taken back. */
  cancelled(uuid: string): void;
  /** No further turn will run: sends notices that waited for the first one. */
  end(): void;
}

export function createTurns(deps: TurnDeps): Turns {
  return new TurnTeller(deps);
}

/** Frames that come before the first frame of a turn: they tell of what leads to it. */
const BEFORE_INIT: ReadonlySet<string> = new Set([
  'state',
  'hook_started',
  'hook_finished',
  'compacting',
  'decision',
  'mode',
  'config_changed',
  'task_started',
  'task_progress',
  'task_updated',
  'task_finished',
  'background_tasks',
  'child',
  'inbox',
  'writes_lost',
  'transcript',
  'progress',
]);

/** How long the first turn waits for servers that are still starting. */
const SERVERS_MS = 5_000;

class TurnTeller implements Turns {
  readonly #deps: TurnDeps;
  readonly #progress: ToolProgress;
  /** What a session wants to run before its first prompt has been run. */
  #begun = false;
  /** A turn is being made ready and cannot be interrupted yet. */
  #starting = false;
  #interrupted = false;
  /** Ends the wait for servers. */
  #hurry: () => void = () => undefined;
  #notices = new StartNotices();
  /** The first frame of the turn, until it has been written. */
  #init: (() => Frame) | undefined;
  /** Ids that the next answer is told to be for. */
  #answers: readonly string[] = [];
  /** Ids of prompts of this turn that the host named. */
  #named: string[] = [];
  /** The host was told that the session works. */
  #running = false;
  /** The commands that the host knows of. */
  #commands: readonly CommandRow[] | undefined;
  readonly #agents = new Set<string>();
  #sessionId = '';

  constructor(deps: TurnDeps) {
    this.#deps = deps;
    this.#progress = createToolProgress({
      write: deps.outlet.write,
      now: () => performance.now(),
      uuid: deps.uuid,
      sessionId: () => this.#sessionId,
    });
    this.emit = this.emit.bind(this);
    this.cancelled = this.cancelled.bind(this);
    this.commandsTold = this.commandsTold.bind(this);
    this.interrupt = this.interrupt.bind(this);
  }

  async take(session: AgentSession, background: readonly InputMessage[]): Promise<RunResult> {
    const { outlet, queue, spent, uuid } = this.#deps;
    const taken = await this.#open(session);
    const running = session.run([...background, ...taken.map(({ message }) => message)], {
      takeInput: () => {
        const more = queue.takeForRunning();
        this.#started(more);
        return more.map(({ message }) => message);
      },
    });
    this.#starting = false;
    if (this.#interrupted) session.interrupt();
    const run = await running;
    this.#progress.turnEnded();
    this.#writeInit();
    const { reason } = run.outcome;
    if (reason.kind === 'model_failure') {
      const text = describeEnd(reason);
      outlet.write(this.#withIds(this.#synthetic(text, failureFields(reason.failure))));
    }
    spent.add(run);
    const waiting = queue.size;
    const frameOf = (of: RunResult): Frame => ({
      ...resultFrame(of, session.id, uuid()),
      ...idFields(this.#named),
      ...originField(taken),
      ...(waiting === 0 ? {} : { queued_turn_count: waiting }),
    });
    const frame = frameOf(run);
    const told = this.#deliverable(run, frame);
    outlet.write(told === run ? frame : frameOf(told));
    this.#close(reason.kind === 'aborted' ? 'cancelled' : 'completed');
    return told;
  }

  /** fail-closed: a structured answer that the host cannot be given whole is none. */
  #deliverable(run: RunResult, frame: Frame): RunResult {
    if (run.outcome.reason.kind !== 'finished') return run;
    const problem = this.#deps.outlet.tooLong(frame);
    if (problem === undefined) return run;
    const reason = { kind: 'structured_output_missing', attempts: 1, message: problem } as const;
    return { ...run, outcome: { ...run.outcome, reason } };
  }

  async local(session: AgentSession): Promise<void> {
    const { outlet } = this.#deps;
    const begun = performance.now();
    const [prompt] = await this.#open(session);
    this.#starting = false;
    const order = prompt?.order;
    let text = '';
    if (order === 'append' && prompt !== undefined) {
      text = (await session.append([prompt.message])) ?? '';
    }
    this.#writeInit();
    if (order === 'context' || order === 'cost') {
      text = await localText(session, order);
      outlet.write(this.#withIds(this.#synthetic(text, {})));
    }
    this.#endLocal(session, { text, begun, ...(order === 'append' ? {} : { command: order }) });
  }

  async clear(session: AgentSession, reopen: (id: string) => Promise<AgentSession>): Promise<void> {
    const { outlet, queue, uuid } = this.#deps;
    const begun = performance.now();
    this.#wake(session);
    const [prompt] = queue.takeTurn();
    if (prompt !== undefined) this.#started([prompt]);
    await session.close('clear');
    this.#notices = new StartNotices();
    const id = uuid();
    const reset = { type: 'conversation_reset', new_conversation_id: id, trigger: 'clear' };
    outlet.write({
      ...reset,
      ...(prompt === undefined ? {} : { user_message_uuid: prompt.message.uuid }),
      timestamp: new Date().toISOString(),
      uuid: uuid(),
      session_id: session.id,
    });
    const fresh = await reopen(id);
    this.#sessionId = fresh.id;
    this.#begun = false;
    await this.#prepare(fresh);
    this.#starting = false;
    this.#writeInit();
    this.#endLocal(fresh, { text: '', begun, command: 'clear' });
  }

  commandsTold(rows: readonly CommandRow[]): void {
    this.#commands = rows;
  }

  async commandsChanged(session: AgentSession): Promise<void> {
    await this.#names(session);
  }

  /** Takes what comes next and makes ready for it. */
  async #open(session: AgentSession): Promise<readonly QueuedPrompt[]> {
    this.#wake(session);
    const taken = this.#deps.queue.takeTurn();
    this.#started(taken);
    await this.#prepare(session);
    return taken;
  }

  #wake(session: AgentSession): void {
    this.#starting = true;
    this.#interrupted = false;
    this.#sessionId = session.id;
    if (!this.#running) session.news({ type: 'state', state: 'running' });
    this.#running = true;
  }

  async #prepare(session: AgentSession): Promise<void> {
    const { uuid } = this.#deps;
    if (!this.#begun) await this.#patiently(session.mcp.answered());
    const names = await this.#names(session);
    this.#init = () => initFrame(session.info(), uuid(), names);
    await this.#begin(session);
  }

  /** Waits for servers that have not answered yet, but not for ever, and not once it is interrupted. */
  async #patiently(answered: Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SERVERS_MS);
      this.#hurry = resolve;
    });
    try {
      await Promise.race([answered.catch(() => undefined), over]);
    } finally {
      clearTimeout(timer);
      this.#hurry = () => undefined;
    }
  }

  #synthetic(text: string, fields: Readonly<Record<string, unknown>>): Frame {
    const { uuid } = this.#deps;
    return syntheticFrame(text, { sessionId: this.#sessionId, uuid, fields });
  }

  #endLocal(
    session: AgentSession,
    { text, begun, command }: { text: string; begun: number; command?: string | undefined },
  ): void {
    const { outlet, uuid } = this.#deps;
    const durationMs = performance.now() - begun;
    const done = { text, durationMs, ...(command === undefined ? {} : { command }) };
    const ids = { sessionId: session.id, uuid: uuid() };
    outlet.write({ ...localResultFrame(session.accounts(), done, ids), ...idFields(this.#named) });
    this.#close('completed');
  }

  #close(state: 'completed' | 'cancelled'): void {
    for (const id of this.#named) this.#lifecycle(id, state);
    this.#named = [];
    this.#answers = [];
  }

  emit(event: LoopEvent | SessionNews): void {
    const { outlet, frames, spent } = this.#deps;
    spent.heard(event);
    this.#progress.heard(event);
    this.#follow(event);
    if (this.#notices.hold(event)) return;
    // Told in the middle: the summary belongs to the turn, the end of the work on it does not.
    if (event.type !== 'compacted' && this.#opensTurn(event)) this.#writeInit();
    let index = 0;
    for (const frame of frames(event)) {
      if (event.type === 'compacted' && index === 1) this.#writeInit();
      outlet.write(this.#withIds(frame));
      index++;
    }
  }

  interrupt(session: AgentSession): void {
    if (this.#starting) {
      this.#interrupted = true;
      this.#hurry();
    }
    session.interrupt();
  }

  rest(session: AgentSession): void {
    if (!this.#running || this.#agents.size > 0) return;
    this.#running = false;
    session.news({ type: 'state', state: 'idle' });
  }

  queued({ message, named }: QueuedPrompt): void {
    if (named) this.#lifecycle(message.uuid, 'queued');
  }

  cancelled(uuid: string): void {
    this.#lifecycle(uuid, 'cancelled');
  }

  /** What the session runs before its first prompt, each with a result of its own. */
  async #begin(session: AgentSession): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const { outlet, uuid, spent } = this.#deps;
    for (const prompts of await session.begin()) {
      if (prompts.length === 0) this.#writeInit();
      const run = await session.run(prompts);
      this.#writeInit();
      spent.add(run);
      outlet.write(resultFrame(run, session.id, uuid()));
    }
  }

  async #names(session: AgentSession): Promise<InitNames> {
    const { outlet, uuid } = this.#deps;
    const { rows, names } = await initNames(session);
    if (this.#commands !== undefined && !areSameRows(this.#commands, rows)) {
      outlet.write({
        type: 'system',
        subtype: 'commands_changed',
        commands: rows,
        uuid: uuid(),
        session_id: session.id,
      });
    }
    this.#commands = rows;
    return names;
  }

  #started(prompts: readonly QueuedPrompt[]): void {
    const named = prompts.filter((prompt) => prompt.named).map(({ message }) => message.uuid);
    for (const id of named) this.#lifecycle(id, 'started');
    this.#named.push(...named);
    this.#answers = [...this.#answers, ...named];
  }

  #opensTurn(event: LoopEvent | SessionNews): boolean {
    if (event.type === 'notice') return event.tag === 'prompt_blocked';
    return !BEFORE_INIT.has(event.type);
  }

  #writeInit(): void {
    const init = this.#init;
    this.#init = undefined;
    if (init === undefined) return;
    this.#deps.outlet.write(init());
    this.end();
  }

  end(): void {
    const { frames, outlet } = this.#deps;
    for (const frame of this.#notices.release().flatMap(frames)) outlet.write(frame);
  }

  /** The first frame of an answer says which prompts it is for. */
  #withIds(frame: Frame): Frame {
    const isAnswer = frame.type === 'assistant' || frame.type === 'stream_event';
    if (!isAnswer || frame.parent_tool_use_id !== null || this.#answers.length === 0) return frame;
    const ids = idFields(this.#answers);
    this.#answers = [];
    return { ...frame, ...ids };
  }

  #follow(event: LoopEvent | SessionNews): void {
    if (event.type === 'task_started' && event.agent?.background === true) {
      this.#agents.add(event.taskId);
    } else if (event.type === 'task_finished' && this.#agents.delete(event.taskId)) {
      this.#deps.onWorkEnded();
    }
  }

  #lifecycle(id: string, state: 'queued' | 'started' | 'completed' | 'cancelled'): void {
    const { outlet, uuid } = this.#deps;
    outlet.write({
      type: 'command_lifecycle',
      command_uuid: id,
      state,
      uuid: uuid(),
      session_id: this.#sessionId,
    });
  }
}

function idFields(ids: readonly string[]): Readonly<Record<string, unknown>> {
  const [first] = ids;
  return first === undefined ? {} : { user_message_uuid: first, user_message_uuids: [...ids] };
}
