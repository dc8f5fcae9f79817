import { PortcullisError } from '../../../errors.js';
import { parseJson } from '../../../lib/json.js';
import { visible } from '../../../lib/text/visible.js';
import { isRunByAgent } from '../../../platform/process/run-by-agent.js';
import { addServer, type WritableScope } from '../../../project/mcp/mcp-store.js';
import type { CommandCall, CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import {
  inspectProject,
  listOption,
  SCOPE_OPTION,
  SERVER_ARGUMENT,
  textOption,
} from '../project-call.js';
import { placeText } from '../validation.js';

const SCOPE = { ...SCOPE_OPTION, default: 'local' };

export const add: CommandSpec = {
  summary: 'Add a server: a program or an address.',
  arguments: [
    SERVER_ARGUMENT,
    { name: '[words...]', description: 'After `--`: a program and its arguments; or an address.' },
  ],
  options: [
    SCOPE,
    {
      flags: '-t, --transport <transport>',
      description: 'How to talk to the server. An address needs http, sse or ws.',
      choices: ['stdio', 'http', 'sse', 'ws'],
      default: 'stdio',
    },
    { flags: '-e, --env <name=value...>', description: 'A variable of the program.' },
    { flags: '-H, --header <name:value...>', description: 'A header for the address.' },
    { flags: '--client-id <id>', description: 'OAuth client id.' },
    { flags: '--client-secret <secret>', description: 'OAuth client secret.' },
    { flags: '--callback-port <port>', description: 'Port of the OAuth callback.' },
    {
      flags: '--yes',
      description: 'With --scope project: keep the trust in the folder without a terminal.',
    },
  ],
  notes: [
    'portcullis mcp add [options] <name> -- <command> [arguments]',
    'portcullis mcp add --transport http [options] <name> <url>',
  ].join('\n'),
  async run(call) {
    refuseLateOptions(call);
    return await store(call, entryFrom(call));
  },
};

const ADDRESS = /^(?:https?|wss?):\/\//i;

/** fail-closed: an option after the command may belong to the program, so `--` must separate them. */
function refuseLateOptions({ args, argv }: CommandCall): void {
  const [name = '', first = ''] = args;
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  // Behind the name it may be an option of the program, as npx has one.
  if (own.indexOf('--yes') > own.indexOf(name)) throw wrong('--yes must precede the name');
  const at = ADDRESS.test(first) ? -1 : own.indexOf(first, own.indexOf(name) + 1);
  const late = at < 0 ? undefined : own.slice(at + 1).find((word) => /^-./.test(word));
  if (late !== undefined)
    throw wrong(
      `"${visible(late)}" follows the command; options of mcp add precede the name, those of the program follow --`,
    );
}

function entryFrom({ args, options }: CommandCall): Record<string, unknown> {
  const [, first, ...rest] = args;
  const { transport } = options;
  const env = listOption(options, 'env');
  const headers = listOption(options, 'header');
  if (transport === 'stdio') {
    if (first === undefined) throw wrong('there is no command');
    if (ADDRESS.test(first) && rest.length === 0)
      throw wrong(`"${visible(first)}" is an address; add --transport http`);
    if (headers.length > 0) throw wrong('--header is for addresses; a program gets --env');
    const variables = pairs(env, /^([^=\s]+)=(.*)$/s, '--env needs NAME=value');
    return { type: 'stdio', command: first, args: rest, env: variables };
  }
  if (first === undefined || rest.length > 0) throw wrong('one address follows the name');
  if (env.length > 0) throw wrong('--env is for programs; an address gets --header');
  const port = textOption(options, 'callbackPort');
  const oauth = {
    clientId: textOption(options, 'clientId'),
    clientSecret: textOption(options, 'clientSecret'),
    callbackPort: port === undefined ? undefined : Number(port),
  };
  return {
    type: transport,
    url: first,
    headers: pairs(headers, /^([^:\s]+):\s*(.*)$/s, '--header needs "Name: value"'),
    oauth: Object.values(oauth).every((one) => one === undefined) ? undefined : oauth,
  };
}

/** Undefined: there are none, and the entry leaves the field out. */
function pairs(
  texts: readonly string[],
  form: RegExp,
  complaint: string,
): Record<string, string> | undefined {
  if (texts.length === 0) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = form.exec(text) ?? [];
      if (name === undefined || value === undefined) throw wrong(complaint);
      return [name, value];
    }),
  );
}

export const addJson: CommandSpec = {
  summary: 'Add a server as JSON.',
  arguments: [SERVER_ARGUMENT, { name: '<json>', description: 'The entry, as .mcp.json has it.' }],
  options: [SCOPE],
  async run(call) {
    const parsed = parseJson(call.args[1] ?? '');
    if (!parsed.ok) throw wrong(`this is not valid JSON: ${parsed.error}`);
    return await store(call, parsed.value);
  },
};

async function store(call: CommandCall, entry: unknown): Promise<number> {
  const { args, options, output } = call;
  const [name = ''] = args;
  const scope = textOption(options, 'scope') as WritableScope;
  // Fields without a value are not written.
  const raw: unknown = JSON.parse(JSON.stringify(entry));
  const byAgent = isRunByAgent(process.env);
  const keepsTrust = options.yes === true || process.stdin.isTTY === true;
  return await inspectProject(call, async (project) => {
    const added = await addServer(project, { scope, name, raw, byAgent, keepsTrust });
    const file = placeText(added.file);
    output.out(`Added ${visible(name)} to ${file} (${scope}).\n`);
    if (added.lostTrust)
      output.warn(`${file} has changed since the folder was trusted; run \`portcullis trust\``);
    for (const warning of added.warnings) output.warn(visible(warning));
    return EXIT.done;
  });
}

function wrong(message: string): PortcullisError {
  const remedy = 'portcullis mcp add --help shows the forms';
  return new PortcullisError('usage', message, { remedy });
}
