import { describe, expect, it } from 'vitest';
import type { AskRequest } from '../../permissions/gate/types.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { Invoke } from '../../tools/invocation.js';
import { type Round, type ServedCall, ServedCalls } from './served-calls.js';

const call = (more: Partial<ServedCall> = {}): ServedCall => ({
  name: 'Bash',
  input: { command: 'ls' },
  canAsk: true,
  signal: new AbortController().signal,
  ...more,
});
const YES = { action: 'accept', content: { allow: true } };

function request({ id, input, name }: ToolUseBlock, signal: AbortSignal): AskRequest {
  const subject = { paths: [], summary: 'a\u001b[2Jcall' };
  return {
    call: { toolUseId: id, tool: { name }, input, subject, signal },
    reason: 'why',
  } as never;
}

/** Each call asks so many times; the result says what was answered. */
function rig(questions = 1) {
  let count = 0;
  const calls = new ServedCalls(() => `id-${++count}`);
  const order: string[] = [];
  const invoke: Invoke = async (block, _malformed, signal) => {
    order.push(`begin ${block.input.command}`);
    const said: string[] = [];
    for (let n = 0; n < questions; n++) {
      const answer = await calls.ask(request(block, signal));
      said.push(answer.behavior === 'deny' ? answer.message : 'allow');
    }
    order.push(`end ${block.input.command}`);
    const text = said.join('|');
    return { uuid: '', block: { type: 'tool_result', tool_use_id: block.id, content: text } };
  };
  const begin = (one: ServedCall) => calls.begin(one, { invoke, shared: one.name === 'Read' });
  return { calls, begin, order };
}

const textOf = (round: Round | undefined): unknown =>
  round?.kind === 'done' ? round.result.block.content : round?.kind;
const tokenOf = (round: Round): string => (round.kind === 'asks' ? round.token : '');

describe('calls that are served', () => {
  it('stop for each question and go on with its answer', async () => {
    const { calls, begin } = rig(2);
    const first = await begin(call());
    expect(first).toMatchObject({ kind: 'asks', message: expect.not.stringContaining('\u001b') });
    const second = await calls.resume(tokenOf(first), call(), YES);
    if (second === undefined) throw new Error('it does not go on');
    const third = await calls.resume(tokenOf(second), call(), { action: 'decline' });
    expect(textOf(third)).toBe('allow|The user said no.');
  });

  it.each([
    undefined,
    'yes',
    { action: 'cancel' },
    { action: 'accept' },
    { action: 'accept', content: { allow: 'true' } },
    { action: 'accept', content: { allow: false } },
  ])('take %j for a no', async (answer) => {
    const { calls, begin } = rig();
    const first = await begin(call());
    expect(textOf(await calls.resume(tokenOf(first), call(), answer))).toBe('The user said no.');
  });

  it('do not take an answer to another call', async () => {
    const { calls, begin } = rig();
    const first = await begin(call());
    expect(calls.resume(tokenOf(first), call({ input: { command: 'rm -r x' } }), YES)).toBe(
      undefined,
    );
    expect(calls.resume('id-99', call(), YES)).toBe(undefined);
    expect(textOf(await calls.resume(tokenOf(first), call(), YES))).toBe('allow');
    expect(calls.resume(tokenOf(first), call(), YES)).toBe(undefined);
  });

  it('are refused where the client cannot ask', async () => {
    const { begin } = rig();
    expect(textOf(await begin(call({ canAsk: false })))).toContain('No person can be asked');
  });

  it('end with a no when the client gives them up or goes', async () => {
    const { calls, begin } = rig();
    const controller = new AbortController();
    await begin(call({ signal: controller.signal }));
    controller.abort();
    const later = await begin(call({ input: { command: 'later' } }));
    expect(later.kind).toBe('asks');
    calls.close();
    expect(calls.resume(tokenOf(later), call({ input: { command: 'later' } }), YES)).toBe(
      undefined,
    );
  });

  it('have the world to themselves unless they only look', async () => {
    const { begin, order } = rig(0);
    const named = (name: string, command: string) => call({ name, input: { command } });
    await Promise.all([
      begin(named('Bash', 'one')),
      begin(named('Bash', 'two')),
      begin(named('Read', 'look')),
    ]);
    expect(order.filter((line) => !line.endsWith('look'))).toEqual([
      'begin one',
      'end one',
      'begin two',
      'end two',
    ]);
    expect(order.indexOf('begin look')).toBeLessThan(order.indexOf('begin two'));
  });
});
