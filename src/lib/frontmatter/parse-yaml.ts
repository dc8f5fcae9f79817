import { trimEnd } from '../text/trim-end.js';

/** A reader of YAML without aliases, tags and merge keys. Throws for what is not YAML. */
export type ParseYaml = (text: string) => unknown | Promise<unknown>;

/** More than any head needs, and little enough that no text takes long. */
export const MOST_YAML = 16 * 1024;

/** YAML as data and nothing else: no aliases, no tags, no merge keys, no key twice. */
export const parseYaml: ParseYaml = async (text) => {
  // fail-closed: what is not read grants nothing, and its restrictions are known to be unclear.
  if (text.length > MOST_YAML) throw new Error(`it has more than ${MOST_YAML} characters`);
  const plain = parsePlainLines(text);
  if (plain !== undefined) return plain;
  const { parseDocument } = await import('./yaml-library.js');
  // Its own check for duplicate keys compares each pair of keys.
  const document = parseDocument(text, { schema: 'core', merge: false, uniqueKeys: false });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw problem;
  refuseTwins(document.contents);
  return document.toJS({ maxAliasCount: 0 }) as unknown;
};

/** `key: words` in one line: a text for YAML, too, since it begins with a letter and holds no mark. */
const PLAIN_LINE =
  /^([A-Za-z][\w-]*): +([A-Za-z](?:[!-9;-~\u00a1-\u2027\u202a-\ud7ff]|:(?! |$)| (?!#))*)$/;
const NOT_A_TEXT = /^(?:null|true|false)\s*$/i;

/**
 * A head of nothing but one-line texts, as most have; undefined for every other. The library takes about
 * 0.2 ms for each: a quarter of what 200 skills and 100 agents add to a start.
 */
function parsePlainLines(text: string): Record<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, key = '', value = ''] = PLAIN_LINE.exec(line) ?? [];
    if (value === '' || NOT_A_TEXT.test(value) || NOT_A_TEXT.test(key) || fields.has(key)) {
      return undefined;
    }
    fields.set(key, trimEnd(value, ' '));
  }
  return fields.size === 0 ? undefined : Object.fromEntries(fields);
}

/** Throws for a map with a key twice, or with one that is no plain value. */
function refuseTwins(node: unknown): void {
  if (!isNode(node) || !Array.isArray(node.items)) return;
  const keys = new Set<string>();
  for (const item of node.items as readonly unknown[]) {
    if (!isPair(item)) {
      refuseTwins(item);
      continue;
    }
    const { key } = item;
    const value = isNode(key) ? key.value : key;
    const isPlain = !(isNode(key) && 'items' in key) && !isNode(value);
    if (!isPlain) throw new Error('a key is no plain value');
    const name = String(value);
    // fail-closed: of two values of one key, neither is known to be meant.
    if (keys.has(name)) throw new Error(`"${name.slice(0, 80)}" occurs twice`);
    keys.add(name);
    refuseTwins(item.value);
  }
}

type Part = Readonly<Record<string, unknown>>;

/** The library gives objects of its own classes. */
function isNode(value: unknown): value is Part {
  return typeof value === 'object' && value !== null;
}

function isPair(value: unknown): value is Part {
  return isNode(value) && 'key' in value && 'value' in value;
}

/** The same for many texts that may not take more than so much together; `begin` counts anew. */
export function yamlWithin(most: number): { readonly parse: ParseYaml; begin(): void } {
  let left = most;
  return {
    begin() {
      left = most;
    },
    parse(text) {
      left -= text.length;
      // fail-closed: a head that is not read grants nothing.
      if (left < 0) throw new Error('all heads together are more than is read');
      return parseYaml(text);
    },
  };
}
