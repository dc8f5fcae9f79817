import { HostNotAsked } from '../app.js';
import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import type { Frame } from './wire.js';

/** Our own requests to the host. */
export interface HostChannel {
  /**
   * Resolves to what the host answered, undefined when that was nothing; rejects with its error, and with
   * `HostNotAsked` where it could not be shown all of the question.
   */
  request(body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  /** The requests of this kind that are still open, whole. */
  open(subtype: string): readonly Frame[];
  isOpen(): boolean;
  /** The host can answer nothing any more. */
  close(): void;
}

/** Requests that go to the host as frames. */
export interface WireChannel extends HostChannel {
  /** An answer of the host. One that comes late, or to nothing, is ignored. False: it names no question. */
  settle(response: Readonly<Record<string, unknown>>): boolean;
}

interface Waiting {
  readonly frame: Frame;
  resolve(answer: unknown): void;
  reject(reason: Error): void;
}

/** Every request is answered exactly once: by the host, by its withdrawal, or by the end of the channel. */
export function createHostChannel(
  write: (frame: Frame) => void,
  /** Why the host cannot be given a frame whole; undefined when it can. */
  tooLong: (frame: Frame) => string | undefined = () => undefined,
): WireChannel {
  const waiting = new Map<string, Waiting>();
  let counter = 0;
  let closed = false;

  const request: HostChannel['request'] = (body, signal) => {
    // fail-closed: a request that cannot be answered any more fails at once.
    if (closed) return Promise.reject(new Error(CLOSED));
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const id = `portcullis-${++counter}`;
    const frame: Frame = { type: 'control_request', request_id: id, request: body };
    const problem = problemOf(frame, tooLong);
    // fail-closed: who sees a part of it would answer for the whole.
    if (problem !== undefined) return Promise.reject(new HostNotAsked(`${NOT_ASKED}: ${problem}`));
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        waiting.delete(id);
        write({ type: 'control_cancel_request', request_id: id });
        reject(reasonOf(signal));
      };
      const done = <T>(finish: (value: T) => void): ((value: T) => void) => {
        return (value) => {
          waiting.delete(id);
          signal.removeEventListener('abort', withdraw);
          finish(value);
        };
      };
      waiting.set(id, { frame, resolve: done(resolve), reject: done(reject) });
      signal.addEventListener('abort', withdraw, { once: true });
      write(frame);
    });
  };

  return {
    request,
    settle(response) {
      const { request_id: id, error } = response;
      if (typeof id !== 'string') return false;
      const one = waiting.get(id);
      if (response.subtype === 'success') one?.resolve(response.response);
      else one?.reject(new Error(typeof error === 'string' ? error : 'no reason given'));
      return true;
    },
    open: (subtype) =>
      [...waiting.values()]
        .map(({ frame }) => frame)
        .filter((frame) => isRecord(frame.request) && frame.request.subtype === subtype),
    isOpen: () => !closed,
    close() {
      closed = true;
      for (const one of [...waiting.values()]) one.reject(new Error(CLOSED));
    },
  };
}

const CLOSED = 'the host has closed its end and cannot answer';
const NOT_ASKED = 'the host was not asked, as it cannot be shown all of it';

function problemOf(
  frame: Frame,
  tooLong: (frame: Frame) => string | undefined,
): string | undefined {
  try {
    return tooLong(frame);
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('the question was withdrawn');
}
