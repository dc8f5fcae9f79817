/** How a key of a settings file is written down: its values, what it is for, and facts beside them. */
import { z } from 'zod';
import type { KeyFacts } from './setting-node.js';

export const FACTS = 'x-portcullis';

export function key<T extends z.ZodType>(schema: T, description: string, facts: KeyFacts = {}) {
  return schema.meta({ description, [FACTS]: facts }).optional();
}

export const text = () => z.string();
export const flag = () => z.boolean();
export const list = () => z.array(z.string());
export const count = (least: number, most?: number) =>
  most === undefined ? z.int().min(least) : z.int().min(least).max(most);
export const anything = () => z.unknown();
export const table = () => z.record(z.string(), z.unknown());

export const LATER = { status: 'later' } as const;
export const ELSEWHERE = { status: 'elsewhere' } as const;
export const COMMAND = { needsTrust: true, status: 'later' } as const;
export const FENCE_LATER = { restricts: true, status: 'later' } as const;
export const MANAGED_FENCE = { restricts: true, scope: 'managed', status: 'later' } as const;
