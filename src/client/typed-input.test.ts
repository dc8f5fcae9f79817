import { describe, expect, it } from 'vitest';
import { commandOrPrompt, imagePaths, readTypedLine } from './typed-input.js';

describe('what a person typed', () => {
  it.each([
    ['/model opus', { kind: 'command', line: '/model opus' }],
    ['! git status ', { kind: 'shell', command: 'git status' }],
    ['!ls', { kind: 'shell', command: 'ls' }],
    ['# Use tabs', { kind: 'memory', text: 'Use tabs' }],
    ['#123 is broken', { kind: 'prompt' }],
    ['## A heading', { kind: 'prompt' }],
    ['# A heading\nand a text', { kind: 'prompt' }],
    [' !not a command', { kind: 'prompt' }],
    ['hello', { kind: 'prompt' }],
  ])('is told by its first character: %s', (text, expected) => {
    expect(readTypedLine({ text })).toEqual(expected);
  });

  it('is not run where it has several lines, or text behind a placeholder', () => {
    for (const input of [
      { text: '!ls\nrm -rf x' },
      { text: '!ls\r\nrm -rf x' },
      { text: '!cat a\nb', shown: '!cat [Pasted text #1: 2 lines, 3 bytes]' },
      { text: '!cat \u200bb', shown: '!cat [Pasted text #1: 1 line, 4 bytes]' },
      { text: '!' },
    ]) {
      expect(readTypedLine(input).kind).toBe('rejected');
    }
  });

  it('is a prompt where a paste that is shown as a placeholder begins with a sign', () => {
    const shown = '[Pasted text #1: 4 lines, 9 bytes]';
    expect(readTypedLine({ text: '!a\n!b\n!c\n', shown })).toEqual({ kind: 'prompt' });
    expect(readTypedLine({ text: '# a', shown })).toEqual({ kind: 'prompt' });
  });

  it('runs nothing where a program gives the text', () => {
    expect(commandOrPrompt('! ls')).toEqual({ kind: 'prompt' });
    expect(commandOrPrompt('# note')).toEqual({ kind: 'prompt' });
    expect(commandOrPrompt('/help')).toEqual({ kind: 'command', line: '/help' });
  });
});

describe('paths of images in a prompt', () => {
  it('are found as they are typed, quoted or dropped', () => {
    const text = `see a.png, "my shot.JPG" and '/x/y.webp' or /tmp/with\\ blank.gif.`;
    expect(imagePaths(text)).toEqual(['a.png', 'my shot.JPG', '/x/y.webp', '/tmp/with blank.gif']);
    expect(imagePaths('file:///tmp/a.jpeg')).toEqual(['/tmp/a.jpeg']);
  });

  it('are not found in mentions, other files and text', () => {
    expect(imagePaths("@a.png b.svg a.png.txt png don't")).toEqual([]);
  });
});
