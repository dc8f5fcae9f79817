import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { MetaLine, TranscriptEntry } from '../../protocol/transcript.js';
import type { LoadedSession, SessionFacts } from './store.js';

export type ParsedLine =
  | { readonly kind: 'entry'; readonly entry: TranscriptEntry }
  | { readonly kind: 'meta'; readonly line: MetaLine }
  /** An unknown kind of entry that is still part of the tree. */
  | { readonly kind: 'link'; readonly uuid: string; readonly parentUuid: string | null }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'blank' };

export function parseLine(line: string): ParsedLine {
  const text = withoutPadding(line);
  if (text === '') return { kind: 'blank' };
  const value = parseTolerant(text) ?? parseTolerant(afterTornStart(text));
  return value === undefined ? { kind: 'damaged' } : classifyLine(value);
}

/** Collects lines into a session: the first of equal uuids wins, the last of equal facts wins. */
export class SessionReader {
  readonly #entries: TranscriptEntry[] = [];
  readonly #seen = new Set<string>();
  readonly #links = new Map<string, string | null>();
  #damaged = 0;
  readonly #facts: { -readonly [Name in keyof SessionFacts]: SessionFacts[Name] } = {};

  add(parsed: ParsedLine): void {
    switch (parsed.kind) {
      case 'entry':
        // A line saved without its newline when the disk filled up appears twice.
        if (!this.#seen.has(parsed.entry.uuid)) this.#entries.push(parsed.entry);
        this.#seen.add(parsed.entry.uuid);
        return;
      case 'meta':
        if (parsed.line.type === 'custom-title') this.#facts.title = parsed.line.customTitle;
        if (parsed.line.type === 'last-prompt') this.#facts.lastPrompt = parsed.line.lastPrompt;
        if (parsed.line.type === 'agent-setting') this.#facts.agent = parsed.line.agentSetting;
        return;
      case 'link':
        this.#links.set(parsed.uuid, parsed.parentUuid);
        return;
      case 'damaged':
        this.#damaged++;
        return;
      case 'foreign':
      case 'blank':
        return;
    }
  }

  session(sessionId: string): LoadedSession {
    return {
      sessionId,
      entries: this.#entries,
      damagedLines: this.#damaged,
      links: this.#links,
      ...this.#facts,
    };
  }
}

/** One line of a transcript, of any kind. */
export type RawLine = Readonly<Record<string, unknown>>;

/** A session from its lines, as the stores return it. */
export function sessionOf(sessionId: string, lines: readonly RawLine[]): LoadedSession {
  const reader = new SessionReader();
  for (const line of lines) reader.add(classifyLine(line));
  return reader.session(sessionId);
}

/** Strips a byte order mark and the zero bytes that some file systems leave after a power cut. */
function withoutPadding(line: string): string {
  const first = line.charCodeAt(0);
  const padded = first === 0xfeff || first === 0;
  return (padded ? line.replace(/^[\u0000\ufeff]+/, '') : line).trim();
}

function parseTolerant(text: string | undefined): Record<string, unknown> | undefined {
  if (text?.charCodeAt(0) !== 0x7b) return undefined;
  const parsed = parseJson(text);
  if (parsed.ok) return isRecord(parsed.value) ? parsed.value : undefined;
  if (!text.includes('__proto__')) return undefined;
  return parseWithoutPrototypeKeys(text);
}

/** A prototype key is dropped without losing the message around it. */
function parseWithoutPrototypeKeys(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text, (key, inner) =>
      key === '__proto__' ? undefined : inner,
    );
    return isRecord(value) ? value : undefined;
  } catch {
    // Not JSON at all; the caller counts the line as damaged.
    return undefined;
  }
}

/**
 * Finds the whole line that another writer appended to a torn one: lines start in one of these ways,
 * and inside a string the quotes would be escaped.
 */
function afterTornStart(text: string): string | undefined {
  const start = Math.max(text.lastIndexOf('{"parentUuid":'), text.lastIndexOf('{"type":'));
  return start > 0 ? text.slice(start) : undefined;
}

/** Classifies a parsed line. */
function classifyLine(value: RawLine): ParsedLine {
  if (isMetaLine(value)) return { kind: 'meta', line: value };
  if (typeof value.uuid !== 'string') return { kind: 'foreign' };
  const parentUuid = typeof value.parentUuid === 'string' ? value.parentUuid : null;
  if (!isEntry(value)) return { kind: 'link', uuid: value.uuid, parentUuid };
  return { kind: 'entry', entry: value };
}

function isMetaLine(value: Record<string, unknown>): value is Record<string, unknown> & MetaLine {
  switch (value.type) {
    case 'custom-title':
      return typeof value.customTitle === 'string';
    case 'last-prompt':
      return typeof value.lastPrompt === 'string';
    case 'agent-setting':
      return typeof value.agentSetting === 'string';
    case 'summary':
      return typeof value.summary === 'string';
    case 'tag':
      return typeof value.tag === 'string';
    default:
      return false;
  }
}

/** Checks only the fields that reading depends on. */
function isEntry(
  value: Record<string, unknown>,
): value is Record<string, unknown> & TranscriptEntry {
  if (value.parentUuid !== null && typeof value.parentUuid !== 'string') return false;
  switch (value.type) {
    case 'user':
    case 'assistant':
      return isRecord(value.message) && isContent(value.message.content);
    case 'system':
      return typeof value.subtype === 'string';
    case 'attachment':
      return isRecord(value.attachment);
    default:
      return false;
  }
}

function isContent(content: unknown): boolean {
  if (typeof content === 'string') return true;
  return (
    Array.isArray(content) &&
    content.every((block) => isRecord(block) && typeof block.type === 'string')
  );
}
