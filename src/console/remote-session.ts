import { closeSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Envelope } from '../client/events.js';
import type { AnyAnswer, Question } from '../client/questions.js';
import type { CommandName, Commands, SessionSnapshot } from '../client/session-client.js';
import { type ErrorCode, PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { dirname } from '../platform/fs/paths.js';
import { readMessages, writeMessage } from './json-lines.js';
import type { LiveSession } from './live-files.js';

/** A question and the hash that an answer must name. */
export interface BoundQuestion {
  readonly question: Question;
  readonly hash: string;
}

export type RemoteSnapshot = Omit<SessionSnapshot, 'questions'> & {
  readonly questions: readonly BoundQuestion[];
};

type Message = Readonly<Record<string, unknown>>;
type Listener = (envelope: Envelope) => void;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A session that pages follow and steer: one of this machine over its socket, or one of the fleet. */
export interface ConsoleSession {
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  snapshot(): Promise<Pick<SessionSnapshot, 'seq' | 'replayFrom'>>;
  /** Rejects where `after` is not among the events that are kept. Resolves to the end of the subscription. */
  subscribe(
    listener: (envelope: Envelope) => void,
    options: { readonly after: number; readonly deltas: boolean },
  ): (() => void) | Promise<() => void>;
  send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
  ): Promise<Commands[K]['result']>;
  /** `hash`: of what the person was shown; the answer holds for nothing else. */
  answer(
    id: string,
    answer: AnyAnswer,
    shown: { readonly hash: string; readonly person: string },
  ): Promise<'accepted' | 'closed'>;
}

/** A session of another process, over its socket. */
export class RemoteSession implements ConsoleSession {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<number, Listener>();
  #next = 1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => {
      for (const { reject } of this.#waiting.values()) reject(gone());
    });
  }

  /** Joins a session. Rejects where it has ended or refuses this process. */
  static connect(live: LiveSession, directory: string): Promise<RemoteSession> {
    return new Promise((resolve, reject) => {
      const socket = connect(live.socket);
      const session = new RemoteSession(socket);
      let proof: number | undefined;
      socket.once('error', reject);
      void session.closed.then(() => {
        if (proof !== undefined) closeSync(proof);
        reject(gone());
      });
      socket.once('connect', () => {
        writeMessage(socket, { token: live.token, pid: process.pid });
      });
      readMessages(socket, (message) => {
        if (typeof message.prove === 'string') {
          // fail-closed: a session can make this process open no file outside the directory of sessions.
          if (proof !== undefined || dirname(message.prove) !== directory) {
            socket.destroy();
            return;
          }
          proof = openSync(message.prove, 'r');
          writeMessage(socket, { proved: true });
        } else if (typeof message.refused === 'string') {
          reject(new PortcullisError('denied', message.refused));
        } else if (message.ready === 1) {
          if (proof !== undefined) closeSync(proof);
          proof = undefined;
          resolve(session);
        } else session.#receive(message);
      });
    });
  }

  async snapshot(): Promise<RemoteSnapshot> {
    return (await this.#call({ call: 'snapshot' })) as RemoteSnapshot;
  }

  async subscribe(
    listener: Listener,
    options: {
      readonly after: number;
      readonly deltas: boolean;
      /** Only events of these types. */
      readonly types?: readonly string[];
    },
  ): Promise<() => void> {
    const id = this.#next;
    this.#listeners.set(id, listener);
    await this.#call({ call: 'events', ...options });
    return () => {
      this.#listeners.delete(id);
      // A closed session sends no more events.
      this.#call({ call: 'stop', of: id }).catch(() => undefined);
    };
  }

  async send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
  ): Promise<Commands[K]['result']> {
    return (await this.#call({ call: 'send', name, params })) as Commands[K]['result'];
  }

  async answer(
    question: string,
    answer: AnyAnswer,
    shown: { readonly hash: string; readonly person: string },
  ): Promise<'accepted' | 'closed'> {
    const outcome = await this.#call({ call: 'answer', question, answer, ...shown });
    return outcome === 'accepted' ? 'accepted' : 'closed';
  }

  close(): void {
    this.#socket.destroy();
  }

  #call(message: Message): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (!writeMessage(this.#socket, { id, ...message })) {
        reject(gone());
        return;
      }
      this.#waiting.set(id, { resolve, reject });
    });
  }

  #receive({ id, event, result, error }: Message): void {
    if (typeof id !== 'number') return;
    if (isRecord(event)) {
      this.#listeners.get(id)?.(event as unknown as Envelope);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!isRecord(error)) {
      waiting?.resolve(result);
      return;
    }
    const { code, message, remedy } = error;
    const told = typeof remedy === 'string' ? { remedy } : {};
    waiting?.reject(new PortcullisError(code as ErrorCode, String(message), told));
  }
}

function gone(): PortcullisError {
  return new PortcullisError('session', 'the session has ended');
}
