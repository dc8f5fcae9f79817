import { PortcullisError } from '../errors.js';
import { copyOptions } from './copy.js';
import { type OpenQuery, openQuery, textPrompt } from './query.js';
import type {
  McpServerStatus,
  Options,
  PermissionMode,
  PolicyReport,
  Query,
  RewindFilesResult,
  SDKControlInitializeResponse,
  SDKMessage,
  SDKResultMessage,
  SDKUserMessage,
} from './types/index.js';

/**
 * A conversation of several turns with one session: connect, ask, read the answer, ask again. What is not
 * offered here is offered by `session`.
 */
export class PortcullisClient implements AsyncDisposable {
  readonly #options: Options;
  #open: OpenQuery | undefined;

  constructor(options: Options = {}) {
    this.#options = copyOptions(options);
  }

  /** Opens the session, and asks if there is something to ask already. Rejects when it cannot be opened. */
  async connect(prompt?: string | AsyncIterable<SDKUserMessage>): Promise<void> {
    if (this.#open !== undefined) throw new PortcullisError('usage', 'connected already');
    const open = openQuery(this.#options);
    this.#open = open;
    try {
      await open.session.initialized();
    } catch (thrown) {
      await this.disconnect();
      throw thrown;
    }
    if (prompt !== undefined) await this.query(prompt);
  }

  /** Sends a prompt. While a turn runs it is taken into it, or becomes the next one. */
  async query(prompt: string | AsyncIterable<SDKUserMessage>): Promise<void> {
    const { query } = this.#connected();
    await query.streamInput(typeof prompt === 'string' ? only(textPrompt(prompt)) : prompt);
  }

  /** Everything that comes, until the session ends. Leaving the loop leaves the session open. */
  async *receiveMessages(): AsyncGenerator<SDKMessage, void> {
    const { query } = this.#connected();
    for (;;) {
      const next = await query.next();
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** What comes up to the end of one turn; its result is the last. */
  async *receiveResponse(): AsyncGenerator<SDKMessage, void> {
    for await (const message of this.receiveMessages()) {
      yield message;
      if (message.type === 'result') return;
    }
  }

  /** Asks and waits for the result, leaving out what comes before it. */
  async ask(prompt: string): Promise<SDKResultMessage> {
    await this.query(prompt);
    for await (const message of this.receiveResponse()) {
      if (message.type === 'result') return message;
    }
    throw new PortcullisError('session', 'the session ended without a result');
  }

  async interrupt(): Promise<void> {
    await this.session.interrupt();
  }

  async setPermissionMode(mode: PermissionMode): Promise<void> {
    await this.session.setPermissionMode(mode);
  }

  async setModel(model?: string): Promise<void> {
    await this.session.setModel(model);
  }

  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult> {
    return this.session.rewindFiles(userMessageId, options);
  }

  mcpServerStatus(): Promise<McpServerStatus[]> {
    return this.session.mcpServerStatus();
  }

  getServerInfo(): Promise<SDKControlInitializeResponse> {
    return this.session.initializationResult();
  }

  policy(): Promise<PolicyReport> {
    return this.session.policy();
  }

  /** The session with all its methods. */
  get session(): Query {
    return this.#connected().query;
  }

  /** Ends the session. Resolves when everything of it is closed. */
  async disconnect(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.session.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #connected(): OpenQuery {
    if (this.#open !== undefined) return this.#open;
    throw new PortcullisError('usage', 'not connected', { remedy: 'call connect() first' });
  }
}

async function* only(message: SDKUserMessage): AsyncGenerator<SDKUserMessage, void> {
  yield message;
}
