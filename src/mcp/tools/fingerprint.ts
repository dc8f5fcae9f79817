import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import type { RawTool } from '../server.js';

/** Hashes the parts of a definition that affect the model or this runtime. */
export function toolFingerprint(raw: RawTool): string {
  return sha256(canonicalJson(definingParts(raw)));
}

/** Hashes a server's instructions as shown to the model. */
export function wordsFingerprint(words: string): string {
  return sha256(words);
}

/** The parts of a definition that a person approves. */
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

/** Other `_meta` keys hold times and ids of the server. */
function isOurs(key: string): boolean {
  return key.startsWith('anthropic/');
}

/** Serialises with sorted keys, so equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
