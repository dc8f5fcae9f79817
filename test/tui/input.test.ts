import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Composer } from '../../src/tui/input/composer.js';
import { Editor } from '../../src/tui/input/editor.js';
import { PromptHistory } from '../../src/tui/input/history.js';
import { type InputEvent, KeyParser } from '../../src/tui/input/keys.js';
import { line, plainText } from '../../src/tui/screen/line.js';

const PROMPT = { first: line('> '), rest: line('  ') };

function keys(data: string): string[] {
  const parser = new KeyParser();
  return [...parser.feed(data), ...parser.flush()].map(named);
}

function named(event: InputEvent): string {
  if (event.type === 'key') return event.key.id;
  return event.type === 'focus' ? `focus:${event.focused}` : `${event.type}:${event.text}`;
}

function composer(options: { entries?: string[]; vim?: boolean } = {}) {
  let time = 0;
  const history = new PromptHistory({ load: () => options.entries ?? [], append: () => undefined });
  const made = new Composer({ history, now: () => (time += 10) });
  made.useVim(options.vim === true);
  const type = (data: string) => {
    const parser = new KeyParser();
    return [...parser.feed(data), ...parser.flush()].map((event) => {
      if (event.type === 'paste') made.paste(event.text);
      return event.type === 'key' ? made.press(event.key) : undefined;
    });
  };
  return { made, type, wait: (ms: number) => (time += ms) };
}

describe('keys', () => {
  it('reads legacy sequences', () => {
    expect(keys('a\r\t\u007f\u0001')).toEqual(['a', 'enter', 'tab', 'backspace', 'ctrl+a']);
    expect(keys('\u001b[A\u001bOB\u001b[1;5C\u001b[3~\u001b[Z')).toEqual([
      'up',
      'down',
      'ctrl+right',
      'delete',
      'shift+tab',
    ]);
    expect(keys('\u001bb\u001b\r\n')).toEqual(['alt+b', 'alt+enter', 'ctrl+j']);
  });

  it('reads the Kitty protocol and modifyOtherKeys', () => {
    expect(keys('\u001b[13;2u\u001b[27u\u001b[97;5u\u001b[27;2;13~')).toEqual([
      'shift+enter',
      'escape',
      'ctrl+a',
      'shift+enter',
    ]);
    expect(keys('\u001b[97;1:3u')).toEqual([]);
  });

  it('takes a lone escape for Esc, and a letter that comes later for a letter', () => {
    const parser = new KeyParser();
    expect(parser.feed('\u001b')).toEqual([]);
    expect(parser.patienceMs).toBe(40);
    expect(parser.flush().map(named)).toEqual(['escape']);
    expect(parser.feed('y').map(named)).toEqual(['y']);
    expect(keys('\u001b\u001b')).toEqual(['escape', 'escape']);
  });

  it('takes reports of the terminal for no keys', () => {
    expect(keys('\u001b]11;rgb:00/00/00\u0007x\u001b[?62;1c\u001b[I')).toEqual([
      'reply:11;rgb:00/00/00',
      'x',
      'focus:true',
    ]);
  });

  it('takes no part of an expected reply for keys, wherever it is cut', () => {
    const reply = '\u001b]11;rgb:1e1e/1e1e/2e2e\u001b\\\u001b[?62;22c';
    for (let cut = 1; cut < reply.length; cut++) {
      const parser = new KeyParser();
      parser.expectsReply = true;
      const events = parser.feed(reply.slice(0, cut));
      // A patient reader waits for the rest.
      expect(parser.patienceMs ?? 1_000).toBe(1_000);
      events.push(...parser.feed(`${reply.slice(cut)}y`));
      expect(events.map(named)).toEqual(['reply:11;rgb:1e1e/1e1e/2e2e', 'y']);
    }
    const parser = new KeyParser();
    parser.feed('\u001b]11;rgb:1e1e/');
    expect(parser.flush()).toEqual([]);
  });

  it('gives Alt+] and Esc as soon as no reply is expected', () => {
    const parser = new KeyParser();
    parser.expectsReply = true;
    parser.feed('\u001b[?62;22c\u001b]');
    expect(parser.patienceMs).toBe(40);
    expect(parser.flush().map(named)).toEqual(['alt+]']);
  });

  it('gives a paste whole, however it is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.string().map((text) => text.replaceAll('\u001b', '')),
        fc.array(fc.nat(40), { maxLength: 6 }),
        (text, cuts) => {
          const data = `a\u001b[200~${text}\n[201\u001b[201~b`;
          const parser = new KeyParser();
          const events: InputEvent[] = [];
          let rest = data;
          for (const cut of cuts) {
            events.push(...parser.feed(rest.slice(0, cut)));
            rest = rest.slice(cut);
          }
          events.push(...parser.feed(rest), ...parser.flush());
          const names = events.map(named);
          expect(names).toEqual(['a', `paste:${text}\n[201`, 'b']);
        },
      ),
    );
  });
});

describe('the editor', () => {
  it('keeps a paste of 50,000 lines as one placeholder with its exact size', () => {
    const editor = new Editor();
    const pasted = Array.from({ length: 50_000 }, (_, index) => `line ${index} é`).join('\n');
    editor.insert('look: ');
    editor.paste(pasted);
    const bytes = Buffer.byteLength(pasted).toLocaleString('en-US');
    expect(editor.text).toBe(`look: [Pasted text #1: 50,000 lines, ${bytes} bytes]`);
    expect(editor.expanded).toBe(`look: ${pasted}`);
    expect(editor.layout(80, PROMPT).lines.length).toBeLessThan(3);
    editor.press({ id: 'backspace', text: '' });
    expect(editor.text).toBe('look: ');
  });

  it('keeps the bytes of a short paste with invisible characters', () => {
    const editor = new Editor();
    editor.paste('a\u202eb\tc');
    expect(editor.text).toMatch(/^\[Pasted text #1: 1 line/);
    expect(editor.expanded).toBe('a\u202eb\tc');
  });

  it('has the readline keys', () => {
    const { made, type } = composer();
    type('one two three');
    type('\u0017');
    expect(made.editor.text).toBe('one two ');
    type('\u0019\u0001\u000b');
    expect(made.editor.text).toBe('');
    type('\u0019');
    expect(made.editor.text).toBe('one two three');
    type('\u001bb\u001bd');
    expect(made.editor.text).toBe('one two ');
    type('\u001f\u001f');
    expect(made.editor.text).toBe('');
  });

  it('breaks rows so that every character is in one of them and the caret is in the window', () => {
    const part = fc.constantFrom('word ', '漢字', '👩‍👩‍👧‍👦', '\n', 'x'.repeat(30), 'é', ' ');
    fc.assert(
      fc.property(
        fc.array(part),
        fc.integer({ min: 8, max: 60 }),
        fc.nat(),
        (parts, columns, at) => {
          const editor = new Editor();
          const text = parts.join('');
          editor.set(text);
          editor.moveTo(at % (text.length + 1));
          const { lines, caret } = editor.layout(columns, PROMPT);
          expect(lines.map((row) => plainText(row).slice(2)).join('')).toBe(
            text.replaceAll('\n', ''),
          );
          expect(caret.row).toBeLessThan(lines.length);
          expect(caret.offset).toBeLessThanOrEqual(plainText(lines[caret.row] ?? []).length);
        },
      ),
    );
  });
});

describe('the composer', () => {
  it('sends with Enter and breaks the line with Alt+Enter, Shift+Enter, Ctrl+J and a backslash', () => {
    const { type } = composer();
    const results = type('a\u001b\rb\u001b[13;2uc\nd\\\re\r');
    expect(results.at(-1)).toMatchObject({
      kind: 'submit',
      text: 'a\nb\nc\nd\ne',
      shown: 'a\nb\nc\nd\ne',
    });
  });

  it('goes through the history and finds in it', () => {
    const { made, type } = composer({ entries: ['first prompt', 'second'] });
    type('draft\u001b[A');
    expect(made.editor.text).toBe('second');
    type('\u001b[A\u001b[A');
    expect(made.editor.text).toBe('first prompt');
    type('\u001b[B\u001b[B');
    expect(made.editor.text).toBe('draft');
    type('\u0012fir\r');
    expect(made.editor.text).toBe('first prompt');
  });

  it('tells one Esc from two', () => {
    const { made, type, wait } = composer();
    expect(type('\u001b')).toEqual([{ kind: 'action', action: 'interrupt' }]);
    expect(type('\u001b')).toEqual([{ kind: 'action', action: 'rewind' }]);
    wait(2000);
    type('text\u001b');
    expect(made.editor.text).toBe('text');
    type('\u001b');
    expect(made.editor.text).toBe('');
  });

  it('shows no completion of a text that was taken away', () => {
    const { made, type } = composer();
    type('/mo');
    made.setCompletions([{ text: '/model ', from: 0 }], { text: '/mo', cursor: 3 });
    const shown = (): string => made.lines(40).lines.map(plainText).join('\n');
    expect(shown()).toContain('/model');
    made.editor.set('');
    expect(shown()).not.toContain('/model');
  });

  it('completes commands and files from a menu', () => {
    const { made, type } = composer();
    type('/mo');
    expect(made.completionQuery).toEqual({ text: '/mo', cursor: 3 });
    const found = [
      { text: '/model', from: 0, description: 'Choose the model' },
      { text: '/mode', from: 0 },
    ];
    made.setCompletions(found, { text: '/mo', cursor: 3 });
    expect(made.lines(80).lines.map(plainText)).toContain('  /model  Choose the model');
    type('\u001b[B\t');
    expect(made.editor.text).toBe('/mode ');
    type('\u0015look at @src');
    expect(made.completionQuery?.text).toBe('look at @src');
    made.setCompletions([{ text: '@src/', from: 8 }], { text: 'stale', cursor: 1 });
    expect(made.lines(80).lines).toHaveLength(1);
  });

  it('runs a command that is typed in full with one Enter', () => {
    const { made, type } = composer();
    type('/clear');
    made.setCompletions([{ text: '/clear', from: 0 }], { text: '/clear', cursor: 6 });
    expect(type('\r')).toMatchObject([{ kind: 'submit', text: '/clear', shown: '/clear' }]);
  });

  it('has vim keys by setting', () => {
    const { made, type } = composer({ vim: true });
    type('one two three');
    type('\u001b');
    type('0dwcwTWO');
    type('\u001b');
    expect(made.editor.text).toBe('TWO three');
    type('A!');
    type('\u001b');
    type('yyp');
    expect(made.editor.text).toBe('TWO three!\nTWO three!');
    type('dd0x');
    expect(made.editor.text).toBe('WO three!');
    type('u');
    expect(made.editor.text).toBe('TWO three!');
  });
});
