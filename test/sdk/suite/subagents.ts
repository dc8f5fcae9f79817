import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Actor } from '../../../src/model/scripted/format.js';
import type { Client, ClientOptions } from './client.js';
import { blocksIn, kindOf, ofKind, resultOf, shown, toolResult, toolResults } from './look.js';
import { allAtOnce, type Frame, play } from './play.js';

const agents: NonNullable<ClientOptions['agents']> = {
  helper: { description: 'helps', prompt: 'You help', tools: ['Bash', 'Read'] },
};

const spawn = (fields: object = {}) => ({
  tool: 'Agent',
  id: 'toolu_agent',
  input: { description: 'sub task', prompt: 'do it', subagent_type: 'helper', ...fields },
});

const cast = (main: Actor['replies'], helper: Actor['replies']): readonly Actor[] => [
  { name: 'helper', match: { system: 'You help' }, replies: helper },
  { name: 'main', replies: main },
];
const fromSub = { tool: 'Bash', input: { command: 'echo from-sub' }, id: 'toolu_sub' };

/** Row 13 of the checklist: agents, in the foreground and in the background. */
export function subagents(client: Client): void {
  const watching = () => {
    const seen: HookInput[] = [];
    const watch = [
      {
        hooks: [
          async (input: HookInput) => {
            seen.push(input);
            return {};
          },
        ],
      },
    ];
    const hooks = {
      PreToolUse: watch,
      PostToolUse: watch,
      SubagentStart: watch,
      SubagentStop: watch,
      Stop: watch,
    };
    return { seen, hooks };
  };

  describe('an agent in the foreground', () => {
    it('works under the call that started it, and the hooks know it', async () => {
      const { seen, hooks } = watching();
      const played = await play(client, {
        actors: cast([spawn({ run_in_background: false }), 'main done'], [fromSub, 'sub done']),
        options: { agents, hooks },
      });
      expect(resultOf(played)).toMatchObject({ subtype: 'success', result: 'main done' });
      expect(played.world.model.problems()).toEqual([]);
      const inner = played.frames.filter((frame) => frame.parent_tool_use_id === 'toolu_agent');
      expect(inner.flatMap(blocksIn)).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({ type: 'tool_use', name: 'Bash' }),
          expect.objectContaining({ type: 'tool_result', tool_use_id: 'toolu_sub' }),
        ]),
      );
      const outer = toolResults(played).find(({ id }) => id === 'toolu_agent');
      expect(outer).toMatchObject({
        isError: false,
        parent: null,
        text: expect.stringContaining('sub done'),
        structured: {
          status: 'completed',
          agentId: expect.any(String),
          content: [{ type: 'text', text: expect.stringContaining('sub done') }],
          totalToolUseCount: 1,
          prompt: 'do it',
        },
      });
      const agent = { agent_id: expect.any(String), agent_type: 'helper' };
      expect(seen).toMatchObject([
        { hook_event_name: 'PreToolUse', tool_name: 'Agent' },
        { hook_event_name: 'SubagentStart', ...agent },
        { hook_event_name: 'PreToolUse', tool_name: 'Bash', ...agent },
        { hook_event_name: 'PostToolUse', tool_name: 'Bash', ...agent },
        { hook_event_name: 'SubagentStop', stop_hook_active: false, ...agent },
        { hook_event_name: 'PostToolUse', tool_name: 'Agent' },
        { hook_event_name: 'Stop' },
      ]);
      expect(seen[0]).not.toHaveProperty('agent_id');
    });

    it('is told as a task that starts, goes on and ends', async () => {
      const played = await play(client, {
        actors: cast([spawn({ run_in_background: false }), 'main done'], [fromSub, 'sub done']),
        options: { agents },
      });
      const tasks = played.frames.filter((frame) => /^system\/task_/.test(kindOf(frame)));
      expect(tasks.map(kindOf)).toEqual([
        'system/task_started',
        'system/task_progress',
        'system/task_updated',
        'system/task_notification',
      ]);
      expect(tasks).toMatchObject([
        {
          tool_use_id: 'toolu_agent',
          description: 'sub task',
          subagent_type: 'helper',
          task_type: 'local_agent',
          is_backgrounded: false,
        },
        { last_tool_name: 'Bash', usage: { tool_uses: 1 } },
        { patch: { status: 'completed' } },
        { tool_use_id: 'toolu_agent', status: 'completed', summary: expect.any(String) },
      ]);
      expect(new Set(tasks.map((frame) => frame.task_id)).size).toBe(1);
    });

    it('has the tools of its definition only, and its calls are asked about under its name', async () => {
      const asks: (string | undefined)[] = [];
      const played = await play(client, {
        actors: cast(
          [spawn({ run_in_background: false }), 'main done'],
          [
            { tool: 'Write', input: { file_path: 'z.txt', content: 'z' }, id: 'toolu_w' },
            { tool: 'Bash', input: { command: 'mkdir d' }, id: 'toolu_m' },
            'sub done',
          ],
        ),
        options: {
          agents,
          canUseTool: async (tool, _input, { agentID }) => {
            asks.push(`${tool} ${agentID === undefined ? 'main' : 'agent'}`);
            return { behavior: 'deny', message: 'NO' };
          },
        },
      });
      expect(asks).toEqual(['Bash agent']);
      expect(played.world.project.exists('z.txt')).toBe(false);
      expect(played.world.project.exists('d')).toBe(false);
      const results = toolResults(played);
      expect(results.find(({ id }) => id === 'toolu_w')?.text).toMatch(/no such tool/i);
      expect(results.find(({ id }) => id === 'toolu_m')?.text).toBe('NO');
    });

    it("forwards the agent's words only where that is asked for", async () => {
      const words = async (forwardSubagentText: boolean) => {
        const played = await play(client, {
          actors: cast([spawn({ run_in_background: false }), 'main done'], [fromSub, 'sub done']),
          options: { agents, forwardSubagentText },
        });
        return ofKind(played, 'assistant')
          .filter((frame) => frame.parent_tool_use_id === 'toolu_agent')
          .flatMap(blocksIn)
          .flatMap((block) => (block.type === 'text' ? [block.text] : []));
      };
      expect(await words(false)).toEqual([]);
      expect(await words(true)).toEqual(['sub done']);
    });
  });

  background(client, watching);
}

function background(
  client: Client,
  watching: () => { seen: HookInput[]; hooks: NonNullable<ClientOptions['hooks']> },
): void {
  const order = (frames: readonly Frame[]): readonly string[] =>
    frames.map(kindOf).filter((kind) => /result|init|task_(started|notification)/.test(kind));

  describe('an agent in the background', () => {
    it('lets the turn end, and its report is a turn of its own', async () => {
      const { seen, hooks } = watching();
      const played = await play(client, {
        actors: cast(
          [spawn({ run_in_background: true }), 'main done', 'I have read it'],
          [{ ...fromSub, delayMs: 600 }, 'sub done'],
        ),
        options: { agents, hooks },
      });
      expect(played.world.model.problems()).toEqual([]);
      expect(toolResult(played)).toMatchObject({
        id: 'toolu_agent',
        structured: {
          status: 'async_launched',
          agentId: expect.any(String),
          description: 'sub task',
        },
      });
      expect(ofKind(played, 'result')).toMatchObject([
        { result: 'main done' },
        { result: 'I have read it', origin: { kind: 'task-notification' } },
      ]);
      expect(order(played.frames)).toEqual([
        'system/init',
        'system/task_started',
        'result/success',
        'system/task_notification',
        'system/init',
        'result/success',
      ]);
      // Its hooks are answered although the first result is long out.
      const events = seen.map((input) => `${input.hook_event_name} ${'agent_id' in input}`);
      expect(events).toContain('PreToolUse true');
      expect(events).toContain('SubagentStop true');
      expect(events.filter((event) => event.startsWith('Stop'))).toHaveLength(2);
      expect(shown(played.world, 3) + shown(played.world, 4)).toContain('sub done');
    });

    it('still reports when the input has ended long before', async () => {
      const played = await play(client, {
        prompt: allAtOnce('go'),
        actors: cast(
          [spawn({ run_in_background: true }), 'main done', 'I have read it'],
          [{ ...fromSub, delayMs: 600 }, 'sub done'],
        ),
        options: { agents },
      });
      expect(played.error).toBeUndefined();
      expect(ofKind(played, 'result')).toMatchObject([
        { result: 'main done' },
        { result: 'I have read it' },
      ]);
    });
  });
}
