import { describe, expect, it } from 'vitest';
import { resolveModel } from './aliases.js';
import { plainModelName } from './models.js';

describe('resolveModel', () => {
  it.each([
    ['opus', 'claude-opus-5-5'],
    ['Sonnet', 'claude-sonnet-5-5'],
    ['haiku', 'claude-haiku-5-5'],
    ['fable', 'claude-fable-5-1'],
    ['default', 'claude-opus-5-5'],
    ['best', 'claude-opus-5-5'],
    ['opusplan', 'claude-sonnet-5-5'],
    ['claude-opus-4-8', 'claude-opus-4-8'],
    ['qwen3:32b', 'qwen3:32b'],
  ])('%s is %s', (name, id) => {
    expect(resolveModel(name, {}).id).toBe(id);
  });

  it('takes the environment where no name is given, and for what an alias means', () => {
    expect(resolveModel(undefined, { ANTHROPIC_MODEL: 'sonnet' }).id).toBe('claude-sonnet-5-5');
    expect(resolveModel(undefined, { ANTHROPIC_DEFAULT_MODEL: 'haiku' }).id).toBe(
      'claude-haiku-5-5',
    );
    expect(resolveModel('default', { ANTHROPIC_DEFAULT_MODEL: 'mine' }).id).toBe('mine');
    expect(resolveModel('opus', { ANTHROPIC_DEFAULT_OPUS_MODEL: 'my-opus' }).id).toBe('my-opus');
    expect(resolveModel('opus', { ANTHROPIC_MODEL: 'sonnet' }).id).toBe('claude-opus-5-5');
    expect(resolveModel(' ', {}).id).toBe('claude-opus-5-5');
    expect(resolveModel('default', { ANTHROPIC_DEFAULT_MODEL: 'default' }).id).toBe(
      'claude-opus-5-5',
    );
  });

  it('knows limits, assumes them for unknown models and takes corrections', () => {
    expect(resolveModel('haiku', {})).toMatchObject({ contextWindow: 1_000_000, known: true });
    expect(resolveModel('claude-haiku-4-5-20251001', {})).toMatchObject({
      contextWindow: 200_000,
      maxOutput: 64_000,
    });
    expect(resolveModel('qwen', {})).toMatchObject({
      contextWindow: 200_000,
      maxOutput: 32_000,
      known: false,
    });
    const corrected = resolveModel('qwen', { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '32768' });
    expect(corrected.contextWindow).toBe(32_768);
    expect(resolveModel('qwen', { CLAUDE_CODE_MAX_CONTEXT_TOKENS: 'x' }).contextWindow).toBe(
      200_000,
    );
  });

  it('takes [1m] as a wish for the long window and never sends it', () => {
    expect(resolveModel('claude-sonnet-4-5[1m]', {})).toMatchObject({
      id: 'claude-sonnet-4-5',
      contextWindow: 1_000_000,
      betas: ['context-1m-2025-08-07'],
    });
    expect(resolveModel('opus[1m]', {})).toMatchObject({ id: 'claude-opus-5-5', betas: [] });
    expect(resolveModel('sonnet', { ANTHROPIC_DEFAULT_SONNET_MODEL: 'x[1m]' })).toMatchObject({
      id: 'x',
      contextWindow: 1_000_000,
    });
  });
});

describe('plainModelName', () => {
  it.each([
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['anthropic/claude-opus-4-8', 'claude-opus-4-8'],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4'],
    ['claude-sonnet-4@20250514', 'claude-sonnet-4'],
    ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
    ['claude-opus-4-0', 'claude-opus-4'],
    ['claude-opus-5-5[1m]', 'claude-opus-5-5'],
    ['gpt-x', 'gpt-x'],
  ])('%s is %s', (name, plain) => {
    expect(plainModelName(name)).toBe(plain);
  });
});
