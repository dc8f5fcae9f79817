import { createHash } from 'node:crypto';

/** Hex digest. For telling contents apart, not for security. */
export function sha1(data: string | Uint8Array): string {
  return createHash('sha1').update(data).digest('hex');
}

/** Hex digest. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
