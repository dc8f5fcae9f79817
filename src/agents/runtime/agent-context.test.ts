import { describe, expect, it } from 'vitest';
import { childSystem } from './agent-context.js';

const FACTS = {
  cwd: '/p',
  additionalDirectories: [],
  platform: 'linux',
  date: '2026-11-17',
  gitBranch: undefined,
  model: 'm',
};

describe('what an agent is told that it is', () => {
  it('is the very same for agents of one kind in one place', async () => {
    const kind = { prompt: async () => 'Looks.' };
    const system = await childSystem(kind, FACTS);
    expect(await childSystem({ ...kind }, FACTS)).toEqual(system);
  });

  it('is another one once the kind or the place is', async () => {
    let text = 'Looks.';
    const kind = { prompt: async () => text };
    const textOf = async (facts: typeof FACTS) =>
      (await childSystem(kind, facts)).map((block) => block.text).join('\n');
    expect(await textOf(FACTS)).toContain('Primary working directory: /p');
    expect(await textOf({ ...FACTS, cwd: '/q' })).toContain('Primary working directory: /q');
    expect(await textOf({ ...FACTS, date: '2026-11-18' })).toContain('Date: 2026-11-18');
    text = 'Writes.';
    expect(await textOf(FACTS)).toContain('Writes.');
    expect(await textOf(FACTS)).not.toContain('Looks.');
  });
});
