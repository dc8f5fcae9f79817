import { resolve } from '../../env/paths.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { isRecord } from '../../util/own.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { openPolicyJudge, type PolicyCase, type PolicyJudge } from './policy-judge.js';

export const USAGE =
  'portcullis policy check --jsonl, with lines of {"id","settings","mode"?,"cwd"?,"agent"?,"tool","input"} on standard input';

/**
 * `portcullis policy check --jsonl`: one case a line in, one decision a line out, in the same
 * order. A line that is not a case gets a line with an `error`, and the end code says so.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const unknown = argv.find((arg) => arg !== '--jsonl');
  if (unknown !== undefined || argv.length === 0) {
    throw new PortcullisError('usage', `policy check does not know ${unknown ?? 'what to read'}`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const judge = await openPolicyJudge(process.env);
  let broken = 0;
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const answer = await answerTo(line, judge);
    if ('error' in answer) broken++;
    output.out(`${JSON.stringify(answer)}\n`);
  }
  return broken === 0 ? EXIT.done : EXIT.usage;
}

type Answer = Readonly<Record<string, unknown>>;

export async function answerTo(line: string, judge: PolicyJudge): Promise<Answer> {
  let id: unknown;
  try {
    const parsed: unknown = JSON.parse(line);
    if (!isRecord(parsed)) return { error: 'a case is an object' };
    id = parsed.id;
    const { receipt: _, ...decision } = await judge.decide(caseOf(parsed));
    return { id, ...decision };
  } catch (thrown) {
    const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
    const error = [messageOf(thrown), remedy].filter((part) => part !== undefined).join('; ');
    return { ...(id === undefined ? {} : { id }), error };
  }
}

const FIELDS = ['id', 'settings', 'mode', 'cwd', 'agent', 'tool', 'input'];

function caseOf(parsed: Readonly<Record<string, unknown>>): PolicyCase {
  const { settings = {}, mode, cwd = '.', agent, tool, input = {} } = parsed;
  // fail-closed: a misspelt field would be answered as if it were not there.
  const odd = Object.keys(parsed).find((name) => !FIELDS.includes(name));
  if (odd !== undefined) throw wrong(`"${odd}" is not a field of a case`);
  if (!isRecord(settings)) throw wrong('"settings" must be an object');
  if (!isRecord(input)) throw wrong('"input" must be an object');
  if (typeof tool !== 'string' || tool === '') throw wrong('"tool" must name a tool');
  if (typeof cwd !== 'string') throw wrong('"cwd" must be a path');
  if (agent !== undefined && typeof agent !== 'string') throw wrong('"agent" must be a name');
  return {
    settings,
    input,
    tool,
    cwd: resolve(process.cwd(), cwd),
    ...(mode === undefined ? {} : { mode: modeOf(mode) }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function modeOf(value: unknown): PermissionMode {
  const mode = PERMISSION_MODES.find((one) => one === value);
  if (mode === undefined) throw wrong(`"mode" must be one of ${PERMISSION_MODES.join(', ')}`);
  return mode;
}

function wrong(message: string): PortcullisError {
  return new PortcullisError('usage', message);
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  for await (const chunk of input) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
