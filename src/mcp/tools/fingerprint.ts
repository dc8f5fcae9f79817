import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import type { RawTool } from '../server.js';

/** Changes with anything in a tool's definition that a model or this runtime goes by. */
export function toolFingerprint(raw: RawTool): string {
  return sha256(canonicalJson(definingParts(raw)));
}

/** Of what a server says about the use of its tools, as the model would be shown it. */
export function wordsFingerprint(words: string): string {
  return sha256(words);
}

/** What is approved of a tool, and shown when it changes. */
export function definingParts(raw: RawTool): Readonly<Record<string, unknown>> {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = raw;
  const meta = Object.entries(isRecord(_meta) ? _meta : {}).filter(([key]) => isOurs(key));
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    ...(meta.length === 0 ? {} : { _meta: Object.fromEntries(meta) }),
  };
}

/** Servers put times and ids of their own there, which mean nothing to us. */
function isOurs(key: string): boolean {
  return key.startsWith('anthropic/');
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
