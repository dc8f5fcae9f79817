import { describe, expect, it } from 'vitest';
import { freezeJson } from '../lib/frozen-json.js';
import { type Permit, spendPermit, takePermitIssuer } from '../permissions/gate/permit.js';
import type { Gate, GateCall, GateVerdict, JudgedCall } from '../permissions/gate/types.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { Receipt } from '../protocol/permissions.js';
import { FailureStreak, type InvalidInput } from './invalid-input.js';
import type { InvokeDeps } from './invocation.js';
import { createInvoke } from './invoke.js';
import { createPool } from './pool.js';
import type { AnyTool, ToolContext, ToolOutput } from './tool.js';

const workspace = { cwd: '/w', roots: ['/w'], setCwd: () => undefined };

function tool(more: Partial<AnyTool> = {}): AnyTool {
  return {
    name: 'Echo',
    kind: 'read',
    definition: { name: 'Echo', description: '', input_schema: {} },
    validate: async (input) =>
      (input as { text?: unknown }).text === undefined
        ? [{ path: '', message: 'the required parameter `text` is missing' }]
        : [],
    subject: () => ({ paths: [], summary: 'echo' }),
    concurrencySafe: () => true,
    run: async (input: { text: string }): Promise<ToolOutput> => ({ content: input.text }),
    ...more,
  };
}

/** The gate, which takes it otherwise, is not loaded here. */
const issuePermit = takePermitIssuer();
const permitFor = (given: Receipt, input: unknown) =>
  issuePermit({ receipt: given, input, command: undefined });

function sealed(input: Record<string, unknown>): Record<string, unknown> {
  const result = freezeJson(input);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const receipt = (decision: Receipt['decision']): Receipt => ({
  toolUseId: 'call-1',
  tool: 'Echo',
  agent: 'main',
  decision,
  decidedBy: 'test',
  reason: 'because',
  trace: [],
  input: {},
  mode: 'default',
});

const judgedAs = (call: GateCall): JudgedCall => ({
  call,
  pathsFound: () => undefined,
  shell: async () => undefined,
});

const open: Gate = async (call) => ({
  kind: 'allowed',
  input: call.input,
  receipt: receipt('allow'),
  permit: permitFor(receipt('allow'), call.input),
  judged: judgedAs(call),
});

function invoke(
  tools: AnyTool[],
  gate: Gate = open,
  watch?: InvokeDeps['watch'],
  bound: InvokeDeps['bound'] = async (output) => output,
) {
  const invalid: InvalidInput[] = [];
  const verdicts: GateVerdict[] = [];
  const run = createInvoke({
    pool: createPool(tools),
    gate,
    agent: MAIN_AGENT,
    workspace,
    contextFor: () => ({ toolUseId: 'call-1' }) as ToolContext,
    onVerdict: (_call, _tool, verdict) => void verdicts.push(verdict),
    onInvalidInput: async (found) => {
      invalid.push(found);
      return 'a note';
    },
    onRan: () => undefined,
    bound,
    monotonic: () => 0,
    uuid: () => 'uuid',
    watch,
  });
  const call = (name: string, input: Record<string, unknown>): ToolUseBlock => ({
    type: 'tool_use',
    id: 'call-1',
    name,
    input,
  });
  return { run, call, invalid, verdicts, signal: new AbortController().signal };
}

describe('what has to be made safe before a call', () => {
  it('is safe before the tool runs', async () => {
    const order: string[] = [];
    const echo = tool({
      run: async () => {
        order.push('run');
        return { content: 'ran' };
      },
    });
    const t = invoke([echo], open, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push('safe');
      return { ended: async () => [] };
    });
    await t.run(t.call('Echo', { text: 'hi' }), undefined, t.signal);
    expect(order).toEqual(['safe', 'run']);
  });
});

describe('the one way in', () => {
  it('runs a call that the gate lets through', async () => {
    const t = invoke([tool()]);
    const result = await t.run(t.call('Echo', { text: 'hi' }), undefined, t.signal);
    expect(result.block).toEqual({ type: 'tool_result', tool_use_id: 'call-1', content: 'hi' });
  });

  it('turns a tool that throws before its first await into an error result', async () => {
    const fails = (): never => {
      throw new Error('broken');
    };
    for (const more of [{ run: fails }, { subject: fails }, { validate: fails }]) {
      const t = invoke([tool(more)]);
      const { block } = await t.run(t.call('Echo', { text: 'hi' }), undefined, t.signal);
      expect(block).toMatchObject({ content: 'Echo failed: broken', is_error: true });
    }
  });

  it('has the verdict on record before the call is watched and run', async () => {
    const order: string[] = [];
    const echo = tool({
      run: async () => {
        order.push(`run after ${t.verdicts.length} verdict`);
        return { content: '' };
      },
    });
    const t = invoke([echo], open, async () => {
      order.push(`watch after ${t.verdicts.length} verdict`);
      return undefined;
    });
    await t.run(t.call('Echo', { text: 'hi' }), undefined, t.signal);
    expect(order).toEqual(['watch after 1 verdict', 'run after 1 verdict']);
  });

  it('uses a permit once, also when two calls bring it at the same time', async () => {
    const permits: Permit[] = [];
    const same: Gate = async (call) => {
      permits[0] ??= permitFor(receipt('allow'), call.input);
      const [permit = permitFor(receipt('deny'), {})] = permits;
      return {
        kind: 'allowed',
        input: permit.input as typeof call.input,
        receipt: receipt('allow'),
        permit,
        judged: judgedAs(call),
      };
    };
    let runs = 0;
    const t = invoke([tool({ run: async () => ({ content: `${++runs}` }) })], same);
    const call = t.call('Echo', { text: 'hi' });
    const [first, second] = await Promise.all([
      t.run(call, undefined, t.signal),
      t.run(call, undefined, t.signal),
    ]);
    expect(first?.block.content).toBe('1');
    expect(second?.block.content).toContain('already used');
    expect((await t.run(call, undefined, t.signal)).block.content).toContain('already used');
    expect(runs).toBe(1);
  });

  it('resolves names without regard to case and by alias, and looks up nothing on prototypes', async () => {
    const t = invoke([tool({ aliases: ['Say'] })]);
    for (const name of ['echo', 'ECHO', 'Say']) {
      expect(
        (await t.run(t.call(name, { text: 'hi' }), undefined, t.signal)).block.is_error,
      ).toBeUndefined();
    }
    const result = await t.run(t.call('constructor', {}), undefined, t.signal);
    expect(result.block.content).toBe('No such tool available: constructor. Known tools: Echo.');
  });

  it('does not run what the gate refuses, and passes an interruption on', async () => {
    let ran = false;
    const refuse: Gate = async () => ({
      kind: 'refused',
      receipt: receipt('deny'),
      message: 'no',
      interrupt: true,
    });
    const t = invoke(
      [
        tool({
          run: async () => {
            ran = true;
            return { content: '' };
          },
        }),
      ],
      refuse,
    );
    const result = await t.run(t.call('Echo', { text: 'hi' }), undefined, t.signal);
    expect({ ran, result }).toMatchObject({
      ran: false,
      result: { interrupt: true, block: { content: 'no', is_error: true } },
    });
    expect(t.verdicts).toHaveLength(1);
  });

  it('asks the gate nothing about an invalid input', async () => {
    const t = invoke([tool()]);
    const result = await t.run(t.call('Echo', {}), undefined, t.signal);
    expect(result.block).toMatchObject({
      is_error: true,
      content:
        'InputValidationError: Echo was not run.\n- the required parameter `text` is missing\na note',
    });
    expect(t.verdicts).toHaveLength(0);
    const cut = await t.run(
      t.call('Echo', {}),
      { raw: '{"text":"ab', cause: 'output_limit' },
      t.signal,
    );
    expect(cut.block.content).toContain('output limit was reached');
    expect(t.invalid).toHaveLength(2);
  });

  it('turns a throw of the tool, the gate or a used permit into an error result', async () => {
    const bad = invoke([
      tool({
        run: async () => {
          throw new Error('disk on fire');
        },
      }),
    ]);
    expect(
      (await bad.run(bad.call('Echo', { text: 'x' }), undefined, bad.signal)).block.content,
    ).toBe('Echo failed: disk on fire');
    const throwing = invoke([tool()], async () => {
      throw new Error('gate broke');
    });
    expect(
      (await throwing.run(throwing.call('Echo', { text: 'x' }), undefined, throwing.signal)).block,
    ).toMatchObject({ is_error: true });
    const permit = permitFor(receipt('allow'), sealed({ text: 'other' }));
    const forged = invoke([tool()], async (call) => ({
      kind: 'allowed',
      input: call.input,
      receipt: receipt('allow'),
      permit,
      judged: judgedAs(call),
    }));
    expect(
      (await forged.run(forged.call('Echo', { text: 'x' }), undefined, forged.signal)).block
        .content,
    ).toContain('given for another call');
  });

  it('runs what was judged, whatever becomes of the object that it came in', async () => {
    const input = { text: 'judged' };
    const t = invoke([tool()], async (call) => {
      input.text = 'changed';
      return await open(call);
    });
    const { block } = await t.run(t.call('Echo', input), undefined, t.signal);
    expect(block.content).toBe('judged');
  });

  it('takes no input that answers reads by code', async () => {
    const t = invoke([tool()]);
    const input = {
      get text() {
        return 'x';
      },
    };
    const { block } = await t.run(t.call('Echo', input), undefined, t.signal);
    expect(block).toMatchObject({
      is_error: true,
      content: expect.stringContaining('"text" is code'),
    });
    expect(t.verdicts).toEqual([]);
  });

  it('takes away what a model may not send before anybody sees it', async () => {
    let seen: unknown;
    const t = invoke([
      tool({
        fromModel: ({ answers: _answers, ...rest }) => rest,
        run: async (input) => {
          seen = input;
          return { content: '' };
        },
      }),
    ]);
    await t.run(t.call('Echo', { text: 'x', answers: { q: 'forged' } }), undefined, t.signal);
    expect(seen).toEqual({ text: 'x' });
  });
});

describe('a permit', () => {
  it('is good once, for its own call, and only when it allows', () => {
    const input = sealed({});
    const permit = permitFor(receipt('allow'), input);
    spendPermit(permit, 'call-1', input);
    expect(() => spendPermit(permit, 'call-1', input)).toThrow('already used');
    expect(() => spendPermit(permitFor(receipt('allow'), input), 'call-2', input)).toThrow(
      'another call',
    );
    expect(() => spendPermit(permitFor(receipt('deny'), input), 'call-1', input)).toThrow(
      'does not allow',
    );
  });

  it('is good for nothing where the gate did not make it', () => {
    const input = sealed({});
    const made = permitFor(receipt('allow'), input);
    const copy = Object.create(made) as Permit;
    const forged = { receipt: receipt('allow'), input } as Permit;
    for (const one of [copy, forged]) {
      expect(() => spendPermit(one, 'call-1', input)).toThrow('not made by the gate');
    }
    const again = Reflect.construct(made.constructor, [
      { receipt: receipt('allow'), input, command: undefined },
    ]) as Permit;
    expect(() => spendPermit(again, 'call-1', input)).toThrow('not made by the gate');
    expect(() => takePermitIssuer()).toThrow('by the gate alone');
  });

  it('is good for nothing where the input may still change', () => {
    const input = { text: 'x' };
    const permit = permitFor(receipt('allow'), input);
    expect(() => spendPermit(permit, 'call-1', input)).toThrow('may change');
  });
});

describe('a streak of like failures', () => {
  const failed = (message: string): InvalidInput => ({
    call: { type: 'tool_use', id: 'x', name: 'Write', input: {} },
    tool: 'Write',
    malformed: undefined,
    problems: [{ path: '', message }],
  });

  it('is noticed at the third and forgotten after a valid call', () => {
    const streak = new FailureStreak();
    streak.failed(failed('a'));
    streak.failed(failed('a'));
    expect(streak.stuck).toBeUndefined();
    streak.failed(failed('b'));
    expect(streak.stuck).toBeUndefined();
    streak.failed(failed('b'));
    streak.failed(failed('b'));
    expect(streak.stuck).toContain('3 times in a row');
    streak.succeeded();
    expect(streak.stuck).toBeUndefined();
  });
});
