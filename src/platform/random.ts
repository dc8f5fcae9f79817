export { randomBytes, randomUUID as randomUuid } from 'node:crypto';
