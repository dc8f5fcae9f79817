import type { IncomingMessage } from 'node:http';
import { messageOf, systemCodeOf } from '../errors.js';
import { own } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';

export interface BodyFailure {
  readonly reason: 'too_large' | 'bad_response';
  readonly message: string;
}

/** The bytes as they came. Rejects when the connection is cut before the announced end. */
export function readBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Result<Uint8Array, BodyFailure>> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const tooLarge = (): void => {
      resolve(err(tooLargeFailure(maxBytes, 'is')));
      response.destroy();
    };
    if (Number(response.headers['content-length']) > maxBytes) return tooLarge();
    response.on('data', (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > maxBytes) return tooLarge();
      chunks.push(chunk);
    });
    response.once('end', () => resolve(ok(Buffer.concat(chunks))));
    response.once('error', (thrown) => {
      const cut = systemCodeOf(thrown) === 'ECONNRESET';
      reject(cut ? new Error('the connection was cut before the answer was complete') : thrown);
    });
    return undefined;
  });
}

/** Undoes the content coding, expanding to at most `maxBytes`. */
export async function decodeBody(
  raw: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Result<Uint8Array, BodyFailure>> {
  const coding = (encoding ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '' || raw.byteLength === 0) return ok(raw);
  const zlib = await import('node:zlib');
  const expand: Readonly<Record<string, Expander>> = {
    gzip: zlib.gunzip,
    'x-gzip': zlib.gunzip,
    br: zlib.brotliDecompress,
    // Some servers send the bare stream without the two bytes of zlib header.
    deflate: ((raw[0] ?? 0) & 0x0f) === 8 ? zlib.inflate : zlib.inflateRaw,
  };
  const method = own(expand, coding);
  if (method === undefined) {
    return err({ reason: 'bad_response', message: `unknown content encoding "${coding}"` });
  }
  return new Promise((resolve) => {
    method(raw, { maxOutputLength: maxBytes }, (thrown, expanded) => {
      if (thrown === null) resolve(ok(expanded));
      else if (systemCodeOf(thrown) === 'ERR_BUFFER_TOO_LARGE') {
        resolve(err(tooLargeFailure(maxBytes, 'expands to')));
      } else {
        const message = `the ${coding} body is damaged or cut off (${messageOf(thrown)})`;
        resolve(err({ reason: 'bad_response', message }));
      }
    });
  });
}

type Expander = (
  raw: Uint8Array,
  options: { maxOutputLength: number },
  callback: (thrown: Error | null, expanded: Uint8Array) => void,
) => void;

function tooLargeFailure(maxBytes: number, verb: string): BodyFailure {
  const limit =
    maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / 1024 / 1024)} MB` : `${maxBytes} bytes`;
  return { reason: 'too_large', message: `the answer ${verb} more than ${limit}` };
}
