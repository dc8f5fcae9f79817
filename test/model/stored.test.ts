import { statSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { redactSure } from '../../src/lib/text/redact.js';
import { chooseProvider } from '../../src/model/catalog/provider.js';
import {
  forgetModel,
  readStoredModel,
  storeModel,
  withStoredModel,
} from '../../src/model/catalog/stored.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const projects: TempProject[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

function home(): Record<string, string> {
  const project = makeTempProject();
  projects.push(project);
  return { PORTCULLIS_HOME: `${project.home}/state` };
}

describe('a stored model', () => {
  it('is used where nothing else chooses one, and its key is not written down', async () => {
    const env = home();
    expect(withStoredModel(env, undefined)).toBe(env);
    const key = 'an-unusual-key-4711-0815';
    const file = await storeModel(env, { provider: 'anthropic', apiKey: key, model: 'opus' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(withStoredModel(env, undefined)).toMatchObject({
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_MODEL: 'opus',
    });
    expect(redactSure(`it was ${key}.`)).toBe('it was [redacted].');
    await forgetModel(env);
    expect(readStoredModel(env)).toBeUndefined();
  });

  it.each([
    { ANTHROPIC_API_KEY: 'k' },
    { ANTHROPIC_AUTH_TOKEN: 't' },
    { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
    { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
    { PORTCULLIS_SCRIPT: 'x.json' },
    // Wrong, and still not to be passed over.
    { ANTHROPIC_BASE_URL: 'nowhere' },
  ])('gives way to %j as a whole', async (given) => {
    const env = { ...home(), ...given };
    await storeModel(env, { provider: 'anthropic', apiKey: 'stored' });
    expect(withStoredModel(env, undefined)).toBe(env);
  });

  it('serves a name with the prefix of its provider, and of no other', async () => {
    const env = home();
    await storeModel(env, { provider: 'openai', baseUrl: 'http://127.0.0.1:1/v1', model: 'a/b' });
    const used = withStoredModel(env, 'openai/x');
    expect(chooseProvider(used, { model: 'openai/x' })).toMatchObject({
      kind: 'openai',
      model: 'x',
    });
    const other = withStoredModel(env, 'anthropic/x');
    expect(chooseProvider(other, { model: 'anthropic/x' }).kind).toBe('none');
  });
});
