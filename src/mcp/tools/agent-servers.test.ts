import { describe, expect, it } from 'vitest';
import { readBrought } from './agent-servers.js';

const around = {
  variables: { GITHUB_TOKEN: 'SECRET', ANTHROPIC_API_KEY: 'SECRET', PLACE: 'here' },
  lists: { denied: [], fences: [] },
  taken: [],
};
const read = (config: unknown, ofProject: boolean) =>
  readBrought([{ name: 'own', config }], { ofProject, ofHost: false }, around);

describe('servers that an agent of a project brings', () => {
  it.each([
    { command: 'x', env: { A: `\${GITHUB_TOKEN}` } },
    { command: 'x', args: [`\${ANTHROPIC_API_KEY}`] },
    { command: `\${GITHUB_TOKEN:-x}` },
    { type: 'http', url: 'https://a.invalid', headers: { A: `Bearer \${GITHUB_TOKEN}` } },
  ])('are given no credentials: %j', (config) => {
    const brought = read(config, true);
    expect(brought.declarations).toEqual([]);
    expect(brought.notes[0]).toMatch(/GITHUB_TOKEN|ANTHROPIC_API_KEY/);
    expect(JSON.stringify(brought)).not.toContain('SECRET');
  });

  it('may have other variables', () => {
    const config = { command: 'x', args: [`\${PLACE}`] };
    expect(read(config, true).declarations).toMatchObject([{ entry: { args: ['here'] } }]);
  });

  it('are not those that the person has: their own agents have what they name', () => {
    const config = { command: 'x', env: { A: `\${GITHUB_TOKEN}` } };
    expect(read(config, false).declarations).toMatchObject([{ entry: { env: { A: 'SECRET' } } }]);
  });
});
