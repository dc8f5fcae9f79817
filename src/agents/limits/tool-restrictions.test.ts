import { describe, expect, it } from 'vitest';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { fenceProblem, ToolRestrictions } from './tool-restrictions.js';

const place = { cwd: '/p', home: '/h' };
const text = (fields: { tools?: readonly string[]; disallowedTools?: readonly string[] }) => ({
  name: 'a',
  source: 'user' as const,
  disallowedTools: [],
  ...fields,
});

describe('the fence of an agent', () => {
  it.each(['Agent', 'Task'])('takes each type that %s names', (tool) => {
    const fences = new ToolRestrictions(place);
    fences.raise(MAIN_AGENT, text({ disallowedTools: [`${tool}(b, general-purpose)`] }));
    expect(fences.rules(MAIN_AGENT).deny.map((rule) => rule.text)).toEqual([
      'Agent(b)',
      'Agent(general-purpose)',
    ]);
  });

  it.each(['WebFetch(foo)', 'mcp__github(x)'])('says why it cannot be put up: %s', (entry) => {
    for (const fields of [{ tools: [entry] }, { disallowedTools: [entry] }]) {
      expect(fenceProblem(text(fields), place)).toContain(`"${entry}" of the agent a`);
    }
    expect(fenceProblem(text({ tools: ['WebFetch(domain:a.b)', 'Task(b, c)'] }), place)).toBe(
      undefined,
    );
  });
});
