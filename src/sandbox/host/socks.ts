import type { Duplex } from 'node:stream';
import type { Result } from '../../lib/result.js';
import type { DialFailure } from './dial.js';
import { type Target, targetOf } from './proxy-rules.js';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const NONE_FITS = 0xff;
const CONNECT = 1;
const REPLY = { done: 0, failed: 1, notAllowed: 2, unreachable: 4, badCommand: 7, badAddress: 8 };

/** Speaks SOCKS 5 until the target is known, and hands over the stream once it is reached. */
export async function serveSocks(
  connection: Duplex,
  dial: (target: Target) => Promise<Result<Duplex, DialFailure>>,
  join: (inside: Duplex, outside: Duplex) => void,
): Promise<void> {
  const [, methodCount = 0] = await take(connection, 2);
  const methods = await take(connection, methodCount);
  if (!methods.includes(NO_AUTHENTICATION)) {
    connection.end(Buffer.from([VERSION, NONE_FITS]));
    return;
  }
  connection.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [version, command, , kind = 0] = await take(connection, 4);
  const host = await readHost(connection, kind);
  const port = (await take(connection, 2)).readUInt16BE(0);
  const target = host === undefined ? undefined : targetOf(host, port);
  if (version !== VERSION || command !== CONNECT) return answer(connection, REPLY.badCommand);
  if (target === undefined) return answer(connection, REPLY.badAddress);
  const dialled = await dial(target);
  if (!dialled.ok) {
    const isRefused = dialled.error.kind === 'refused';
    return answer(connection, isRefused ? REPLY.notAllowed : REPLY.unreachable);
  }
  answer(connection, REPLY.done);
  join(connection, dialled.value);
}

async function readHost(connection: Duplex, kind: number): Promise<string | undefined> {
  if (kind === 1) return [...(await take(connection, 4))].join('.');
  if (kind === 3) {
    const [length = 0] = await take(connection, 1);
    return (await take(connection, length)).toString('latin1');
  }
  if (kind !== 4) return undefined;
  const bytes = await take(connection, 16);
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return groups.join(':');
}

function answer(connection: Duplex, reply: number): void {
  const bytes = Buffer.from([VERSION, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (reply === REPLY.done) connection.write(bytes);
  else connection.end(bytes);
}

/** Rejects when the stream ends before. */
function take(connection: Duplex, count: number): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const bytes: Buffer | null = connection.read(count);
      if (bytes === null) return;
      done();
      if (bytes.length < count) reject(new Error('cut off'));
      else resolve(bytes);
    };
    const cut = (): void => {
      done();
      reject(new Error('cut off'));
    };
    const done = (): void => {
      connection.off('readable', look);
      connection.off('end', cut);
      connection.off('close', cut);
    };
    connection.on('readable', look);
    connection.once('end', cut);
    connection.once('close', cut);
    look();
  });
}
