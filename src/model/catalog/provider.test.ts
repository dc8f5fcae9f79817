import { describe, expect, it } from 'vitest';
import { chooseProvider } from './provider.js';

describe('chooseProvider', () => {
  it('needs something to be configured', () => {
    expect(chooseProvider({})).toMatchObject({ kind: 'none', reason: 'no model is configured' });
    expect(chooseProvider({ ANTHROPIC_API_KEY: ' ' }).kind).toBe('none');
  });

  it('takes what is set for Anthropic', () => {
    expect(
      chooseProvider(
        {
          ANTHROPIC_API_KEY: 'k',
          ANTHROPIC_BASE_URL: 'https://proxy.test/api/v1/',
          ANTHROPIC_CUSTOM_HEADERS: 'X-Team: blue\n bad line \nX-Url: http://a:1',
          ANTHROPIC_BETAS: 'one, two',
          CLAUDE_CODE_EXTRA_BODY: '{"top_k":1}',
          PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: '1000',
        },
        { model: 'opus' },
      ),
    ).toEqual({
      kind: 'anthropic',
      baseUrl: 'https://proxy.test/api',
      apiKey: 'k',
      customHeaders: { 'x-team': 'blue', 'x-url': 'http://a:1' },
      betas: ['one', 'two'],
      extraBody: { top_k: 1 },
      idleTimeoutMs: 1000,
      model: 'opus',
    });
  });

  it('needs a key for the public servers, not for others', () => {
    expect(chooseProvider({}, { model: 'anthropic/opus' })).toMatchObject({
      kind: 'none',
      remedy: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
    expect(chooseProvider({}, { model: 'openai/gpt' })).toMatchObject({
      kind: 'none',
      remedy: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(chooseProvider({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }).kind).toBe('anthropic');
    expect(chooseProvider({ OPENAI_BASE_URL: 'http://127.0.0.1:11434' })).toEqual({
      kind: 'openai',
      baseUrl: 'http://127.0.0.1:11434/v1',
    });
    expect(chooseProvider({ OPENAI_API_KEY: 'k' })).toEqual({
      kind: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'k',
    });
  });

  it('prefers the script, then the prefix of the model, then our own variable, then Anthropic', () => {
    const all = {
      ANTHROPIC_API_KEY: 'a',
      OPENAI_API_KEY: 'o',
      OPENAI_BASE_URL: 'http://o.test/v1',
      PORTCULLIS_OPENAI_BASE_URL: 'http://p.test/api/v2/',
    };
    expect(chooseProvider({ ...all, PORTCULLIS_SCRIPT: 's.json' })).toEqual({
      kind: 'scripted',
      file: 's.json',
    });
    expect(chooseProvider(all, { model: 'anthropic/x' })).toMatchObject({
      kind: 'anthropic',
      model: 'x',
    });
    expect(chooseProvider(all, { model: 'org/x' })).toMatchObject({
      kind: 'openai',
      baseUrl: 'http://p.test/api/v2',
      model: 'org/x',
    });
    const { PORTCULLIS_OPENAI_BASE_URL: _ours, ...rest } = all;
    expect(chooseProvider(rest).kind).toBe('anthropic');
    expect(chooseProvider(rest, { model: 'openai/org/x' })).toMatchObject({
      kind: 'openai',
      baseUrl: 'http://o.test/v1',
      model: 'org/x',
    });
  });

  it('names what cannot be read', () => {
    expect(chooseProvider({ ANTHROPIC_BASE_URL: 'localhost:80' })).toMatchObject({
      kind: 'none',
      reason: 'ANTHROPIC_BASE_URL is not an address: "localhost:80"',
    });
    expect(chooseProvider({ ANTHROPIC_API_KEY: 'k', CLAUDE_CODE_EXTRA_BODY: '[]' })).toMatchObject({
      kind: 'none',
      reason: 'CLAUDE_CODE_EXTRA_BODY is not a JSON object',
    });
  });

  it('does not show a password that stands in an address, and refuses the address', () => {
    for (const choice of [
      chooseProvider({ ANTHROPIC_BASE_URL: 'https://me:hunter2@example.invalid' }),
      chooseProvider({ OPENAI_BASE_URL: 'https://:hunter2@example.invalid/v1' }),
    ]) {
      expect(choice).toMatchObject({
        kind: 'none',
        reason: expect.stringContaining('a password'),
      });
      expect(JSON.stringify(choice)).not.toContain('hunter2');
    }
  });

  it('keeps the longest silence within what a timer can wait', () => {
    const env = { ANTHROPIC_API_KEY: 'k', PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: '1e99' };
    expect(chooseProvider(env)).toMatchObject({ idleTimeoutMs: 2 ** 31 - 1 });
  });
});
