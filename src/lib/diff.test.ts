import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PatchHunk, structuredPatch } from './diff.js';

describe('structuredPatch', () => {
  it('gives nothing for equal texts', () => {
    expect(structuredPatch('a\nb\n', 'a\nb\n')).toEqual([]);
  });

  it('shows a change with three lines around it', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
    expect(structuredPatch(before, before.replace('five', 'FIVE'))).toEqual([
      {
        oldStart: 2,
        oldLines: 7,
        newStart: 2,
        newLines: 7,
        lines: [' two', ' three', ' four', '-five', '+FIVE', ' six', ' seven', ' eight'],
      },
    ]);
  });

  it('makes two hunks of changes that are far apart, one of those that are near', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const before = lines.join('\n');
    const far = before.replace('line 2\n', 'x\n').replace('line 30\n', 'y\n');
    expect(structuredPatch(before, far).map((hunk) => hunk.oldStart)).toEqual([1, 28]);
    const near = before.replace('line 2\n', 'x\n').replace('line 8\n', 'y\n');
    expect(structuredPatch(before, near)).toHaveLength(1);
  });

  it('marks a missing line end', () => {
    expect(structuredPatch('a', 'a\n')[0]?.lines).toEqual([
      '-a',
      '\\ No newline at end of file',
      '+a',
    ]);
  });

  it('gives up the search for the shortest script on very different texts, and stays right', () => {
    const before = Array.from({ length: 3000 }, (_, index) => `a${index}\n`).join('');
    const after = Array.from({ length: 3000 }, (_, index) => `b${index}\n`).join('');
    expect(applied(before, structuredPatch(before, after))).toBe(after);
  });

  it('always leads from the old text to the new one', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'a\r', ''), { maxLength: 30 })
      .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        expect(applied(before, structuredPatch(before, after, { context }))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });
});

/** Applies a patch the way a patch program does, checking every line it passes. */
function applied(before: string, hunks: readonly PatchHunk[]): string {
  const old = before.split(/(?<=\n)/).filter((line) => line !== '');
  let result = '';
  let at = 0;
  for (const hunk of hunks) {
    while (at < hunk.oldStart - 1) result += old[at++];
    for (const [index, line] of hunk.lines.entries()) {
      if (line.startsWith('\\')) continue;
      const open = hunk.lines[index + 1]?.startsWith('\\');
      const text = open ? line.slice(1) : `${line.slice(1)}\n`;
      if (line[0] !== '+') expect(old[at++]).toBe(text);
      if (line[0] !== '-') result += text;
    }
  }
  return result + old.slice(at).join('');
}
