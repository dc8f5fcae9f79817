import { cryptography } from './builtins.js';

/** Hex digest. For telling contents apart, not for security. */
export function sha1(data: string | Uint8Array): string {
  return cryptography().hash('sha1', data, 'hex');
}

/** Hex digest. */
export function sha256(data: string | Uint8Array): string {
  return cryptography().hash('sha256', data, 'hex');
}
