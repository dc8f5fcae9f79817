import type { ModelEvent } from './client.js';

/**
 * Events of which several may be there at once: a piece of a body brings more than one. A reader takes
 * those without waiting, so that only the first of a piece costs every layer on its way a promise.
 */
export interface ReadyEvents extends AsyncIterableIterator<ModelEvent> {
  /**
   * The next event, if it is there and nothing has to be done but to give it. Undefined: `next()` tells
   * how it goes on, as it does of failures and of an abort.
   */
  takeReady(): ModelEvent | undefined;
}

/** What is there already of any client's events: nothing, where it does not say. */
export function takeReady(events: AsyncIterator<ModelEvent>): ModelEvent | undefined {
  return 'takeReady' in events ? (events as ReadyEvents).takeReady() : undefined;
}

/** The end of events that have nothing left to close. */
export const OVER: IteratorReturnResult<undefined> = Object.freeze({
  value: undefined,
  done: true,
});
