import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { isRecord } from '../../lib/own.js';
import { ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type {
  LineProcess,
  LineProcessEnd,
  ProcessSupervisor,
} from '../../platform/process/process.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import { duplicateProblem } from '../answers/read.js';
import { isHomemadeNo, restraintAnywhere, wantsReplacement } from '../answers/restraint.js';
import { calledOff, failed, seconds, settlesWithin } from '../dispatch/timeout.js';
import type { CommandHandler, HookFailure, HookRaw, HookRequest } from '../registry/hook.js';
import { type CommandContext, commandLaunch } from './command.js';

interface PersistentHooksDeps extends CommandContext {
  readonly processes: Pick<ProcessSupervisor, 'open'>;
  /** Told of lines that are no answers. */
  readonly log?: (text: string) => void;
  /** Milliseconds from any start. Default: the system's. */
  readonly monotonic?: () => number;
}

/** Between the end of its input and the first signal, when it is not needed any more. */
const CLOSE_MS = 200;
/** Between the polite signal and the final one. */
const GRACE_MS = 250;
/** How long the end of a process that takes no more lines is waited for. */
const END_MS = 200;
/** Lines that are no answers are logged up to this many, then every thousandth. */
const LOGGED_LINES = 20;

const SESSION_ENDED: HookFailure = {
  cause: 'unavailable',
  message: 'the session has ended',
};

/** One child and the questions that it has been asked. */
class PersistentChild {
  readonly #handler: CommandHandler;
  readonly #deps: PersistentHooksDeps;
  readonly #restarts: RestartLimit;
  /** Open questions by id, and how each is answered. */
  readonly #open = new Map<number, (raw: HookRaw) => void>();
  #process: LineProcess | undefined;
  /** An earlier process that is being ended; the next one starts when it is gone. */
  #ending: Promise<void> | undefined;
  #lastId = 0;
  #answers = 0;
  #invalidLines = 0;
  #isClosed = false;

  constructor(handler: CommandHandler, deps: PersistentHooksDeps) {
    this.#handler = handler;
    this.#deps = deps;
    this.#restarts = new RestartLimit(deps.monotonic ?? (() => performance.now()));
  }

  async ask(request: HookRequest): Promise<HookRaw> {
    const { signal } = request;
    const answersBefore = this.#answers;
    const id = ++this.#lastId;
    try {
      // Two processes of one hook never run at a time: they may share a file or a port.
      while (this.#ending !== undefined) await orAbort(this.#ending, signal);
      signal.throwIfAborted();
      return await orAbort(this.#answer(id, request), signal);
    } catch (thrown) {
      if (!signal.aborted) return failed('unavailable', messageOf(thrown));
    }
    const failure = calledOff(request);
    const wasAsked = this.#open.delete(id);
    const isAtWork = this.#open.size > 0 && this.#answers > answersBefore;
    if (wasAsked && failure.cause === 'timeout' && !isAtWork) {
      const limit = seconds(request.timeoutMs);
      const message = `its process was ended: it left another question unanswered for ${limit}`;
      this.#failAll({ cause: 'unavailable', message });
      this.#restart(failure.message);
    }
    return { kind: 'failed', failure };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failAll(SESSION_ENDED);
    const process = this.#process;
    this.#process = undefined;
    if (process !== undefined) {
      process.closeInput();
      await settlesWithin(process.exited, CLOSE_MS);
      await process.kill();
    }
    await this.#ending;
  }

  #answer(id: number, { json }: HookRequest): Promise<HookRaw> {
    const refused = (failure: HookFailure) => Promise.resolve<HookRaw>({ kind: 'failed', failure });
    if (this.#isClosed) return refused(SESSION_ENDED);
    const blocked = this.#restarts.blocked();
    if (blocked !== undefined) return refused({ cause: 'unavailable', message: blocked });
    const started = this.#process === undefined ? this.#start() : ok(this.#process);
    if (!started.ok) return refused({ cause: 'cannot-start', message: started.error });
    const process = started.value;
    const answer = new Promise<HookRaw>((resolve) => this.#open.set(id, resolve));
    if (process.write(`{"id":${id},"input":${json}}`)) return answer;
    if (process.pendingBytes > 0) {
      this.#open.delete(id);
      const message = 'it does not read its input, and no more can wait';
      return refused({ cause: 'unavailable', message });
    }
    void this.#deaf(process);
    return answer;
  }

  /** Not started, ended, or it has closed its input. In the first two cases its end comes by itself. */
  async #deaf(process: LineProcess): Promise<void> {
    await settlesWithin(process.exited, END_MS);
    if (process !== this.#process) return;
    const message = 'it has closed its input';
    this.#failAll({ cause: 'unavailable', message });
    this.#restart(message);
  }

  #start(): Result<LineProcess, string> {
    const { projectDir: cwd, processes } = this.#deps;
    const launch = commandLaunch(this.#deps, this.#handler, { cwd });
    if (!launch.ok) return launch;
    const process = processes.open({
      ...launch.value,
      cwd,
      graceMs: GRACE_MS,
      label: `persistent hook: ${sliceWhole(this.#handler.command, 0, 80)}`,
    });
    this.#process = process;
    process.onLine((line) => {
      if (process === this.#process) this.#receive(line);
    });
    void process.exited.then((end) => {
      if (process === this.#process) this.#ended(end);
    });
    return ok(process);
  }

  #receive(line: string): void {
    const problem = this.#accept(line);
    if (problem === undefined) return;
    const count = ++this.#invalidLines;
    if (count > LOGGED_LINES && count % 1000 !== 0) return;
    const who = `persistent hook ${excerpt(this.#handler.command)}`;
    this.#deps.log?.(`${who} wrote ${problem} (${count} so far): ${excerpt(line)}`);
  }

  /** Answers a question by a line. Returns what the line is where it is no answer. */
  #accept(line: string): string | undefined {
    const parsed = parseLocatedJson(line);
    const twice = parsed.ok ? duplicateProblem(parsed.duplicates) : undefined;
    if (!parsed.ok || twice !== undefined) {
      if (this.#open.size === 0) return 'a line that is no answer';
      // fail-closed: which answer the line was meant to be cannot be told, so none counts.
      const problem = twice === undefined ? 'not JSON' : `no answer, as ${twice}`;
      const message = `it wrote a line that is ${problem}: ${excerpt(line)}`;
      this.#failAll({ cause: 'broken-output', message }, line);
      this.#restart(message);
      return undefined;
    }
    const { value } = parsed;
    if (!isRecord(value)) return 'a line that is no JSON object';
    const id = typeof value.id === 'number' ? value.id : 0;
    const resolve = this.#open.get(id);
    if (resolve === undefined) return 'an answer to no open question';
    this.#answers += 1;
    this.#open.delete(id);
    resolve(answerOf(value, line));
    return undefined;
  }

  #ended(end: LineProcessEnd): void {
    this.#process = undefined;
    const failure = failureOf(end);
    if (end.startError === undefined) this.#restarts.ended(failure.message);
    this.#failAll(failure);
  }

  /** Ends the process; the next question starts another. */
  #restart(reason: string): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    this.#restarts.ended(reason);
    const ending = process.kill().then(() => {
      if (this.#ending === ending) this.#ending = undefined;
    });
    this.#ending = ending;
  }

  #failAll(failure: HookFailure, printed?: string): void {
    for (const resolve of this.#open.values()) resolve({ kind: 'failed', failure, printed });
    this.#open.clear();
  }
}

function answerOf(value: Readonly<Record<string, unknown>>, line: string): HookRaw {
  const { id: _asked, output, error, ...beside } = value;
  if (error !== undefined && error !== null) {
    const text = typeof error === 'string' ? error : JSON.stringify(error);
    return failed('threw', `it reports an error: ${excerpt(text)}`, line);
  }
  const saysNo = Object.entries(beside).some(([key, said]) => isHomemadeNo(key, said));
  if (saysNo || restraintAnywhere(beside) !== 'none' || wantsReplacement(beside)) {
    // fail-closed: what it says in the wrong place it still means.
    const message = 'its answer says something beside "output" that belongs inside it';
    return failed('invalid-output', message, line);
  }
  if (output === null) return { kind: 'value', value: {} };
  if (isRecord(output)) return { kind: 'value', value: output };
  // fail-closed: an answer without a verdict in it is no verdict.
  const message = 'its answer has neither an "output" object (or null) nor an "error"';
  return failed('broken-output', message, line);
}

function failureOf(end: LineProcessEnd): HookFailure {
  if (end.startError !== undefined) return { cause: 'cannot-start', message: end.startError };
  if (end.lineTooLong !== undefined) {
    const message = `it wrote a line of more than ${end.lineTooLong} characters`;
    return { cause: 'broken-output', message };
  }
  const said = end.stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const detail = said === '' ? '' : `: ${excerpt(said)}`;
  if (end.exitCode === null) {
    return { cause: 'signal', message: `its process was ended by ${end.signal}${detail}` };
  }
  return {
    cause: 'exit-code',
    message: `its process ended with exit code ${end.exitCode}${detail}`,
  };
}

function excerpt(text: string): string {
  return visible(sliceWhole(text, 0, 120));
}

const MOST_ENDS = 3;
const WINDOW_MS = 10_000;
const PAUSE_MS = 10_000;

/** Keeps a program that ends again and again from being started for every question. */
export class RestartLimit {
  readonly #monotonic: () => number;
  #ends: number[] = [];
  #lastReason = '';
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** It has ended, or had to be ended. */
  ended(reason: string): void {
    const now = this.#monotonic();
    this.#lastReason = reason;
    this.#ends = [...this.#ends.filter((at) => now - at < WINDOW_MS), now];
    if (this.#ends.length < MOST_ENDS) return;
    this.#ends = [];
    this.#pausedUntil = now + PAUSE_MS;
  }

  /** Why it must not be started now; undefined when it may. */
  blocked(): string | undefined {
    const leftMs = this.#pausedUntil - this.#monotonic();
    if (leftMs <= 0) return undefined;
    const again = seconds(Math.ceil(leftMs / 1000) * 1000);
    return `it ended ${MOST_ENDS} times within ${seconds(WINDOW_MS)} and is not asked for another ${again}; last: ${this.#lastReason}`;
  }
}

export interface PersistentHooks {
  /** Asks the child of this handler, which is started when there is none. Never throws. */
  ask(handler: CommandHandler, request: HookRequest): Promise<HookRaw>;
  /** Ends all children. Open questions fail, later ones too. */
  close(): Promise<void>;
}

/**
 * Hooks with `"persistent": true`: one child answers many questions by lines of JSON, so that a question
 * costs a fraction of a millisecond instead of a program start. docs/hooks-testing.md has the protocol.
 */
export function createPersistentHooks(deps: PersistentHooksDeps): PersistentHooks {
  const children = new Map<string, PersistentChild>();
  let isClosed = false;
  return {
    async ask(handler, request) {
      if (isClosed) return { kind: 'failed', failure: SESSION_ENDED };
      const { command, args = null, shell = null, allowedEnvVars = [], plugin = null } = handler;
      const key = JSON.stringify([command, args, shell, allowedEnvVars, plugin]);
      const child = children.get(key) ?? new PersistentChild(handler, deps);
      children.set(key, child);
      return await child.ask(request);
    },
    async close() {
      isClosed = true;
      await Promise.all([...children.values()].map((child) => child.close()));
    },
  };
}
