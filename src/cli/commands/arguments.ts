import { PortcullisError } from '../../errors.js';
import { nearest } from '../../util/nearest.js';

export interface CommandArguments {
  readonly words: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
}

/** The arguments of a subcommand. fail-closed: an option that is not known is a mistake, not a wish. */
export function readArguments(
  argv: readonly string[],
  spec: {
    readonly usage: string;
    readonly switches?: readonly string[];
    readonly values?: readonly string[];
  },
): CommandArguments {
  const { switches = [], values = [], usage } = spec;
  const words: string[] = [];
  const found = { switches: new Set<string>(), values: new Map<string, string>() };
  const wrong = (message: string): PortcullisError =>
    new PortcullisError('usage', message, { remedy: `usage: ${usage}` });
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('--')) {
      words.push(word);
      continue;
    }
    const [name = '', ...inline] = word.slice(2).split('=');
    if (switches.includes(name) && inline.length === 0) found.switches.add(name);
    else if (values.includes(name)) {
      const value = inline.length > 0 ? inline.join('=') : argv[++at];
      if (value === undefined) throw wrong(`--${name} needs a value`);
      found.values.set(name, value);
    } else {
      const meant = nearest(name, [...switches, ...values]);
      throw wrong(
        `there is no option --${name}${meant === undefined ? '' : `; did you mean --${meant}?`}`,
      );
    }
  }
  return { words, ...found };
}
