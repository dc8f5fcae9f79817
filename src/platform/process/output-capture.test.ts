import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OutputCapture, SpillFile } from './output-capture.js';

function captured(cap: number, chunks: readonly Uint8Array[]): OutputCapture {
  const capture = new OutputCapture({ cap });
  for (const chunk of chunks) capture.push(Buffer.from(chunk));
  return capture;
}

describe('OutputCapture', () => {
  it('keeps everything up to the cap, however it is cut into chunks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const bytes = Buffer.from(text);
        const chunks = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const capture = captured(bytes.length, chunks);
        expect([capture.text(), capture.truncated]).toEqual([bytes.toString(), false]);
      }),
    );
  });

  it('cuts at cap + 1, and accounts for every byte', () => {
    expect(captured(10, [Buffer.from('0123456789')]).truncated).toBe(false);
    const capture = captured(10, [Buffer.from('0123456789a')]);
    expect(capture.truncated).toBe(true);
    expect(capture.text()).toBe('01234\n… [1 bytes left out] …\n6789a');
  });

  it('never shows half a character at the cut', () => {
    fc.assert(
      fc.property(fc.constantFrom('ä', '€', '😀'), fc.integer({ min: 4, max: 40 }), (char, cap) => {
        const text = captured(cap, [Buffer.from(char.repeat(100))]).text();
        expect(text).not.toContain('\ufffd');
        const left = Number(/\[(\d+) bytes/.exec(text)?.[1]);
        const shown = text.replace(/\n….*…\n/s, '');
        expect(left + Buffer.byteLength(shown)).toBe(Buffer.byteLength(char) * 100);
      }),
    );
  });

  it('keeps the last part of a great many small chunks', () => {
    const chunks = Array.from({ length: 50_000 }, (_, index) => Buffer.from(`${index}\n`));
    const text = captured(100, chunks).text();
    expect(text.startsWith('0\n1\n')).toBe(true);
    expect(text.endsWith('49998\n49999\n')).toBe(true);
    expect(text.length).toBeLessThan(150);
  });
});

describe('SpillFile', () => {
  it('holds what came before and after the overflow, up to its cap', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'portcullis-test-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = path.join(directory, 'a', 'out');
    const spill = new SpillFile({ file, cap: 15, fromStart: false });
    const capture = new OutputCapture({ cap: 8, spill });
    for (const part of ['01234', '567', '89abc', 'defghij']) capture.push(Buffer.from(part));
    spill.close();
    expect(readFileSync(file, 'utf8')).toBe('0123456789abcde');
    expect(capture.bytes).toBe(20);
  });
});
