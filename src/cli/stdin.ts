import { fstatSync, readFileSync } from 'node:fs';
import { PortcullisError } from '../errors.js';
import type { HostProcess } from './output.js';

/** More than this is not a prompt. */
const MAX_PIPED_BYTES = 10 * 1024 * 1024;
/** How long a silent pipe is waited for when there is a prompt already. */
const FIRST_BYTE_MS = 3_000;

/**
 * What was piped in, or undefined when nothing is: a terminal, /dev/null, a closed descriptor.
 * `optional`: there is a prompt already, so a pipe that stays silent is not waited for for ever.
 */
export async function readPiped(
  host: Pick<HostProcess, 'stdin'>,
  options: { optional: boolean; warn(text: string): void },
): Promise<string | undefined> {
  const kind = host === process ? kindOfStdin() : 'stream';
  if (kind === 'none') return undefined;
  if (kind === 'file') return decode([readFileSync(0)]);
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise((resolve, reject) => {
    const { stdin } = host;
    const giveUp = options.optional
      ? setTimeout(() => {
          options.warn(
            `nothing arrived on standard input for ${FIRST_BYTE_MS / 1000} s; going on without it (close it with < /dev/null)`,
          );
          stop();
          resolve(undefined);
        }, FIRST_BYTE_MS)
      : undefined;
    const onData = (chunk: Buffer): void => {
      clearTimeout(giveUp);
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_PIPED_BYTES) return;
      stop();
      reject(tooMuch());
    };
    const onEnd = (): void => {
      stop();
      resolve(size === 0 ? undefined : decode(chunks));
    };
    const stop = (): void => {
      clearTimeout(giveUp);
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      stdin.off('error', onEnd);
      stdin.pause();
    };
    stdin.on('data', onData);
    stdin.on('end', onEnd);
    stdin.on('error', onEnd);
  });
}

function kindOfStdin(): 'none' | 'file' | 'stream' {
  try {
    const stat = fstatSync(0);
    if (stat.isFile()) {
      if (stat.size > MAX_PIPED_BYTES) throw tooMuch();
      return stat.size === 0 ? 'none' : 'file';
    }
    return stat.isFIFO() || stat.isSocket() ? 'stream' : 'none';
  } catch (thrown) {
    if (thrown instanceof PortcullisError) throw thrown;
    // A closed standard input has nothing to read.
    return 'none';
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  return new TextDecoder('utf-8').decode(Buffer.concat(chunks));
}

function tooMuch(): PortcullisError {
  return new PortcullisError(
    'usage',
    `more than ${MAX_PIPED_BYTES / 1024 / 1024} MB arrived on standard input`,
    {
      remedy: 'put it in a file and name the file in the prompt',
    },
  );
}
