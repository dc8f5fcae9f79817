import { expect } from 'vitest';
import type { Client, ClientOptions, ClientQuery, UserInput } from './client.js';
import { problemsOf } from './messages.js';
import { makeWorld, type World, type WorldOptions } from './world.js';

export type Frame = Readonly<Record<string, unknown>>;

export interface Played {
  readonly world: World;
  /** All that the client handed out, in order. */
  readonly frames: readonly Frame[];
  /** What it threw at the end. */
  readonly error: Error | undefined;
}

export interface PlayOptions extends WorldOptions {
  readonly prompt?: string | AsyncIterable<UserInput>;
  readonly options?: ClientOptions | ((world: World) => ClientOptions);
  /** Sees each message as it comes, with the query at hand. */
  readonly onFrame?: (frame: Frame, query: ClientQuery) => void | Promise<void>;
}

/** One query from start to end. What the client throws is part of what happened. */
export async function play(client: Client, options: PlayOptions = {}): Promise<Played> {
  const world = await makeWorld(options);
  const extra = typeof options.options === 'function' ? options.options(world) : options.options;
  let query: ClientQuery;
  try {
    query = client.query({
      prompt: options.prompt ?? 'go',
      options: client.options(world, extra),
    });
  } catch (thrown) {
    return { world, frames: [], error: asError(thrown) };
  }
  return { world, ...(await readAll(query, options.onFrame)) };
}

/** Reads a query to its end. */
export async function readAll(
  query: ClientQuery,
  onFrame: PlayOptions['onFrame'] = () => undefined,
): Promise<Pick<Played, 'frames' | 'error'>> {
  const frames: Frame[] = [];
  try {
    for await (const message of query) {
      const frame = message as unknown as Frame;
      frames.push(frame);
      expect(problemsOf(frame)).toEqual([]);
      await onFrame(frame, query);
    }
  } catch (thrown) {
    return { frames, error: asError(thrown) };
  } finally {
    query.close();
  }
  return { frames, error: undefined };
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Prompts that a test hands out one by one. */
export class Prompts implements AsyncIterable<UserInput> {
  readonly #waiting: UserInput[] = [];
  #wake: () => void = () => undefined;
  #ended = false;

  send(text: string, fields: Partial<UserInput> = {}): void {
    this.#waiting.push(userMessage(text, fields));
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserInput> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

export function userMessage(text: string, fields: Partial<UserInput> = {}): UserInput {
  return {
    type: 'user',
    message: { role: 'user', content: text },
    parent_tool_use_id: null,
    session_id: '',
    ...fields,
  };
}

/** Prompts that are all there at once, and then no more. */
export async function* allAtOnce(...texts: readonly string[]): AsyncGenerator<UserInput> {
  for (const text of texts) yield userMessage(text);
}

export interface Gate {
  readonly reached: Promise<void>;
  reach(): void;
}

/** Something that a test waits for. */
export function gate(): Gate {
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
}
