import { createHash } from 'node:crypto';

/** Sixteen characters that stand for a recording without descriptions of tools and the steps of a decision, which change often. */
export function digest(lines) {
  return fullDigest(
    lines
      .filter((line) => !line.startsWith('  tool '))
      .map((line) => line.replace(/,"trace":\[.*\]/, '')),
  );
}

export function fullDigest(lines) {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}
