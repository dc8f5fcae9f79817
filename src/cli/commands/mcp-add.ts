import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import type { Output } from '../output.js';
import { scopeFrom, storeServer } from './mcp-store.js';

export const USAGE = `portcullis mcp add [options] <name> -- <command> [arguments]
       portcullis mcp add --transport http|sse|ws [options] <name> <url>
options: -s, --scope local|project|user   -t, --transport stdio|http|sse|ws
         -e, --env NAME=value             -H, --header "Name: value"
         --yes, before the name (in a script: keep the folder's trust with --scope project)
         --client-id, --client-secret, --callback-port (OAuth)`;

/** Writes a server into the file of a scope. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const wish = wishFrom(argv);
  const { scope, name, confirmed } = wish;
  return await storeServer({ scope, name, raw: entryFrom(wish), confirmed }, output);
}

interface Wish {
  readonly name: string;
  readonly scope: ReturnType<typeof scopeFrom>;
  readonly transport: string;
  readonly env: readonly string[];
  readonly headers: readonly string[];
  /** Command and arguments, or an address. */
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  readonly confirmed: boolean;
}

const ADDRESS = /^(?:https?|wss?):\/\//i;
const SHORT: Readonly<Record<string, string>> = {
  '-s': 'scope',
  '-t': 'transport',
  '-e': 'env',
  '-H': 'header',
};
const VALUES = [
  'scope',
  'transport',
  'env',
  'header',
  'client-id',
  'client-secret',
  'callback-port',
];

/**
 * Options stand before the command, or anywhere beside an address. What follows `--` is the program's
 * own. fail-closed: an option after the command could be meant for either, and is refused.
 */
function wishFrom(argv: readonly string[]): Wish {
  const found: [string, string][] = [];
  const words: string[] = [];
  let confirmed = false;
  let at = 0;
  for (; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    const [, command] = words;
    if (command !== undefined && !ADDRESS.test(command))
      throw wrong(
        `"${visible(word)}" follows the command; options of mcp add stand before the name, those of the program follow --`,
      );
    // Behind the name it may be the program's own, as of npx.
    if (word === '--yes' && words.length === 0) {
      confirmed = true;
      continue;
    }
    const [flag = '', ...inline] = word.split('=');
    const name = SHORT[flag] ?? (flag.startsWith('--') ? flag.slice(2) : '');
    // fail-closed: an option that is not known is a mistake, or the program's own and belongs behind `--`.
    if (!VALUES.includes(name))
      throw wrong(`"${visible(word)}" is no option; options of the program follow --`);
    const value = inline.length > 0 ? inline.join('=') : argv[++at];
    if (value === undefined) throw wrong(`--${name} needs a value`);
    found.push([name, value]);
  }
  const [name, ...rest] = words;
  if (name === undefined) throw wrong('mcp add wants a name');
  const all = (key: string): readonly string[] =>
    found.filter(([one]) => one === key).map(([, value]) => value);
  return {
    name,
    scope: scopeFrom(all('scope').at(-1)),
    transport: all('transport').at(-1) ?? 'stdio',
    env: all('env'),
    headers: all('header'),
    words: rest,
    options: new Map(found),
    confirmed,
  };
}

function entryFrom(wish: Wish): Record<string, unknown> {
  const { transport, words, env, headers } = wish;
  const [first, ...rest] = words;
  if (transport === 'stdio') {
    if (first === undefined) throw wrong('there is no command');
    if (ADDRESS.test(first) && rest.length === 0)
      throw wrong(`"${visible(first)}" is an address; add --transport http`);
    if (headers.length > 0) throw wrong('--header is for addresses; a program gets --env');
    const variables = pairs(env, /^([^=\s]+)=(.*)$/s, '--env wants NAME=value');
    return {
      type: 'stdio',
      command: first,
      args: rest,
      ...(env.length === 0 ? {} : { env: variables }),
    };
  }
  if (!['http', 'sse', 'ws'].includes(transport))
    throw wrong(`--transport ${visible(transport)} is not one of stdio, http, sse, ws`);
  if (first === undefined || rest.length > 0) throw wrong('one address follows the name');
  if (env.length > 0) throw wrong('--env is for programs; an address gets --header');
  const oauth = oauthFrom(wish.options);
  return {
    type: transport,
    url: first,
    ...(headers.length === 0
      ? {}
      : { headers: pairs(headers, /^([^:\s]+):\s*(.*)$/s, '--header wants "Name: value"') }),
    ...(oauth === undefined ? {} : { oauth }),
  };
}

function oauthFrom(options: ReadonlyMap<string, string>): Record<string, unknown> | undefined {
  const [id, secret, port] = ['client-id', 'client-secret', 'callback-port'].map((name) =>
    options.get(name),
  );
  if (id === undefined && secret === undefined && port === undefined) return undefined;
  return {
    ...(id === undefined ? {} : { clientId: id }),
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(port === undefined ? {} : { callbackPort: Number(port) }),
  };
}

function pairs(texts: readonly string[], form: RegExp, complaint: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = form.exec(text) ?? [];
      if (name === undefined || value === undefined) throw wrong(complaint);
      return [name, value];
    }),
  );
}

function wrong(message: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
}
