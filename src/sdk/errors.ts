import { PortcullisError } from '../errors.js';
import type { SDKResultMessage } from './types/index.js';

/** The program itself ended the session. */
export class AbortError extends PortcullisError {
  constructor(message = 'the session was aborted') {
    super('aborted', message);
    this.name = 'AbortError';
  }
}

/** The last turn of a session ended badly. Thrown after its result has been handed over. */
export class ResultError extends PortcullisError {
  readonly result: SDKResultMessage;

  constructor(result: SDKResultMessage) {
    super('session', `the session ended with an error: ${wordsOf(result)}`);
    this.name = 'ResultError';
    this.result = result;
  }
}

function wordsOf(result: SDKResultMessage): string {
  return result.subtype === 'success' ? result.result : result.errors.join('; ') || result.subtype;
}
