import { systemClock } from '../../env/clock.js';
import { PortcullisError } from '../../errors.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import type { AnyTool } from '../../tools/tool.js';
import { parseJson } from '../../util/json.js';
import { nearest } from '../../util/nearest.js';
import { isRecord } from '../../util/own.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { bringUp, connectionNamed, personHere } from './mcp-reach.js';
import { openToolsHere, type ToolsHere } from './tools-here.js';

export const USAGE =
  'portcullis mcp call <server> <tool> [json] [--allowedTools R] [--mcp-config F] [--settings F] [--json]';

/** Calls one tool of a server, through the gate; the receipt is journalled as in a session. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['settings', 'allowedTools', 'mcp-config'],
  });
  const [server, tool, text = '{}', ...more] = words;
  if (server === undefined || tool === undefined || more.length > 0)
    throw usage('mcp call wants a server, a tool and at most one argument');
  const input = parseJson(text);
  if (!input.ok || !isRecord(input.value)) throw usage('the arguments are no JSON object');
  const allowed = values.get('allowedTools');
  const config = values.get('mcp-config');
  const receipts: Receipt[] = [];
  const person = personHere();
  const here = await openToolsHere({
    ...person,
    entrypoint: 'portcullis-mcp',
    persist: true,
    asksModel: true,
    settings: values.get('settings'),
    allowedTools: allowed === undefined ? [] : [allowed],
    mcpConfig: config === undefined ? [] : [config],
    emit: (news) => {
      if (news.type === 'decision') receipts.push(news.receipt);
      if (news.type === 'progress') process.stderr.write(`${visible(news.text)}\n`);
      if (news.type === 'notice' && news.level === 'warning') output.warn(news.text);
    },
  });
  try {
    const result = await call(here, { server, tool, input: input.value });
    const receipt = receipts.at(-1);
    const refused = receipt !== undefined && receipt.decision !== 'allow';
    if (switches.has('json')) output.out(`${JSON.stringify(dataOf(result, receipt), null, 2)}\n`);
    else if (refused) output.warn(textOf(result));
    else output.answer(`${textOf(result)}\n`);
    return refused ? EXIT.denied : result.block.is_error === true ? EXIT.error : EXIT.done;
  } finally {
    person.close();
    await here.close();
  }
}

interface Wanted {
  readonly server: string;
  readonly tool: string;
  readonly input: ToolUseBlock['input'];
}

async function call(here: ToolsHere, wanted: Wanted): Promise<ToolCallResult> {
  const failed = await bringUp(here, connectionNamed(here, wanted.server));
  if (failed !== undefined) throw new PortcullisError('network', failed);
  const over = new AbortController();
  process.once('SIGINT', () => over.abort(new Error('interrupted')));
  const block: ToolUseBlock = {
    type: 'tool_use',
    id: `call_${systemClock.uuid()}`,
    name: toolNamed(here, wanted).name,
    input: wanted.input,
  };
  return await here.parts.hands.invoke(block, undefined, over.signal);
}

function toolNamed(here: ToolsHere, { server, tool }: Wanted): AnyTool {
  const tools = here.parts.hands.builtins.pool.tools.filter(
    ({ origin }) => origin?.server === server,
  );
  const found = tools.find(({ origin, name }) => origin?.tool === tool || name === tool);
  if (found !== undefined) return found;
  const names = tools.flatMap(({ origin }) => origin?.tool ?? []);
  const meant = nearest(tool, names);
  throw new PortcullisError(
    'usage',
    `the server "${visible(server)}" offers no tool "${visible(tool)}"`,
    {
      remedy:
        meant === undefined
          ? `it offers ${names.length === 0 ? 'none that may be used' : visible(names.join(', '))}`
          : `did you mean "${visible(meant)}"?`,
    },
  );
}

function textOf({ block }: ToolCallResult): string {
  if (typeof block.content === 'string') return block.content;
  return (block.content ?? [])
    .map((one) => (one.type === 'text' ? one.text : `[${one.type}]`))
    .join('\n');
}

function dataOf(result: ToolCallResult, receipt: Receipt | undefined): unknown {
  const { block, structured } = result;
  return {
    isError: block.is_error === true,
    content: block.content,
    ...(structured === undefined ? {} : { structured }),
    ...(receipt === undefined
      ? {}
      : {
          decision: { decision: receipt.decision, by: receipt.decidedBy, reason: receipt.reason },
        }),
  };
}

function usage(message: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
}
