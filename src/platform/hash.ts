import { createHmac, hash } from 'node:crypto';

/** Hex digest. For telling contents apart, not for security. */
export function sha1(data: string | Uint8Array): string {
  return hash('sha1', data, 'hex');
}

/** Hex digest. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Hex digest that cannot be made, nor values tried against it, without the key. */
export function keyedSha256(key: string, data: string): string {
  return createHmac('sha256', key).update(data).digest('hex');
}
