import type { SystemBlock, ToolDefinition } from './client.js';

const MAX_HEADS = 16;

interface HeadParts {
  readonly system: readonly SystemBlock[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: string;
}

interface Head extends HeadParts {
  readonly bytes: Uint8Array;
}

/**
 * The bytes before the messages (model, system, tools), remembered by the words of the system prompt,
 * which agents of one kind share, by the identity of the tools, and by `settings`, the text of
 * everything else they depend on.
 */
export class HeadCache {
  #heads: Head[] = [];
  /** By the list of tools that was given last: an agent gives the same lists turn after turn. */
  readonly #given = new WeakMap<readonly ToolDefinition[], Head>();

  bytes(parts: HeadParts, build: () => string): Uint8Array {
    const given = this.#given.get(parts.tools);
    if (given?.system === parts.system && given.settings === parts.settings) return given.bytes;
    const { bytes } = this.#find(parts) ?? this.#add(build(), parts);
    this.#given.set(parts.tools, { bytes, ...parts });
    return bytes;
  }

  #find(parts: HeadParts): Head | undefined {
    return this.#heads.find(
      (head) =>
        head.settings === parts.settings &&
        areSame(head.tools, parts.tools, isIdentical) &&
        areSame(head.system, parts.system, saysTheSame),
    );
  }

  #add(text: string, parts: HeadParts): Head {
    const head = { bytes: encodedOnce(text), ...parts };
    this.#heads = [head, ...this.#heads.slice(0, MAX_HEADS - 1)];
    return head;
  }
}

/**
 * The heads that were encoded last, whoever asked: the sessions of a process often begin alike, and
 * each would hold these bytes, the largest thing that a session has, once more. Nobody writes to them.
 */
const encoded = new Map<string, Uint8Array>();

function encodedOnce(text: string): Uint8Array {
  const known = encoded.get(text);
  if (known !== undefined) return known;
  const bytes = new TextEncoder().encode(text);
  encoded.set(text, bytes);
  for (const oldest of encoded.keys()) {
    if (encoded.size <= MAX_HEADS) break;
    encoded.delete(oldest);
  }
  return bytes;
}

function areSame<T>(
  a: readonly T[],
  b: readonly T[],
  isSame: (one: T, other: T) => boolean,
): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((element, index) => {
    const other = b[index];
    return other !== undefined && isSame(element, other);
  });
}

function isIdentical(one: ToolDefinition, other: ToolDefinition): boolean {
  return one === other;
}

function saysTheSame(one: SystemBlock, other: SystemBlock): boolean {
  return one === other || one.text === other.text;
}
