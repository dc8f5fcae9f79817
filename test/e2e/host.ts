import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { run } from './worlds.js';

export type Frame = Readonly<Record<string, unknown>>;

/** The program that drives ours over JSON lines, as an SDK does. */
export interface Host {
  readonly pid: number;
  /** The next frame, after the one that was found last, for which it holds. */
  next(holds: (frame: Frame) => boolean): Promise<Frame>;
  prompt(text: string, fields?: object): void;
  send(message: unknown): void;
  /** Sends a control request and waits for its answer, wherever it stands in the stream. */
  request(body: object): Promise<Frame>;
  /** Answers a control request of the program. */
  answer(request: Frame, response: object): void;
  /** No more input. */
  end(): void;
}

/** Starts the program with JSON lines both ways and lets `play` talk to it. */
export async function drive(
  scenario: Scenario,
  play: (host: Host) => Promise<void>,
  program: typeof run = run,
): Promise<ScenarioRun> {
  const talk = new Talk();
  let failed: { readonly thrown: unknown } | undefined;
  let talking: Promise<void> = Promise.resolve();
  const ended = program({
    ...scenario,
    stdin: [],
    onStart(program) {
      program.onLine((line) => talk.receive(JSON.parse(line) as Frame));
      const host = hostOf(talk, program);
      talking = play(host).catch((thrown: unknown) => {
        failed = { thrown };
        program.kill('SIGKILL');
      });
    },
  });
  const done = await ended;
  talk.close(`the program ended (${done.exitCode ?? done.signal}): ${done.stderr}`);
  await talking;
  if (failed !== undefined) throw failed.thrown;
  return done;
}

type Program = Parameters<NonNullable<Scenario['onStart']>>[0];

function hostOf(talk: Talk, program: Program): Host {
  let count = 0;
  return {
    pid: program.pid,
    next: (holds) => talk.next(holds),
    prompt: (text, fields = {}) =>
      program.write({ type: 'user', message: { role: 'user', content: text }, ...fields }),
    send: (message) => program.write(message),
    request(body) {
      const id = `host-${++count}`;
      program.write({ type: 'control_request', request_id: id, request: body });
      return talk.response(id);
    },
    answer: (request, response) =>
      program.write({
        type: 'control_response',
        response: { subtype: 'success', request_id: request.request_id, response },
      }),
    end: () => program.end(),
  };
}

class Talk {
  readonly #frames: Frame[] = [];
  #cursor = 0;
  #wake: (() => void)[] = [];
  #closed: string | undefined;

  receive(frame: Frame): void {
    this.#frames.push(frame);
    this.#notify();
  }

  close(why: string): void {
    this.#closed = why;
    this.#notify();
  }

  async next(holds: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      while (this.#cursor < this.#frames.length) {
        const frame = this.#frames[this.#cursor++];
        if (frame !== undefined && holds(frame)) return frame;
      }
      await this.#more(String(holds));
    }
  }

  async response(id: string): Promise<Frame> {
    for (;;) {
      for (const frame of this.#frames) {
        const response = frame.response as Frame | undefined;
        if (frame.type === 'control_response' && response?.request_id === id) return response;
      }
      await this.#more(`the answer to ${id}`);
    }
  }

  async #more(awaited: string): Promise<void> {
    if (this.#closed !== undefined) throw new Error(`${this.#closed}; awaited: ${awaited}`);
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

export const isResult = (frame: Frame): boolean => frame.type === 'result';
export const isAssistant = (frame: Frame): boolean => frame.type === 'assistant';
/** A question of the program. */
export const isQuestion = (frame: Frame): boolean => frame.type === 'control_request';

/** What a frame is, in one word: `system/init`, `assistant`, `control_response`. */
export function kindOf(frame: Frame): string {
  return [frame.type, frame.subtype].filter((part) => part !== undefined).join('/');
}
