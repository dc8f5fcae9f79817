import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HookEventName } from '../../src/hooks/registry/hook.js';
import { command, type Fields, LOGS, seen } from './e2e-rig.js';
import { EVENTS, FIRING, type Tour, TREE, tour } from './e2e-tour.js';

let toured: Tour;
let inputs: readonly Fields[];
beforeAll(async () => {
  toured = await tour({
    hooks: (event) => [command(event === 'WorktreeCreate' ? `${LOGS}; echo ${TREE}` : LOGS)],
    slowly: true,
  });
  inputs = seen(toured.world);
}, 300_000);

const of = (event: HookEventName): readonly Fields[] =>
  inputs.filter((input) => input.hook_event_name === event);

describe('an event that says that it fires, does', () => {
  it.each(FIRING)('%s', (event) => {
    expect(of(event).length).toBeGreaterThan(0);
  });

  it('no other does', () => {
    const fired = new Set(inputs.map((input) => input.hook_event_name));
    expect(EVENTS.filter((event) => !FIRING.includes(event) && fired.has(event))).toEqual([]);
  });
});

describe('what every hook is told', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const schemas = path.resolve(import.meta.dirname, '../../schema/hooks');

  it.each(FIRING)('%s fits its published schema', (event) => {
    const schema = JSON.parse(readFileSync(path.join(schemas, `${event}.input.json`), 'utf8'));
    const fits = ajv.compile(schema);
    for (const input of of(event)) {
      expect(fits(input), `${JSON.stringify(fits.errors)}\n${JSON.stringify(input)}`).toBe(true);
    }
  });

  it('names an agent that works for another one', () => {
    for (const event of ['SubagentStart', 'SubagentStop'] as const) {
      expect(of(event)[0]).toMatchObject({
        agent: {
          id: expect.stringMatching(/^a[0-9a-f]{16}$/),
          type: 'general-purpose',
          path: 'main/general-purpose#1',
          parent_id: 'main',
          depth: 1,
          spawned_by_tool_use_id: expect.any(String),
          background: false,
        },
        agent_id: expect.stringMatching(/^a/),
        agent_type: 'general-purpose',
        transcript_path: expect.stringMatching(/[0-9a-f-]{36}\.jsonl$/),
        agent_transcript_path: expect.stringMatching(/subagents\/agent-a[0-9a-f]{16}\.jsonl$/),
      });
    }
  });

  it('names the server that asks, what it asks, and what it is told', () => {
    const asked = { mcp_server_name: 'asker', mode: 'form' };
    expect(of('Elicitation')).toMatchObject([
      {
        ...asked,
        message: 'Who are you?',
        requested_schema: { properties: { name: { type: 'string' } } },
      },
    ]);
    expect(of('ElicitationResult')).toMatchObject([
      { ...asked, action: 'accept', content: { name: 'Ada' } },
    ]);
    const [told] = of('PostToolUse').filter(({ tool_name }) => tool_name === 'mcp__asker__ask');
    const text = 'The answer: {"action":"accept","content":{"name":"Ada"}}';
    expect(told?.tool_response).toEqual([{ type: 'text', text }]);
  });

  it('names the agent that a tree is made for, and the tree once it goes', () => {
    const agent = { depth: 1, path: 'main/general-purpose#2' };
    const [made] = of('WorktreeCreate');
    expect(of('WorktreeCreate')).toMatchObject([
      { agent, name: `agent-${made?.agent_id}`, cwd: toured.world.project.directory },
    ]);
    const tree = path.join(toured.world.project.home, 'tree');
    expect(of('WorktreeRemove')).toMatchObject([
      { agent, agent_id: made?.agent_id, worktree_path: tree },
    ]);
    expect(of('SubagentStop')[1]).toMatchObject({
      agent: { ...agent, isolation: 'worktree', workspace: tree },
    });
    expect(existsSync(tree)).toBe(false);
  });

  it('names the agent, the session, its transcript and the directory', () => {
    const main = inputs.filter(({ agent }) => (agent as Fields).depth === 0);
    for (const input of main) {
      expect(input, String(input.hook_event_name)).toMatchObject({
        agent: { id: 'main', type: expect.any(String), path: 'main', depth: 0, background: false },
        session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        transcript_path: expect.stringContaining(`${input.session_id}.jsonl`),
        cwd: expect.stringContaining(toured.world.project.directory),
      });
      // The main agent's own transcript is the session's.
      expect(input.agent_transcript_path ?? input.transcript_path).toBe(input.transcript_path);
      // Only a subagent has these.
      expect(input).not.toHaveProperty('agent_id');
      expect(input).not.toHaveProperty('agent_type');
    }
  });
});
