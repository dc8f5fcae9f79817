import type { CallRequest, ListKind, ServerDeclaration, ServerStatus } from '../server.js';
import type { ClientConnection } from './deps.js';

/**
 * A connection that is made when somebody first wants something of the server. Most sessions begin with
 * servers that they never speak to, and what speaks to them takes its time to load.
 */
export function lazyConnection(
  declaration: ServerDeclaration,
  make: () => Promise<ClientConnection>,
): ClientConnection {
  return new LazyConnection(declaration, make);
}

type Listener = (change: ListKind | 'state') => void;

/** A class, as there is one for every server at every start. */
class LazyConnection implements ClientConnection {
  readonly declaration: ServerDeclaration;
  readonly #make: () => Promise<ClientConnection>;
  readonly #listeners: Listener[] = [];
  #making: Promise<ClientConnection> | undefined;
  #made: ClientConnection | undefined;
  #closed = false;

  constructor(declaration: ServerDeclaration, make: () => Promise<ClientConnection>) {
    this.declaration = declaration;
    this.#make = make;
  }

  status(): ServerStatus {
    const { name, scope, entry } = this.declaration;
    return (
      this.#made?.status() ?? { name, scope, transport: entry?.type ?? 'unknown', state: 'pending' }
    );
  }

  async connect() {
    return (await this.#real()).connect();
  }

  async reconnect() {
    return (await this.#real()).reconnect();
  }

  async listTools() {
    return (await this.#real()).listTools();
  }

  async listResources() {
    return (await this.#real()).listResources();
  }

  async listPrompts() {
    return (await this.#real()).listPrompts();
  }

  async call(request: CallRequest, signal: AbortSignal) {
    return (await this.#real()).call(request, signal);
  }

  async readResource(uri: string, signal: AbortSignal) {
    return (await this.#real()).readResource(uri, signal);
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal) {
    return (await this.#real()).getPrompt(name, args, signal);
  }

  onChange(listener: Listener): void {
    if (this.#made === undefined) this.#listeners.push(listener);
    else this.#made.onChange(listener);
  }

  async rootsChanged(): Promise<void> {
    await this.#made?.rootsChanged();
  }

  stderr(): string {
    return this.#made?.stderr() ?? '';
  }

  async close(): Promise<void> {
    this.#closed = true;
    // The failed connection is reported to its caller; there is nothing to close.
    await (await this.#making?.catch(() => undefined))?.close();
  }

  #real(): Promise<ClientConnection> {
    this.#making ??= this.#open().catch((thrown: unknown) => {
      // The next one who needs it tries again.
      this.#making = undefined;
      throw thrown;
    });
    return this.#making;
  }

  async #open(): Promise<ClientConnection> {
    const connection = await this.#make();
    for (const listener of this.#listeners) connection.onChange(listener);
    this.#made = connection;
    // fail-closed: who was closed before it was made is closed for good; what it says then is its own.
    if (this.#closed) await connection.close();
    return connection;
  }
}
