/** Where reading stopped: behind what was wanted, or at the first fault. */
export interface Scan {
  readonly whole: boolean;
  readonly end: number;
}

type Wants = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next';

/** Reads the JSON object that starts at `start` (a brace) without building it. */
export function scanObject(text: string, start: number): Scan {
  const closers: string[] = [];
  let wants: Wants = 'value';
  let at = start;
  for (;;) {
    at = afterBlanks(text, at);
    const char = text[at];
    if (char === undefined) return { whole: false, end: at };
    const mayClose = wants === 'first key' || wants === 'first value' || wants === 'next';
    if (mayClose && char === closers.at(-1)) {
      closers.pop();
      at++;
      if (closers.length === 0) return { whole: true, end: at };
      wants = 'next';
      continue;
    }
    const step = token(text, at, wants);
    if (!step.whole) return step;
    at = step.end;
    if (wants === 'next') wants = closers.at(-1) === '}' ? 'key' : 'value';
    else if (wants === 'colon') wants = 'value';
    else if (wants === 'key' || wants === 'first key') wants = 'colon';
    else if (char === '{') {
      closers.push('}');
      wants = 'first key';
    } else if (char === '[') {
      closers.push(']');
      wants = 'first value';
    } else wants = 'next';
  }
}

function token(text: string, at: number, wants: Wants): Scan {
  const char = text[at];
  switch (wants) {
    case 'next':
      return { whole: char === ',', end: at + 1 };
    case 'colon':
      return { whole: char === ':', end: at + 1 };
    case 'key':
    case 'first key':
      return char === '"' ? string(text, at) : { whole: false, end: at };
    case 'value':
    case 'first value':
      if (char === '{' || char === '[') return { whole: true, end: at + 1 };
      return char === '"' ? string(text, at) : literal(text, at);
  }
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function literal(text: string, at: number): Scan {
  LITERAL.lastIndex = at;
  const whole = LITERAL.test(text);
  return { whole, end: whole ? LITERAL.lastIndex : at };
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function string(text: string, start: number): Scan {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return { whole: true, end: at + 1 };
    if (code < 0x20) break;
    if (code !== 0x5c) at++;
    else {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text)) break;
      at = ESCAPE.lastIndex;
    }
  }
  return { whole: false, end: at };
}
