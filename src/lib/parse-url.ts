/**
 * Parses an address; undefined when it is none. `URL.canParse` is not used: in Node 20 it calls addresses with letters
 * such as "ü" invalid as soon as V8 has optimised the caller, so that a rule for such a host would stop to hold.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
