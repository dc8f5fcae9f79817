import { expect, it } from 'vitest';
import { limitsOf } from './spawn-limits.js';

type Source = Parameters<typeof limitsOf>[0];

const settings = (values: Readonly<Record<string, number>>): Source['settings'] =>
  ({ values: new Map(Object.entries(values).map(([key, value]) => [key, { value }])) }) as never;

it('has limits as low as the environment or the settings say, whichever hold now', () => {
  const env = { CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: '7' };
  const environment = { env: {}, settings: settings({}) } as {
    -readonly [Key in keyof Source]: Source[Key];
  };
  expect(limitsOf(environment)).toEqual({ depth: 3, concurrency: 20 });
  environment.settings = settings({
    'portcullis.limits.agentDepth': 1,
    'portcullis.limits.agentConcurrency': 9,
  });
  expect(limitsOf(environment)).toEqual({ depth: 1, concurrency: 9 });
  environment.env = env as Source['env'];
  expect(limitsOf(environment)).toEqual({ depth: 1, concurrency: 7 });
});

it.each(['abc', '0', '-1', '2.5'])('does not go on with a limit that is none: %s', (text) => {
  for (const name of [
    'CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS',
    'CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH',
  ]) {
    const env = { [name]: text } as Source['env'];
    expect(() => limitsOf({ env, settings: settings({}) })).toThrow(name);
    const none = { [name]: ' ' } as Source['env'];
    expect(limitsOf({ env: none, settings: settings({}) })).toEqual({ depth: 3, concurrency: 20 });
  }
});
