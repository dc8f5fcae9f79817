import { timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Envelope } from '../client/events.js';
import { ALL_QUESTIONS, connectClient, type LocalClient } from '../client/local-client.js';
import type { AnyAnswer, Question } from '../client/questions.js';
import type { CommandName, Commands } from '../client/session-client.js';
import type { TurnRunner } from '../client/turn-runner.js';
import { messageOf, PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { join, stateDirectory } from '../platform/fs/paths.js';
import { sha256 } from '../platform/hash.js';
import { hostFacts } from '../platform/host.js';
import { nodeProcesses } from '../platform/process/process-stamp.js';
import { isOtherRunByAgent } from '../platform/process/run-by-agent.js';
import { randomBytes } from '../platform/random.js';
import { hasOpenFile } from './connection-owner.js';
import { canWrite, readMessages, writeLine, writeMessage } from './json-lines.js';
import {
  type LiveSession,
  makeLiveDirectory,
  removeLive,
  removeStale,
  type SessionKind,
  writeLive,
} from './live-files.js';
import { MOST_OF_ONE, shorten } from './shorten.js';

interface SocketFacts {
  readonly kind: SessionKind;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Linux limits the length of socket paths. */
const LONGEST_SOCKET_PATH = 100;
const HELLO_MS = 5_000;

/**
 * Speaks the session interface to consoles of this user: JSON lines over a socket that is 0600 in a directory
 * that is 0700. A client names the token of the session and its process; an agent's process is refused.
 */
export async function openSessionSocket(
  runner: TurnRunner,
  { kind, cwd, env }: SocketFacts,
): Promise<{ close(): void }> {
  const directory = makeLiveDirectory(stateDirectory(env));
  removeStale(directory);
  const by = nodeProcesses.self();
  const key = `${by.pid}-${randomBytes(6).toString('hex')}`;
  const inside = join(directory, `${key}.sock`);
  let live: LiveSession = {
    v: 1,
    key,
    by,
    socket: inside.length > LONGEST_SOCKET_PATH ? join(shortDirectory(), 'sock') : inside,
    token: randomBytes(32).toString('hex'),
    kind,
    cwd,
    sessionId: runner.current?.id ?? '',
    startedAt: new Date().toISOString(),
  };
  const open = new Set<Connection>();
  const server = createServer((socket) => {
    const connection = new Connection(socket, { runner, live, directory });
    open.add(connection);
    socket.unref();
    socket.once('close', () => open.delete(connection));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(live.socket, resolve);
  });
  chmodSync(live.socket, 0o600);
  server.unref();
  writeLive(directory, live);
  atExit.add(remove);
  const stop = runner.log.subscribe(({ event }) => {
    if (event.type !== 'opened') return;
    live = { ...live, sessionId: event.info.sessionId, cwd: event.info.cwd };
    writeLive(directory, live);
  });
  function remove(): void {
    removeLive(directory, live);
  }
  return {
    close() {
      stop();
      server.close();
      for (const connection of open) connection.end();
      atExit.delete(remove);
      remove();
    },
  };
}

/** A directory for this user alone whose path is short enough for a socket. */
function shortDirectory(): string {
  return mkdtempSync(join(hostFacts().temporaryDirectory, 'portcullis-'));
}

/** One exit listener serves all sessions of the process. */
const atExit = new Set<() => void>();
process.once('exit', () => {
  for (const remove of atExit) remove();
});

/** The hash that an answer must name, so that it holds for no other question. */
function questionHash(question: Question): string {
  return sha256(JSON.stringify(['question 1', question]));
}

interface ConnectionFacts {
  readonly runner: TurnRunner;
  readonly live: LiveSession;
  readonly directory: string;
}

type Message = Readonly<Record<string, unknown>>;

/** The connection of one console. */
class Connection {
  readonly #socket: Socket;
  readonly #facts: ConnectionFacts;
  readonly #subscriptions = new Map<unknown, () => void>();
  /** The file that the client must open, and the process that it claims to be. */
  #proof: { readonly file: string; readonly pid: number } | undefined;
  #client: LocalClient | undefined;
  #last: { readonly envelope: Envelope; readonly text: string } | undefined;

  constructor(socket: Socket, facts: ConnectionFacts) {
    this.#socket = socket;
    this.#facts = facts;
    const timer = setTimeout(() => {
      if (this.#client === undefined) socket.destroy();
    }, HELLO_MS);
    timer.unref();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(timer);
      this.#leave();
    });
    readMessages(socket, (message) => {
      if (this.#client !== undefined) void this.#serve(this.#client, message);
      else if (this.#proof !== undefined) this.#prove(this.#proof);
      else this.#hello(message);
    });
  }

  end(): void {
    this.#socket.end();
  }

  #leave(): void {
    for (const stop of this.#subscriptions.values()) stop();
    if (this.#proof !== undefined) rmSync(this.#proof.file, { force: true });
    this.#client?.close();
  }

  #hello({ token, pid }: Message): void {
    const { live, directory } = this.#facts;
    // fail-closed: only processes that can read the file of the session know its token.
    if (typeof token !== 'string' || !sameText(token, live.token) || typeof pid !== 'number') {
      this.#refuse('the token is not that of the session');
      return;
    }
    const file = join(directory, `${live.key}-${randomBytes(12).toString('hex')}.proof`);
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
    this.#proof = { file, pid };
    writeMessage(this.#socket, { prove: file });
  }

  /** Checks that the client is the process that it claims to be, and not a process of an agent. */
  #prove({ file, pid }: { readonly file: string; readonly pid: number }): void {
    const isProven = hasOpenFile(pid, file);
    rmSync(file, { force: true });
    // Undefined where the system does not show the files of processes; the page says so.
    if (isProven === false) {
      this.#refuse('the process is not the one that it names');
      return;
    }
    if (isProven === true && pid !== process.pid && isOtherRunByAgent(pid)) {
      this.#refuse('a process of an agent cannot answer for people');
      return;
    }
    this.#client = connectClient(this.#facts.runner, { name: 'console', answers: ALL_QUESTIONS });
    writeMessage(this.#socket, { ready: 1 });
  }

  #refuse(refused: string): void {
    writeMessage(this.#socket, { refused });
    this.#socket.end();
  }

  async #serve(client: LocalClient, message: Message): Promise<void> {
    const { id } = message;
    try {
      const result = await this.#call(client, message);
      writeMessage(this.#socket, { id, result });
    } catch (thrown) {
      const { code, remedy } = thrown instanceof PortcullisError ? thrown : { code: 'internal' };
      writeMessage(this.#socket, { id, error: { code, message: messageOf(thrown), remedy } });
    }
  }

  async #call(client: LocalClient, message: Message): Promise<unknown> {
    switch (message.call) {
      case 'snapshot': {
        const { questions, ...snapshot } = await client.snapshot();
        return {
          ...(shorten(snapshot) as object),
          questions: questions.map((question) => ({ question, hash: questionHash(question) })),
        };
      }
      case 'events':
        return this.#subscribe(client, message);
      case 'stop':
        this.#subscriptions.get(message.of)?.();
        this.#subscriptions.delete(message.of);
        return null;
      case 'send': {
        const { name, params } = message;
        if (typeof name !== 'string' || !COMMANDS.has(name) || !isRecord(params)) {
          throw new PortcullisError('usage', `${String(name)} is not a command of a session`);
        }
        const sent = params as Commands[CommandName]['params'];
        return shorten(await client.send(name as CommandName, sent as never));
      }
      case 'answer':
        return await this.#answer(client, message);
      default:
        throw new PortcullisError('usage', `${String(message.call)} is not a call`);
    }
  }

  #subscribe(client: LocalClient, { id, after, deltas, types }: Message): null {
    if (typeof id !== 'number') throw new PortcullisError('usage', 'the call has no number');
    const stop = client.subscribe(
      (envelope) => {
        if (!isWanted(envelope.event, types)) return;
        if (canWrite(this.#socket))
          writeLine(this.#socket, `{"id":${id},"event":${this.#textOf(envelope)}}`);
        else this.#leave();
      },
      {
        ...(typeof after === 'number' && { after }),
        deltas: deltas === true,
      },
    );
    this.#subscriptions.set(id, stop);
    return null;
  }

  /** The JSON of an event; all subscriptions of the client share the text. */
  #textOf(envelope: Envelope): string {
    if (this.#last?.envelope === envelope) return this.#last.text;
    const whole = JSON.stringify(envelope);
    // A value whose JSON is short has no text to cut.
    const text = whole.length <= MOST_OF_ONE ? whole : JSON.stringify(shorten(envelope));
    this.#last = { envelope, text };
    return text;
  }

  async #answer(client: LocalClient, message: Message): Promise<'accepted' | 'closed'> {
    const { question: id, hash, answer, person } = message;
    const open = this.#facts.runner.questions.open.find((one) => one.id === id);
    if (open === undefined) return 'closed';
    // fail-closed: an answer holds only for the question that was shown.
    if (questionHash(open) !== hash) {
      throw new PortcullisError('usage', 'the question has changed since it was shown', {
        remedy: 'read it again, then answer',
      });
    }
    if (!isRecord(answer) || typeof person !== 'string') {
      throw new PortcullisError('usage', 'an answer names a person and what they said');
    }
    return client.answer(open.id, answer as AnyAnswer, { by: `console (${person})` });
  }
}

/** A client gets the types that it names; otherwise everything but parts of an answer without text. */
function isWanted(event: Envelope['event'], types: unknown): boolean {
  if (Array.isArray(types)) return types.includes(event.type);
  if (event.type === 'block') return false;
  if (event.type !== 'stream') return true;
  const { type } = event.event;
  return type === 'content_block_delta' || type === 'message_start';
}

const COMMANDS: ReadonlySet<string> = new Set<CommandName>([
  'prompt',
  'cancelPrompt',
  'interrupt',
  'command',
  'complete',
  'configure',
  'history',
  'task',
  'end',
]);

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(sha256(a)), Buffer.from(sha256(b))];
  return timingSafeEqual(left, right);
}
