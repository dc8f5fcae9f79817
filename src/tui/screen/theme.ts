/** The colours that styles name, as parameters of an SGR sequence. */
export type Palette = Readonly<Record<ColourName, string>>;

type ColourName = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** The colours of the terminal's own theme, which are readable on whatever it has as its background. */
export const TERMINAL_COLOURS: Palette = {
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  magenta: '35',
  cyan: '36',
};

const DARK: Palette = { ...TERMINAL_COLOURS, blue: '94' };
const LIGHT: Palette = {
  red: '38;5;124',
  green: '38;5;28',
  yellow: '38;5;130',
  blue: '38;5;25',
  magenta: '38;5;90',
  cyan: '38;5;30',
};
/** Orange and blue instead of red and green. */
const DALTONIZED = {
  dark: { red: '38;5;208', green: '38;5;39' },
  light: { red: '38;5;166', green: '38;5;26', yellow: '38;5;94' },
};
const THEME = /^(auto|dark|light)(-daltonized|-ansi)?$/;

export type Background = 'dark' | 'light';

export const THEMES = 'auto, dark and light, each also with -daltonized or -ansi';

export function isTheme(theme: string): boolean {
  return THEME.test(theme);
}

/** The colours of a theme; `auto` follows the background where the terminal has told it. */
export function paletteOf(theme: string, background: Background | undefined): Palette {
  const [, base, variant] = THEME.exec(theme) ?? [];
  const tone = base === 'dark' || base === 'light' ? base : background;
  const isDaltonized = variant === '-daltonized';
  if (variant === '-ansi' || (tone === undefined && !isDaltonized)) return TERMINAL_COLOURS;
  const palette = tone === 'light' ? LIGHT : DARK;
  return isDaltonized ? { ...palette, ...DALTONIZED[tone ?? 'dark'] } : palette;
}

/**
 * Asks for the background colour, then for the kind of terminal: every terminal answers the second question, so a
 * reply to it without one to the first means that there will be none.
 */
export const ASK_BACKGROUND = '\u001b]11;?\u001b\\\u001b[c';

/** The background in a reply of the terminal: `11;rgb:1e1e/1e1e/1e1e`. */
export function backgroundIn(reply: string): Background | undefined {
  const [, ...parts] = /^11;rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(reply) ?? [];
  if (parts.length === 0) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.map(
    (hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1),
  );
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark';
}
