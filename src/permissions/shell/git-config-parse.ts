/** One setting: `section.key` or `section.name.key`, lower case but for the name. */
export interface GitSetting {
  readonly key: string;
  readonly value: string;
}

/**
 * The settings of a git configuration file, read character by character as git reads them: a section
 * and a key may share a line, and only a backslash that is not escaped itself joins two lines. Includes
 * are not followed. Undefined where git reports an error.
 */
export function parseGitConfig(text: string): readonly GitSetting[] | undefined {
  const input = new Input(text.replace(/^\uFEFF/, '').replace(/\r\n/g, '\n'));
  const settings: GitSetting[] = [];
  let section: string | undefined;
  for (;;) {
    input.skip(/[ \t\r\n]/);
    const char = input.peek();
    if (char === '') return settings;
    if (char === '#' || char === ';') input.skip(/[^\n]/);
    else if (char === '[') {
      section = readSection(input);
      if (section === undefined) return undefined;
    } else {
      const key = input.skip(/[A-Za-z0-9-]/).toLowerCase();
      if (section === undefined || !/^[a-z]/.test(key)) return undefined;
      input.skip(/[ \t]/);
      const value = readValue(input);
      if (value === undefined) return undefined;
      settings.push({ key: `${section}.${key}`, value });
    }
  }
}

class Input {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Empty at the end. */
  peek(): string {
    return this.#text[this.#at] ?? '';
  }

  next(): string {
    const char = this.peek();
    this.#at++;
    return char;
  }

  /** Takes all characters that fit. */
  skip(fits: RegExp): string {
    const from = this.#at;
    while (fits.test(this.peek())) this.#at++;
    return this.#text.slice(from, this.#at);
  }
}

/** `[section]`, `[section.name]` or `[section "name"]`. */
function readSection(input: Input): string | undefined {
  input.next();
  const section = input.skip(/[A-Za-z0-9.-]/).toLowerCase();
  if (input.peek() === ']') {
    input.next();
    return section;
  }
  if (input.skip(/[ \t\r]/) === '' || input.next() !== '"') return undefined;
  let name = '';
  for (let char = input.next(); char !== '"'; char = input.next()) {
    if (char === '\\') char = input.next();
    if (char === '' || char === '\n') return undefined;
    name += char;
  }
  return input.next() === ']' ? `${section}.${name}` : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  '\\': '\\',
  '"': '"',
};

/** What follows a key, to the end of its line. A key alone means true. */
function readValue(input: Input): string | undefined {
  const sign = input.next();
  if (sign === '' || sign === '\n') return 'true';
  if (sign !== '=') return undefined;
  let value = '';
  let blanks = '';
  let quoted = false;
  for (;;) {
    let char = input.next();
    if (char === '' || char === '\n') return quoted ? undefined : value;
    if (!quoted && /[ \t\r]/.test(char)) {
      if (value !== '') blanks += char;
      continue;
    }
    if (!quoted && (char === '#' || char === ';')) {
      input.skip(/[^\n]/);
      continue;
    }
    if (char === '"') {
      quoted = !quoted;
      continue;
    }
    if (char === '\\') {
      const escaped = input.next();
      if (escaped === '\n') continue;
      if (!Object.hasOwn(ESCAPES, escaped)) return undefined;
      char = ESCAPES[escaped] ?? '';
    }
    value += blanks + char;
    blanks = '';
  }
}
