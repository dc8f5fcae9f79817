import type { AgentSession } from '../app.js';
import type { SessionEvent, Turn, TurnResult } from '../client/events.js';
import type { TurnRunner } from '../client/turn-runner.js';
import {
  createFramer,
  type FrameOptions,
  type InitNames,
  initFrame,
  type WireEvent,
} from './frames.js';
import { areSameRows, type CommandRow, initNames } from './initialize.js';
import type { Outlet } from './outlet.js';
import { failureFields, localResultFrame, resultFrame, syntheticFrame } from './result.js';
import { createToolProgress, type ToolProgress } from './tool-progress.js';
import type { Frame } from './wire.js';

export interface FrameStreamDeps {
  readonly outlet: Outlet;
  /** The session id before a session is open. */
  readonly firstId: string;
  readonly messages: Omit<FrameOptions, 'sessionId' | 'uuid'>;
  /** A headless run of one prompt: `init` comes at once, and the progress of tools is not sent. */
  readonly headless?: boolean;
  uuid(): string;
}

/** Events that may precede the first frame of a turn. */
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

/** Writes the events of a session as the frames of the wire contract: each turn from `init` to `result`. */
export class FrameStream {
  readonly #deps: FrameStreamDeps;
  readonly #framer: ReturnType<typeof createFramer>;
  readonly #progress: ToolProgress;
  #runner: TurnRunner | undefined;
  #sessionId: string;
  #notices = new StartNotices();
  /** The first frame of the turn, until it has been written. */
  #init: (() => Frame) | undefined;
  #names: InitNames | undefined;
  /** The commands that the host knows of. */
  #commands: readonly CommandRow[] | undefined;
  /** Ids of the prompts that the next answer belongs to. */
  #answers: string[] = [];
  /** The session was replaced by the command that runs. */
  #isReset = false;
  /** The run of the newest turn as the host was told of it; undefined after a local command. */
  lastRun: Turn | undefined;

  constructor(deps: FrameStreamDeps) {
    this.#deps = deps;
    this.#sessionId = deps.firstId;
    const facts = { uuid: deps.uuid, sessionId: () => this.#sessionId };
    this.#framer = createFramer({ ...deps.messages, ...facts });
    this.#progress = createToolProgress({
      ...facts,
      write: deps.outlet.write,
      now: () => performance.now(),
    });
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** Follows the session of a runner. Returns the end of it. */
  follow(runner: TurnRunner): () => void {
    this.#runner = runner;
    return runner.log.subscribe(({ event }) => this.#receive(event));
  }

  /** Sends the list of commands to the host where it has changed. */
  async tellCommands(session: AgentSession): Promise<void> {
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
    this.#names = names;
  }

  /** Writes the first frame for a session that will run no turn. */
  async begin(session: AgentSession): Promise<void> {
    await this.tellCommands(session);
    this.#begin(false);
    this.#writeInit();
  }

  /** The host has just been told of these commands. */
  commandsTold(rows: readonly CommandRow[]): void {
    this.#commands = rows;
  }

  /** No further turn will run: sends notices that waited for the first one. */
  end(): void {
    for (const event of this.#notices.release()) {
      for (const frame of this.#framer(event)) this.#deps.outlet.write(frame);
    }
  }

  #receive(event: SessionEvent): void {
    switch (event.type) {
      case 'opened':
        this.#sessionId = event.info.sessionId;
        return;
      case 'prompt':
        this.#prompt(event);
        return;
      case 'turn_started':
        this.#begin(event.resumes === true);
        return;
      case 'turn_finished':
        this.#finish(event.turn);
        return;
      case 'replacing':
        this.#replace(event);
        return;
      case 'appended':
        this.#endLocal({ text: event.problem, durationMs: event.durationMs });
        return;
      case 'command_output':
        this.#local(event);
        return;
      case 'commands_changed': {
        const session = this.#runner?.current;
        if (session !== undefined) void this.tellCommands(session);
        return;
      }
      case 'tool':
      case 'shell':
      case 'question':
      case 'question_closed':
      case 'closing':
      case 'closed':
        return;
      default:
        this.#tell(event);
    }
  }

  #tell(event: WireEvent): void {
    const { outlet } = this.#deps;
    if (this.#deps.headless !== true) this.#progress.heard(event);
    if (this.#notices.hold(event)) return;
    // In the middle: the summary belongs to the turn, the end of the work on it does not.
    if (event.type !== 'compacted' && opensTurn(event)) this.#writeInit();
    for (const [index, frame] of this.#framer(event).entries()) {
      if (event.type === 'compacted' && index === 1) this.#writeInit();
      outlet.write(this.#withIds(frame));
    }
  }

  #begin(resumes: boolean): void {
    const { uuid } = this.#deps;
    const session = this.#runner?.current;
    const names = this.#names;
    if (session !== undefined && !resumes) {
      this.#init = () => initFrame(session.info(), uuid(), names);
    }
    if (resumes || this.#deps.headless === true) this.#writeInit();
  }

  #finish({ run, problem, prompts, origin, queued, opening }: TurnResult): void {
    const { outlet, uuid } = this.#deps;
    this.#progress.turnEnded();
    this.#writeInit();
    const { reason } = run.outcome;
    const isTold = opening === true || this.#deps.headless === true;
    if (reason.kind === 'model_failure' && !isTold) {
      outlet.write(this.#withIds(this.#synthetic(problem, failureFields(reason.failure))));
    }
    const frameOf = (turn: Turn): Frame => ({
      ...resultFrame(turn, this.#sessionId, uuid()),
      ...idFields(prompts),
      ...(origin !== undefined && { origin }),
      ...(queued > 0 && opening !== true && { queued_turn_count: queued }),
    });
    const frame = frameOf(run);
    this.lastRun = this.#deliverable(run, frame);
    outlet.write(this.lastRun === run ? frame : frameOf(this.lastRun));
  }

  /** fail-closed: a structured answer that the host cannot be given whole is none. */
  #deliverable(run: Turn, frame: Frame): Turn {
    if (run.outcome.reason.kind !== 'finished') return run;
    const problem = this.#deps.outlet.tooLong(frame);
    if (problem === undefined) return run;
    const reason = { kind: 'structured_output_missing', attempts: 1, message: problem } as const;
    return { ...run, outcome: { ...run.outcome, reason } };
  }

  #replace(event: Extract<SessionEvent, { type: 'replacing' }>): void {
    const { outlet, uuid } = this.#deps;
    this.#notices = new StartNotices();
    this.#isReset = true;
    outlet.write({
      type: 'conversation_reset',
      new_conversation_id: event.newId,
      trigger: event.trigger,
      ...(event.promptId !== undefined && { user_message_uuid: event.promptId }),
      timestamp: new Date().toISOString(),
      uuid: uuid(),
      session_id: this.#sessionId,
    });
  }

  #local({ line, output, durationMs }: Extract<SessionEvent, { type: 'command_output' }>): void {
    this.#writeInit();
    // The reset has told the host what a command that replaces the session did.
    const text = this.#isReset ? '' : output.text;
    this.#isReset = false;
    if (text !== '') this.#deps.outlet.write(this.#withIds(this.#synthetic(text, {})));
    this.#endLocal({ text, durationMs, command: /^\/(\S+)/.exec(line)?.[1] });
  }

  #endLocal(done: Parameters<typeof localResultFrame>[1]): void {
    const { outlet, uuid } = this.#deps;
    const session = this.#runner?.current;
    this.#writeInit();
    // A command that ran without the model has gone well.
    this.lastRun = undefined;
    if (session === undefined) return;
    const ids = { sessionId: this.#sessionId, uuid: uuid() };
    outlet.write({
      ...localResultFrame(session.accounts(), done, ids),
      ...idFields(this.#answersOfTurn),
    });
  }

  #synthetic(text: string, fields: Readonly<Record<string, unknown>>): Frame {
    const { uuid } = this.#deps;
    return syntheticFrame(text, { sessionId: this.#sessionId, uuid, fields });
  }

  #writeInit(): void {
    const init = this.#init;
    this.#init = undefined;
    if (init === undefined) return;
    this.#deps.outlet.write(init());
    this.end();
  }

  /** Ids of the prompts of this turn that the host chose. */
  #answersOfTurn: string[] = [];

  #prompt({ id, state, named }: Extract<SessionEvent, { type: 'prompt' }>): void {
    if (!named) return;
    const { outlet, uuid } = this.#deps;
    if (state === 'started') {
      this.#answers.push(id);
      this.#answersOfTurn.push(id);
    } else if (
      state === 'completed' ||
      (state === 'cancelled' && this.#answersOfTurn.includes(id))
    ) {
      this.#answers = [];
      this.#answersOfTurn = this.#answersOfTurn.filter((one) => one !== id);
    }
    outlet.write({
      type: 'command_lifecycle',
      command_uuid: id,
      state,
      uuid: uuid(),
      session_id: this.#sessionId,
    });
  }

  /** The first frame of an answer says which prompts it is for. */
  #withIds(frame: Frame): Frame {
    const isAnswer = frame.type === 'assistant' || frame.type === 'stream_event';
    if (!isAnswer || frame.parent_tool_use_id !== null || this.#answers.length === 0) return frame;
    const ids = this.#answers;
    this.#answers = [];
    return { ...frame, ...idFields(ids) };
  }
}

function opensTurn(event: SessionEvent): boolean {
  if (event.type === 'notice') return event.tag === 'prompt_blocked';
  return !BEFORE_INIT.has(event.type);
}

function idFields(ids: readonly string[]): Readonly<Record<string, unknown>> {
  return ids.length === 0 ? {} : { user_message_uuid: ids[0], user_message_uuids: ids };
}

/**
 * Notices of a session that is still starting. Clients expect `init` to come first, and only with it is
 * the session's id known.
 */
class StartNotices {
  #waiting: WireEvent[] | undefined = [];

  /** True: the event is sent after `init`. */
  hold(event: WireEvent): boolean {
    if (this.#waiting === undefined || !isNotice(event)) return false;
    this.#waiting.push(event);
    return true;
  }

  /** `init` was written, or never will be: returns the held events, and holds no more. */
  release(): readonly WireEvent[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    return waiting;
  }
}

function isNotice(event: WireEvent): boolean {
  if (event.type === 'notice') return event.tag !== 'prompt_blocked';
  return event.type === 'config_changed';
}
