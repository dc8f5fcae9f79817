/**
 * Sixteen hexadecimal digits that are others for another text, unless somebody has looked for two texts
 * that share them. For keys of caches, never for what somebody has agreed to. It needs no library.
 */
export function weakHash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  const { length } = text;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    high = imul(high ^ code, 0x9e3779b1);
    low = imul(low ^ code, 0x5f356495);
  }
  high = mixed(high, low);
  low = mixed(low, high);
  return digits(high) + digits(low);
}

const { imul } = Math;

function mixed(own: number, other: number): number {
  const first = imul(own ^ (own >>> 16), 0x85ebca6b);
  return first ^ imul(other ^ (other >>> 13), 0xc2b2ae35);
}

function digits(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
