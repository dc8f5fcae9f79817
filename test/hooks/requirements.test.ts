import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HookEventName } from '../../src/hooks/hook.js';
import { command, type Fields, LOGS, seen } from './e2e-rig.js';
import { EVENTS, FIRING, type Tour, tour } from './e2e-tour.js';

let toured: Tour;
let inputs: readonly Fields[];
beforeAll(async () => {
  toured = await tour({ hooks: () => [command(LOGS)], slowly: true });
  inputs = seen(toured.world);
}, 60_000);

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
