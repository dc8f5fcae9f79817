import { beforeEach, describe, expect, it } from 'vitest';
import type { GateVerdict } from '../permissions/types.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import type { AnyTool, ToolContext } from '../tools/tool.js';
import { err, ok } from '../util/result.js';
import { type AgentToolDeps, agentTool } from './agent-tool.js';
import { mayBeNotedLater } from './call-facts.js';
import type { AgentDefinition } from './definition.js';

let happened: string[];
beforeEach(() => {
  happened = [];
});

const definition = { name: 'general-purpose', background: false } as AgentDefinition;
const context = { agent: MAIN_AGENT, toolUseId: 'toolu_1' } as unknown as ToolContext;
const input = { description: 'a task', prompt: 'do it' };

function toolWith(over: Partial<AgentToolDeps> = {}) {
  return agentTool({
    book: { resolve: async () => ok(definition) },
    runtime: () =>
      ({
        async spawn() {
          happened.push('started');
          return err('it is a test');
        },
      }) as unknown as ReturnType<AgentToolDeps['runtime']>,
    words: { cap: 1, spill: () => expect.unreachable(), canResume: () => true },
    forks: () => undefined,
    backgroundIsOff: () => undefined,
    mostRunning: () => 20,
    putOnRecord: () => void happened.push('on record'),
    ...over,
  });
}

const run = (tool: ReturnType<typeof toolWith>, given: typeof input & { name?: string }) =>
  tool.run(given, context, {} as never);

describe('the decision about an agent', () => {
  it('is on record before the agent starts', async () => {
    await run(toolWith(), input);
    expect(happened).toEqual(['on record', 'started']);
  });

  it('is on record before a teammate is made', async () => {
    const teammates = async () => {
      happened.push('joined');
      return err('it is a test');
    };
    await run(toolWith({ teammates }), { ...input, name: 'ann' });
    expect(happened).toEqual(['on record', 'joined']);
  });

  it('of one answer is written with those beside it: all are judged before the first starts', async () => {
    const tool = toolWith();
    const running = [1, 2, 3].map(async (number) => {
      happened.push(`judged ${number}`);
      return await run(tool, input);
    });
    await Promise.all(running);
    expect(happened.slice(0, 4)).toEqual(['judged 1', 'judged 2', 'judged 3', 'on record']);
  });

  it('may wait for that only where it was allowed', () => {
    const allowed = { kind: 'allowed' } as GateVerdict;
    const refused = { kind: 'refused' } as GateVerdict;
    const tool = toolWith() as unknown as AnyTool;
    expect(mayBeNotedLater(tool, allowed)).toBe(true);
    expect(mayBeNotedLater(tool, refused)).toBe(false);
    expect(mayBeNotedLater({ ...tool, startsOnRecord: undefined } as never, allowed)).toBe(false);
    expect(mayBeNotedLater({ kind: 'read' } as AnyTool, allowed)).toBe(true);
    expect(mayBeNotedLater({ kind: 'read' } as AnyTool, refused)).toBe(false);
    expect(mayBeNotedLater({ kind: 'edit' } as AnyTool, allowed)).toBe(false);
  });
});
