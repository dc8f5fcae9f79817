import { messageOf, PortcullisError } from '../errors.js';
import type {
  AgentSession,
  Asker,
  HostCallbacks,
  InputMessage,
  LoopEvent,
  RunResult,
  SdkBridge,
  SessionNews,
} from '../harness.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import { LineSplitter, parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { createControl, type HostControl } from './control.js';
import { initFrame } from './frames.js';
import { resultFrame } from './result.js';
import { readUserMessage } from './user-message.js';
import type { Frame } from './wire.js';

export interface StreamServerDeps {
  readonly input: AsyncIterable<string>;
  /** Opens the session; called once the host's first line is there, so that `initialize` can shape it. */
  open(initialize: Readonly<Record<string, unknown>>, host: Host): Promise<AgentSession>;
  /** What a session tells, as frames. */
  frames(event: LoopEvent | SessionNews): readonly Frame[];
  write(frame: Frame): void;
  uuid(): string;
}

/** The other end of the wire, as a session sees it. */
export interface Host {
  readonly asker: Asker;
  readonly callbacks: HostCallbacks;
  readonly elicit: AskElicitation;
  /** The way to servers in the host's process. */
  mcpBridge(server: string): SdkBridge;
  /** Those of them that it named when it initialised, as entries. */
  mcpEntries(): Readonly<Record<string, unknown>>;
  emit(event: LoopEvent | SessionNews): void;
}

export interface StreamServerResult {
  readonly lastRun: RunResult | undefined;
  /** Set when the host sent what cannot be read: what came before it was still done. */
  readonly inputError: PortcullisError | undefined;
}

/**
 * One session spoken over JSON lines, both ways. Input that ends means "no more prompts", not
 * "stop": running and queued turns are finished first.
 */
export async function serveStream(deps: StreamServerDeps): Promise<StreamServerResult> {
  const queue: InputMessage[] = [];
  let wake: () => void = () => undefined;
  let ended = false;
  let inputError: PortcullisError | undefined;
  let session: Promise<AgentSession> | undefined;
  const { write, collect } = createOutlet(deps.write);
  const emit = (event: LoopEvent | SessionNews): void => {
    for (const frame of deps.frames(event)) write(frame);
  };
  const host: HostControl = createControl({
    write,
    collect,
    session: () => session,
    open: (initialize) => open(initialize),
    stillQueued: () => queue.map((message) => message.uuid),
  });
  const open = (initialize: Readonly<Record<string, unknown>>): Promise<AgentSession> => {
    if (session === undefined) {
      session = deps.open(initialize, {
        asker: host.ask,
        callbacks: host.callbacks,
        elicit: host.elicit,
        mcpBridge: host.sdkServers.bridge,
        mcpEntries: host.sdkServers.entries,
        emit,
      });
      // A refused start ends the program at once, also while the host keeps its side open.
      session.catch(() => wake());
    }
    return session;
  };

  const reading = readLines(deps.input, (line) => {
    const parsed = parseJson(line);
    if (!parsed.ok || !isRecord(parsed.value)) {
      throw new PortcullisError(
        'usage',
        `a line on standard input is not a JSON object: ${line.slice(0, 200)}`,
      );
    }
    const message = parsed.value;
    if (message.type === 'user') {
      queue.push(readUserMessage(message, deps.uuid));
      wake();
    } else {
      host.receive(message);
    }
  }).then(
    () => undefined,
    (thrown) => {
      inputError =
        thrown instanceof PortcullisError ? thrown : new PortcullisError('io', messageOf(thrown));
    },
  );
  const inputDone = reading.finally(() => {
    ended = true;
    host.close();
    wake();
  });

  let lastRun: RunResult | undefined;
  for (;;) {
    const background = (await settled(session))?.takeBackgroundInput() ?? [];
    const prompts = [...background, ...queue.splice(0)];
    if (prompts.length > 0) {
      lastRun = await runTurn(deps, await open({}), { prompts, queue });
      continue;
    }
    if (inputError !== undefined) break;
    const opened = await settled(session);
    // A line may have arrived during the wait above, when nobody could be woken.
    if (queue.length > 0) continue;
    if (ended && !(await opened?.waitForBackground())) break;
    if (ended) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
      opened?.onBackgroundInput(resolve);
    });
  }
  await inputDone;
  await (await settled(session))?.close();
  return { lastRun, inputError };
}

/** Lets frames out in order, or keeps them back for a moment. */
function createOutlet(write: (frame: Frame) => void): {
  write(frame: Frame): void;
  collect(work: () => void): readonly Frame[];
} {
  let held: Frame[] | undefined;
  return {
    write(frame) {
      if (held === undefined) write(frame);
      else held.push(frame);
    },
    collect(work) {
      const kept: Frame[] = [];
      held = kept;
      try {
        work();
      } finally {
        held = undefined;
      }
      return kept;
    },
  };
}

/** The session if it was opened; a failed start has been reported where it was awaited. */
async function settled(
  session: Promise<AgentSession> | undefined,
): Promise<AgentSession | undefined> {
  return session === undefined ? undefined : await session;
}

async function runTurn(
  deps: StreamServerDeps,
  session: AgentSession,
  turn: { prompts: readonly InputMessage[]; queue: InputMessage[] },
): Promise<RunResult> {
  session.news({ type: 'state', state: 'running' });
  deps.write(initFrame(session.info(), deps.uuid()));
  for (const prompts of await before(session)) {
    deps.write(resultFrame(await session.run(prompts), session.id, deps.uuid()));
  }
  const run = await session.run(turn.prompts, { takeInput: () => turn.queue.splice(0) });
  deps.write({
    ...resultFrame(run, session.id, deps.uuid()),
    ...(turn.queue.length === 0 ? {} : { queued_turn_count: turn.queue.length }),
  });
  session.news({ type: 'state', state: 'idle' });
  return run;
}

const begun = new WeakSet<AgentSession>();

/** What a session wants to run before its first prompt, once. */
async function before(session: AgentSession): Promise<Awaited<ReturnType<AgentSession['begin']>>> {
  if (begun.has(session)) return [];
  begun.add(session);
  return await session.begin();
}

async function readLines(
  input: AsyncIterable<string>,
  onLine: (line: string) => void,
): Promise<void> {
  const splitter = new LineSplitter();
  for await (const chunk of input) for (const line of splitter.push(chunk)) onLine(line);
  for (const line of splitter.end()) onLine(line);
}
