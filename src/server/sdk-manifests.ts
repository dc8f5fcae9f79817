import { isRecord, own } from '../util/own.js';

type Message = Readonly<Record<string, unknown>>;

/** What a host has asked its own server before it told us of it. */
export interface Manifest {
  readonly greeting: Message & { readonly protocolVersion: string };
  /** Whole; undefined when it has to be asked for. */
  readonly tools: Message | undefined;
}

/** The version that our client greets servers of a host with. */
const SPOKEN = '2025-11-25';

type Reported = 'parked' | 'malformed' | 'protocol_version_mismatch' | 'not_honoured';

/** What of it can be used, and what a host is told about each. */
export function readManifests(
  value: unknown,
  names: readonly string[],
): {
  readonly manifests: ReadonlyMap<string, Manifest>;
  readonly report: Readonly<Record<string, Reported>>;
} {
  const manifests = new Map<string, Manifest>();
  if (!isRecord(value)) return { manifests, report: {} };
  const report = Object.keys(value).map((name): [string, Reported] => {
    if (!names.includes(name)) return [name, 'not_honoured'];
    const read = readManifest(own(value, name));
    if (typeof read === 'string') return [name, read];
    manifests.set(name, read);
    return [name, 'parked'];
  });
  return { manifests, report: Object.fromEntries(report) };
}

function readManifest(value: unknown): Manifest | Reported {
  if (!isRecord(value) || !isRecord(value.initializeResult)) return 'malformed';
  const { initializeResult: greeting, toolsListResult: listed } = value;
  const { protocolVersion } = greeting;
  if (typeof protocolVersion !== 'string') return 'malformed';
  if (!isRecord(greeting.serverInfo) || !isRecord(greeting.capabilities)) return 'malformed';
  if (protocolVersion !== SPOKEN) return 'protocol_version_mismatch';
  if (listed !== undefined && listed !== null) {
    if (!isRecord(listed) || !Array.isArray(listed.tools)) return 'malformed';
  }
  // A list of several pages is asked for anew: the host has sent the first.
  const isWhole = isRecord(listed) && typeof listed.nextCursor !== 'string';
  return { greeting: { ...greeting, protocolVersion }, tools: isWhole ? listed : undefined };
}
