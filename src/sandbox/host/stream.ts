/** A stream both ways, for those who only pass it on. */
export type { Duplex } from 'node:stream';
