/** How a key of a settings file is written down: its values, what it is for, and facts beside them. */
import { z } from 'zod';
import type { KeyFacts } from './setting-node.js';

export const FACTS = 'x-portcullis';

export function key<T extends z.ZodType>(schema: T, description: string, facts: KeyFacts = {}) {
  return schema.meta({ description, [FACTS]: facts }).optional();
}

export const count = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);
export const anything = z.unknown();

const keyWith =
  (facts: KeyFacts) =>
  <T extends z.ZodType>(schema: T, description: string, more: KeyFacts = {}) =>
    key(schema, description, { ...facts, ...more });

/** It holds something back. */
export const fence = keyWith({ restricts: true });
export const liveFence = keyWith({ restricts: true, live: true });
/** `true` of any source holds. */
export const strictFence = keyWith({ restricts: true, strict: true, strictest: true });
/** What a project says counts once it is trusted. */
export const trustedFence = keyWith({ restricts: true, needsTrust: true, live: true });
export const managed = keyWith({ restricts: true, scope: 'managed' });
/** It lets something through. */
export const grant = keyWith({ needsTrust: true, restricts: false });
/** A fault in it only warns, also inside of what holds something back. */
export const convenience = keyWith({ restricts: false });
export const trusted = keyWith({ needsTrust: true });
export const live = keyWith({ live: true });

export const later = keyWith({ status: 'later' });
export const elsewhere = keyWith({ status: 'elsewhere' });
export const command = keyWith({ needsTrust: true, status: 'later' });
export const grantLater = keyWith({ needsTrust: true, restricts: false, status: 'later' });
export const fenceLater = keyWith({ restricts: true, status: 'later' });
export const managedLater = keyWith({ restricts: true, scope: 'managed', status: 'later' });

/** Forbids a mode. */
export const disables = (description: string) =>
  fence(z.literal('disable'), description, { strict: 'disable', strictest: true, live: true });
