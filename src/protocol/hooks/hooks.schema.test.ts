import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_OUTPUTS } from '../../../build/generated/hook-events.js';
import { HOOK_SAMPLES } from '../../../build/generated/hook-samples.js';
import { HOOK_EVENTS, type HookEventName, hookEventFacts } from './hook-events.js';
import { HOOK_DEFINITIONS, hookInputSchema, hookOutputSchema } from './hook-events.schema.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const EVENTS = Object.keys(HOOK_EVENTS) as HookEventName[];

function inputOf(event: HookEventName): Record<string, unknown> {
  return {
    session_id: 's-1',
    transcript_path: '/t.jsonl',
    cwd: '/project',
    hook_event_name: event,
    agent: { id: 'main', type: 'main', path: 'main', depth: 0, background: false },
    ...HOOK_SAMPLES[event],
  };
}

describe('the tables of hook events', () => {
  it('have the same events', () => {
    const sorted = (table: object): readonly string[] => Object.keys(table).sort();
    for (const table of [HOOK_DEFINITIONS, HOOK_SAMPLES, HOOK_OUTPUTS]) {
      expect(sorted(table)).toEqual(sorted(HOOK_EVENTS));
    }
  });

  it('name matcher fields that inputs have', () => {
    for (const event of EVENTS) {
      const { matcherField } = hookEventFacts(event);
      if (matcherField === undefined) continue;
      expect(HOOK_DEFINITIONS[event].input).toHaveProperty(matcherField);
      expect(HOOK_SAMPLES[event]).toHaveProperty(matcherField);
    }
  });

  it('have a sentence for when each event fires, without a full stop', () => {
    for (const { when, no } of Object.values(HOOK_DEFINITIONS)) {
      expect(when).toMatch(/^[a-z].*[a-z]$/);
      if (no !== undefined) expect(no).toMatch(/^[a-z].*[a-z]$/);
    }
  });

  it('say what a no does exactly where an event can hold something up', () => {
    for (const event of EVENTS) {
      const holds = hookEventFacts(event).role !== 'observe';
      expect([event, HOOK_DEFINITIONS[event].no !== undefined]).toEqual([event, holds]);
    }
  });
});

describe.each(EVENTS)('%s', (event) => {
  it('has an input that is valid, and notices what is missing or wrong', () => {
    const schema = hookInputSchema(event, HOOK_DEFINITIONS[event]);
    const input = inputOf(event);
    expect(schema.safeParse(input).error).toBeUndefined();
    expect(schema.safeParse({ ...input, unknown: 1 }).success).toBe(true);
    for (const name of Object.keys(input)) {
      expect(schema.safeParse({ ...input, [name]: Symbol('wrong') }).success).toBe(
        name === 'tool_response',
      );
    }
    for (const name of ['session_id', 'hook_event_name', 'agent']) {
      const { [name]: _gone, ...rest } = input;
      expect(schema.safeParse(rest).success).toBe(false);
    }
    expect(schema.safeParse({ ...input, hook_event_name: 'Other' }).success).toBe(false);
  });

  it('has an output that may be empty, common or its own', () => {
    const schema = hookOutputSchema(event, HOOK_DEFINITIONS[event]);
    expect(schema.safeParse({}).success).toBe(true);
    expect(schema.safeParse({ continue: false, stopReason: 'r', x: 1 }).success).toBe(true);
    expect(schema.safeParse({ decision: 'deny' }).success).toBe(false);
    const specific = { worktreePath: '/tree' };
    const own = (hookEventName: string) => ({
      hookSpecificOutput: { hookEventName, ...specific },
    });
    expect(schema.safeParse(own(event)).success).toBe(true);
    expect(schema.safeParse(own('Other')).success).toBe(false);
    expect(schema.safeParse({ hookSpecificOutput: specific }).success).toBe(false);
  });

  it('has its schemas published, every field with a line about it', () => {
    for (const side of ['input', 'output']) {
      const file = path.join(ROOT, `schema/hooks/${event}.${side}.json`);
      expect(existsSync(file)).toBe(true);
      const { $schema, title, ...schema } = JSON.parse(readFileSync(file, 'utf8'));
      expect([$schema, title]).toEqual([expect.any(String), `${event} hook: ${side}`]);
      expect(undescribed(schema, '')).toEqual([]);
    }
    expect(readFileSync(path.join(ROOT, 'docs/reference/hooks.md'), 'utf8')).toContain(
      `\n## ${event}\n`,
    );
  });
});

/** Fields, at any depth, that nobody says anything about. */
function undescribed(schema: Record<string, unknown>, at: string): readonly string[] {
  const properties = (schema.properties ?? {}) as Record<string, Record<string, unknown>>;
  const items = schema.items as Record<string, unknown> | undefined;
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [
      ...(/\S/.test(String(inner.description ?? '')) ? [] : [`${at}/${name}`]),
      ...undescribed(inner, `${at}/${name}`),
    ]),
    ...(items === undefined ? [] : undescribed(items, `${at}[]`)),
  ];
}
