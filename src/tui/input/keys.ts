/** One key press. `id` names it with its modifiers: `a`, `ctrl+a`, `alt+enter`, `shift+tab`. */
export interface Key {
  readonly id: string;
  /** What the key types; empty for keys that only command. */
  readonly text: string;
}

export type InputEvent =
  | { readonly type: 'key'; readonly key: Key }
  /** All text between the marks of a bracketed paste, as the terminal sent it. */
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus'; readonly focused: boolean }
  /** What the terminal answered when it was asked about itself. */
  | { readonly type: 'reply'; readonly text: string };

const PASTE_END = '\u001b[201~';
/** A reply of the terminal longer than this is not one: a lone Esc came before typed text. */
const LONGEST_SEQUENCE = 256;
/** How long an escape character may wait for the rest of its sequence, and how long for the rest of a reply. */
const ESCAPE_MS = 40;
const REPLY_MS = 1_000;
/** The beginning of a reply: Alt+] comes without a number. */
const REPLY = /^\u001b(?:\]\d|\[\?)/;

const FINAL_NAMES: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  E: 'begin',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
  M: 'enter',
};
const TILDE_NAMES: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
};
const CODE_NAMES: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  13: 'enter',
  27: 'escape',
  32: 'space',
  127: 'backspace',
  57399: '0',
  57414: 'enter',
};

/** Turns what a terminal sends into key presses: legacy sequences, the Kitty protocol, bracketed paste. */
export class KeyParser {
  #rest = '';
  #paste: string[] | undefined;
  /** The terminal was asked something: an escape character may begin its reply. */
  expectsReply = false;

  /** How long the input so far may wait for the rest of its sequence; undefined: nothing waits. */
  get patienceMs(): number | undefined {
    if (this.#rest === '' || this.#paste !== undefined) return undefined;
    return this.expectsReply || REPLY.test(this.#rest) ? REPLY_MS : ESCAPE_MS;
  }

  feed(data: string): InputEvent[] {
    const events: InputEvent[] = [];
    let input = this.#rest + data;
    this.#rest = '';
    while (input !== '') {
      if (this.#paste !== undefined) {
        input = this.#readPaste(this.#paste, input, events);
        continue;
      }
      const used = this.#readOne(input, events);
      if (used === 0) {
        this.#rest = input;
        break;
      }
      input = input.slice(used);
    }
    return events;
  }

  /** No more came: an escape character that waits is the Esc key. */
  flush(): InputEvent[] {
    if (this.patienceMs === undefined) return [];
    const rest = this.#rest;
    this.#rest = '';
    this.expectsReply = false;
    // Half of a reply is nothing that a person typed.
    if (REPLY.test(rest)) return [];
    if (rest === '\u001b') return [pressed('escape')];
    const events: InputEvent[] = [pressed(`alt+${rest.slice(1, 2)}`)];
    return rest.length > 2 ? [...events, ...this.feed(rest.slice(2))] : events;
  }

  #readPaste(paste: string[], input: string, events: InputEvent[]): string {
    // The end mark may be split over two chunks.
    const joined = (paste.pop() ?? '') + input;
    const end = joined.indexOf(PASTE_END);
    if (end < 0) {
      const keep = Math.min(joined.length, PASTE_END.length - 1);
      paste.push(joined.slice(0, joined.length - keep), joined.slice(joined.length - keep));
      return '';
    }
    paste.push(joined.slice(0, end));
    events.push({ type: 'paste', text: paste.join('') });
    this.#paste = undefined;
    return joined.slice(end + PASTE_END.length);
  }

  /** How many characters were read; 0: the sequence is not complete. */
  #readOne(input: string, events: InputEvent[]): number {
    const character = String.fromCodePoint(input.codePointAt(0) ?? 0);
    if (character !== '\u001b') {
      events.push({ type: 'key', key: plainKey(character) });
      return character.length;
    }
    const kind = input[1];
    if (kind === undefined) return 0;
    if (kind === '[') return this.#readCsi(input, events);
    if (kind === 'O') {
      const final = input[2];
      if (final === undefined) return 0;
      const name = FINAL_NAMES[final];
      events.push(pressed(name ?? 'unknown'));
      return 3;
    }
    if (']P_^'.includes(kind)) return this.#readString(input, events);
    if (kind === '\u001b') {
      events.push(pressed('escape'));
      return 1;
    }
    const next = String.fromCodePoint(input.codePointAt(1) ?? 0);
    events.push(pressed(`alt+${plainKey(next).id}`));
    return 1 + next.length;
  }

  #readCsi(input: string, events: InputEvent[]): number {
    const match = /^\u001b\[([0-9:;<=>?]*)[ -/]*([@-~])/.exec(input);
    if (match === null) {
      if (
        input.length > LONGEST_SEQUENCE ||
        /^\u001b\[[0-9:;<=>? -/]*[^0-9:;<=>? -~]/.test(input)
      ) {
        events.push(pressed('escape'));
        return 1;
      }
      return 0;
    }
    const [whole, parameters = '', final = ''] = match;
    if (final === '~' && parameters === '200') {
      this.#paste = [];
      return whole.length;
    }
    if ((final === 'I' || final === 'O') && parameters === '') {
      events.push({ type: 'focus', focused: final === 'I' });
      return whole.length;
    }
    // The last of the replies: an escape character is a key again.
    if (final === 'c' && parameters.startsWith('?')) this.expectsReply = false;
    const key = csiKey(parameters, final);
    if (key !== undefined) events.push({ type: 'key', key });
    return whole.length;
  }

  #readString(input: string, events: InputEvent[]): number {
    const end = /\u0007|\u001b\\/.exec(input);
    if (end !== null) {
      events.push({ type: 'reply', text: input.slice(2, end.index) });
      return end.index + end[0].length;
    }
    if (input.length <= LONGEST_SEQUENCE) return 0;
    events.push(pressed(`alt+${input[1]}`));
    return 2;
  }
}

function pressed(id: string): InputEvent {
  return { type: 'key', key: { id, text: '' } };
}

function plainKey(character: string): Key {
  const code = character.codePointAt(0) ?? 0;
  if (code === 10) return { id: 'ctrl+j', text: '' };
  const name = code === 32 ? undefined : CODE_NAMES[code];
  if (name !== undefined) return { id: name, text: '' };
  if (code === 0) return { id: 'ctrl+space', text: '' };
  if (code < 32) return { id: `ctrl+${String.fromCharCode(code + 64).toLowerCase()}`, text: '' };
  return { id: character, text: character };
}

/** Undefined: a key was released, or the terminal reported something else. */
function csiKey(parameters: string, final: string): Key | undefined {
  if (/[<=>?]/.test(parameters)) return undefined;
  const [first = '', second = '', third = ''] = parameters.split(';');
  const [modifierText = '', event = ''] = second.split(':');
  if (event === '3') return undefined;
  if (final === 'Z') return { id: 'shift+tab', text: '' };
  if (final === 'u') return codeKey(Number(first.split(':')[0]), Number(modifierText || '1'));
  if (final === '~' && first === '27') return codeKey(Number(third), Number(modifierText || '1'));
  const name = final === '~' ? TILDE_NAMES[first] : FINAL_NAMES[final];
  if (name === undefined) return undefined;
  return { id: withModifiers(name, Number(modifierText || '1')), text: '' };
}

function codeKey(code: number, modifiers: number): Key | undefined {
  if (!(code >= 0 && code <= 0x10ffff)) return undefined;
  const name = CODE_NAMES[code] ?? String.fromCodePoint(code).toLowerCase();
  const bits = (modifiers - 1) & 15;
  if (bits <= 1 && CODE_NAMES[code] === undefined) {
    const typed = String.fromCodePoint(code);
    const text = bits === 1 ? typed.toUpperCase() : typed;
    return { id: text, text };
  }
  if (bits <= 1 && code === 32) return { id: ' ', text: ' ' };
  return { id: withModifiers(name, modifiers), text: '' };
}

function withModifiers(name: string, modifiers: number): string {
  const bits = modifiers - 1;
  return `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}${name}`;
}
