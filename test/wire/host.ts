import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import { type HostServing, type ServeResult, serveHost } from '../../src/server/serve-host.js';
import type { Frame } from '../../src/server/wire.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

type Message = Readonly<Record<string, unknown>>;

export interface WireOptions {
  readonly script?: readonly (Reply | ReplyFunction)[];
  readonly files?: ProjectFiles;
  readonly config?: Partial<HostServing['config']>;
  readonly messages?: Partial<HostServing['messages']>;
  readonly asksHost?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly serving?: Partial<HostServing>;
  /** Answers the requests of the session; undefined: no answer at all. */
  readonly answer?: (request: Message) => unknown;
}

/** A host in this process at the other end of the wire. */
export interface WireTest {
  readonly project: TempProject;
  readonly model: FakeModelServer;
  readonly frames: Frame[];
  send(message: unknown): void;
  prompt(text: string, fields?: object): void;
  /** Sends a control request; what the answer holds. */
  request(body: object): Promise<Message>;
  /** The next frame after the one found last for which it holds. */
  next(holds: (frame: Frame) => boolean): Promise<Frame>;
  end(): void;
  readonly served: Promise<ServeResult>;
}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

export async function wire(options: WireOptions = {}): Promise<WireTest> {
  const project = makeTempProject(options.files === undefined ? {} : { files: options.files });
  const model = await startFakeModelServer({ script: options.script ?? [] });
  const inbound = createInbound();
  const frames: Frame[] = [];
  const abort = new AbortController();
  const wake: (() => void)[] = [];
  let cursor = 0;
  let count = 0;
  let over = false;
  const notify = (): void => {
    for (const one of wake.splice(0)) one();
  };
  const more = (what: string): Promise<void> => {
    if (over) throw new Error(`the session is over; awaited: ${what}`);
    return new Promise((resolve) => wake.push(resolve));
  };
  const answer = async (frame: Frame): Promise<void> => {
    const made = await options.answer?.(frame.request as Message);
    if (made === undefined) return;
    const response = { subtype: 'success', request_id: frame.request_id, response: made };
    inbound.push({ type: 'control_response', response });
  };
  const served = serveHost({
    config: {
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        TMPDIR: project.root,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_MAX_RETRIES: '1',
        ...options.env,
      },
      entrypoint: 'test',
      start: { kind: 'new', id: undefined },
      fork: false,
      persist: true,
      trust: true,
      ...options.config,
    },
    messages: {
      partialMessages: false,
      replayPrompts: false,
      stateChanges: false,
      decisions: false,
      hookEvents: false,
      ...options.messages,
    },
    asksHost: options.asksHost === true,
    input: inbound.messages,
    write(frame) {
      frames.push(frame);
      if (frame.type === 'control_request') void answer(frame);
      notify();
    },
    uuid: randomUUID,
    signal: abort.signal,
    ...options.serving,
  });
  const ended = served.then(
    () => undefined,
    () => undefined,
  );
  void ended.then(() => {
    over = true;
    notify();
  });
  open.push({
    async close() {
      inbound.end();
      abort.abort();
      await ended;
      await model.close();
      project.remove();
    },
  });
  return {
    project,
    model,
    frames,
    served,
    send: inbound.push,
    prompt: (text, fields = {}) =>
      inbound.push({ type: 'user', message: { role: 'user', content: text }, ...fields }),
    async request(body) {
      const id = `host-${++count}`;
      inbound.push({ type: 'control_request', request_id: id, request: body });
      for (;;) {
        for (const { response } of frames) {
          const given = response as Message | undefined;
          if (given?.request_id === id) return given;
        }
        await more(`the answer to ${JSON.stringify(body)}`);
      }
    },
    async next(holds) {
      for (;;) {
        while (cursor < frames.length) {
          const frame = frames[cursor++];
          if (frame !== undefined && holds(frame)) return frame;
        }
        await more(String(holds));
      }
    },
    end: inbound.end,
  };
}

function createInbound() {
  const waiting: unknown[] = [];
  let wake: () => void = () => undefined;
  let ended = false;
  return {
    push(message: unknown): void {
      waiting.push(message);
      wake();
    },
    end(): void {
      ended = true;
      wake();
    },
    messages: (async function* () {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift() as Message;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    })(),
  };
}

export const isResult = (frame: Frame): boolean => frame.type === 'result';

/** What a frame is, in one word. */
export function kindOf(frame: Frame): string {
  const { type, subtype, state, status } = frame;
  return [type, subtype, state, status].filter((part) => typeof part === 'string').join('/');
}
