import { randomUUID } from 'node:crypto';
import { readSessionOptions } from '../app.js';
import { PortcullisError } from '../errors.js';
import { sha256 } from '../platform/hash.js';
import type { Mail, SessionOrder } from './types.js';

/** Completes an order. fail-closed: one that no session could be opened with is refused where it is given. */
export function orderOf(given: Partial<SessionOrder>): SessionOrder {
  const order: SessionOrder = {
    id: randomUUID(),
    tenant: 'default',
    options: {},
    priority: 0,
    labels: [],
    idempotent: [],
    pinPolicy: false,
    askHours: 168,
    ...given,
    submittedAt: new Date().toISOString(),
  };
  const read = readSessionOptions(order.options);
  if (!read.ok) throw new PortcullisError('usage', read.error);
  if (!/^[\w.-]{1,64}$/.test(order.tenant)) {
    throw new PortcullisError('usage', `"${order.tenant}" is no name of a tenant`, {
      remedy: 'use letters, digits, dots, dashes and underscores',
    });
  }
  return order;
}

export function mailOf(text: string, more: Partial<Mail> = {}): Mail {
  const id = randomUUID();
  return { id, key: id, from: 'unknown', text, when: 'later', ...more };
}

/** The same text gives the same UUID. */
export function uuidFrom(text: string): string {
  const hex = sha256(text);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}
