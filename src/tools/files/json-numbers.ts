/**
 * The first number in a JSON text that would be another one after parsing and writing it out: a whole
 * number too long for a double, or one beyond its range. Undefined: all of them survive.
 */
export function numberThatWouldChange(json: string): string | undefined {
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const end = quote === -1 ? json.length : quote;
    for (const [number] of json.slice(at, end).matchAll(/-?\d[\d.eE+-]*/g)) {
      if (!survives(number)) return number;
    }
    if (quote === -1) return undefined;
    at = behindString(json, quote);
  }
  return undefined;
}

function survives(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(number)) return true;
  return BigInt(number) === BigInt(value);
}

function behindString(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}
