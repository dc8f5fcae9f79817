/** Unpredictable bytes and UUIDs, for areas that may not import Node's modules. */
export { randomBytes, randomUUID as randomUuid } from 'node:crypto';
