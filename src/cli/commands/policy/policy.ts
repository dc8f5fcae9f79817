import { messageOf, PortcullisError } from '../../../errors.js';
import { isRecord } from '../../../lib/own.js';
import { configDirectory, join, resolve } from '../../../platform/fs/paths.js';
import { processEnvironment, workingDirectory } from '../../../platform/host.js';
import {
  createPolicyEvaluator,
  type PolicyCall,
  type PolicyEvaluator,
  settingsFromText,
} from '../../../project/policy/policy.js';
import { PERMISSION_MODES } from '../../../protocol/permissions.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { commandGroup } from '../project-call.js';
import { diff, replay } from './policy-compare.js';
import { test } from './policy-test.js';

const check: CommandSpec = {
  summary: 'Decide calls from standard input, one JSON line each.',
  options: [{ flags: '--jsonl', description: 'Read and write one JSON object per line.' }],
  notes: `A line is {"id","settings","mode"?,"cwd"?,"agent"?,"tool","input"}.
The answers come in the same order. A line that is no case is answered
with an "error", and the exit code is 2.`,
  async run({ options, output }) {
    if (options.jsonl !== true) {
      throw new PortcullisError('usage', 'policy check needs --jsonl, the only format it reads');
    }
    const evaluator = await createPolicyEvaluator(processEnvironment());
    let broken = 0;
    for await (const line of linesOf(process.stdin)) {
      if (line.trim() === '') continue;
      const answer = await answerTo(line, evaluator);
      if ('error' in answer) broken++;
      output.out(`${JSON.stringify(answer)}\n`);
    }
    return broken === 0 ? EXIT.done : EXIT.usage;
  },
};

export const command = commandGroup('Check, test and compare permission rules.', {
  check,
  test,
  diff,
  replay,
});

async function answerTo(line: string, evaluator: PolicyEvaluator): Promise<object> {
  let id: unknown;
  try {
    const parsed: unknown = JSON.parse(line);
    if (!isRecord(parsed)) return { error: 'a case is an object' };
    id = parsed.id;
    const call = parseCase(parsed);
    const env = processEnvironment();
    const file = join(configDirectory(env), 'settings.json');
    const text = JSON.stringify(parsed.settings ?? {}, null, 2);
    const settings = await settingsFromText(text, { file, cwd: call.cwd, env });
    const { receipt: _, ...decision } = await evaluator.evaluate(call, settings);
    return { id, ...decision };
  } catch (thrown) {
    const { code, remedy } = thrown instanceof PortcullisError ? thrown : {};
    if (code === 'config') {
      return { id, decision: 'deny', decidedBy: 'settings', reason: messageOf(thrown) };
    }
    return { id, error: [messageOf(thrown), remedy ?? []].flat().join('; ') };
  }
}

const FIELDS = ['id', 'settings', 'mode', 'cwd', 'agent', 'tool', 'input'];

function parseCase(parsed: Readonly<Record<string, unknown>>): PolicyCall {
  const { settings = {}, mode, cwd = '.', agent, tool, input = {} } = parsed;
  // fail-closed: a misspelt field would be answered as if it were not there.
  const odd = Object.keys(parsed).find((name) => !FIELDS.includes(name));
  if (odd !== undefined) throw usageError(`"${odd}" is not a field of a case`);
  if (!isRecord(settings)) throw usageError('"settings" must be an object');
  if (!isRecord(input)) throw usageError('"input" must be an object');
  if (typeof tool !== 'string' || tool === '') throw usageError('"tool" must name a tool');
  if (typeof cwd !== 'string') throw usageError('"cwd" must be a path');
  if (agent !== undefined && typeof agent !== 'string') throw usageError('"agent" must be a name');
  const known = PERMISSION_MODES.find((one) => one === mode);
  if (mode !== undefined && known === undefined) {
    throw usageError(`"mode" must be one of ${PERMISSION_MODES.join(', ')}`);
  }
  return { tool, input, agent, mode: known, cwd: resolve(workingDirectory(), cwd) };
}

function usageError(message: string): PortcullisError {
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
  yield rest + decoder.decode();
}
