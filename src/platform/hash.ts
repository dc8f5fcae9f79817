import { createHmac, hash } from 'node:crypto';

/** Hex digest. For telling contents apart, not for security. */
export function sha1(data: string | Uint8Array): string {
  return hash('sha1', data, 'hex');
}

/** Hex digest. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Hex digest that nobody can make, or try values against, without the key. */
export function keyedSha256(key: string, data: string): string {
  return createHmac('sha256', key).update(data).digest('hex');
}
