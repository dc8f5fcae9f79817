import { isRecord } from '../util/own.js';
import type { Frame } from './wire.js';

/** Our own requests to the host. */
export interface HostChannel {
  /** Resolves to what the host answered, undefined when that was nothing; rejects with its error. */
  request(body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  /** An answer of the host. One that comes late, or to nothing, is ignored. */
  settle(response: Readonly<Record<string, unknown>>): void;
  /** The requests of this kind that are still open, whole. */
  open(subtype: string): readonly Frame[];
  isOpen(): boolean;
  /** The host can answer nothing any more. */
  close(): void;
}

interface Waiting {
  readonly frame: Frame;
  resolve(answer: unknown): void;
  reject(reason: Error): void;
}

/** Every request is answered exactly once: by the host, by its withdrawal, or by the end of the channel. */
export function createHostChannel(write: (frame: Frame) => void): HostChannel {
  const waiting = new Map<string, Waiting>();
  let counter = 0;
  let closed = false;

  const request: HostChannel['request'] = (body, signal) => {
    // fail-closed: whoever waits for an answer that cannot come learns it at once.
    if (closed) return Promise.reject(new Error(CLOSED));
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const id = `portcullis-${++counter}`;
    const frame: Frame = { type: 'control_request', request_id: id, request: body };
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
      const one = waiting.get(String(response.request_id));
      if (one === undefined) return;
      if (response.subtype === 'success') one.resolve(response.response);
      else one.reject(new Error(String(response.error ?? 'no reason given')));
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

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('the question was withdrawn');
}
