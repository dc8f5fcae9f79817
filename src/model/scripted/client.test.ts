import { describe, expect, it } from 'vitest';
import { openModel } from '../catalog/open.js';
import { chooseProvider } from '../catalog/provider.js';
import { loadScript } from './client.js';
import { parseScript } from './format.js';

function problemOf(script: unknown): string | undefined {
  const parsed = parseScript(
    typeof script === 'string' ? script : JSON.stringify(script),
    's.json',
  );
  return parsed.ok ? undefined : parsed.error;
}

describe('parseScript', () => {
  it('takes lists, replies and actors', () => {
    expect(problemOf(['a', { text: 'b' }, { tool: 'Read', input: {} }])).toBeUndefined();
    expect(
      problemOf({ replies: [{ blocks: ['a', { thinking: 'b' }], stopReason: 'x' }] }),
    ).toBeUndefined();
    expect(
      problemOf({
        actors: [{ name: 'a', match: { system: 'x' }, replies: [{ error: { status: 500 } }] }],
      }),
    ).toBeUndefined();
  });

  it.each([
    ['{', 's.json is not JSON'],
    ['3', 's.json must hold a list'],
    [{}, 's.json has neither "replies" nor "actors"'],
    [['a', { txt: 'b' }], 's.json, reply 2: unknown key "txt", did you mean "text"?'],
    [[{ when: 'x' }], 's.json, reply 1: says nothing: give "text", "tool", "blocks" or "error"'],
    [[{ tool: 3 }], 's.json, reply 1: "tool" must be a string'],
    [[{ error: {} }], 's.json, reply 1: "error" has no "status"'],
    [[{ blocks: ['a', { toool: 'b' }] }], 's.json, reply 1: block 2: unknown key "toool"'],
    [{ actors: [{ replies: [] }] }, 's.json, actor 1: "name" is missing'],
    [
      { actors: [{ name: 'a', match: { sys: 'x' }, replies: [] }] },
      '"match" of "a": unknown key "sys"',
    ],
    [{ actors: [{ name: 'a', replies: [4] }] }, 'actor 1: reply 1: must be a text or an object'],
  ])('%j: %s', (script, expected) => {
    expect(problemOf(script)).toContain(expected);
  });
});

describe('loadScript and openModel', () => {
  const readText = async (file: string) => {
    if (file === 'good.json') return '["hello"]';
    throw new Error('no such file');
  };

  it('say which file cannot be used', async () => {
    expect(await loadScript('bad.json', readText)).toEqual({
      ok: false,
      error: 'the script bad.json cannot be read: no such file',
    });
    const choice = chooseProvider({ PORTCULLIS_SCRIPT: 'bad.json' });
    await expect(openModel(choice, { version: '1', readText })).rejects.toMatchObject({
      code: 'config',
      remedy: expect.stringContaining('PORTCULLIS_SCRIPT'),
    });
    await expect(openModel(chooseProvider({}), { version: '1', readText })).rejects.toMatchObject({
      code: 'no_model',
      message: 'no model is configured',
    });
  });

  it('open every kind of provider', async () => {
    const open = async (environment: Record<string, string>) =>
      (await openModel(chooseProvider(environment), { version: '1', readText })).provider;
    expect(await open({ PORTCULLIS_SCRIPT: 'good.json' })).toBe('scripted');
    expect(await open({ ANTHROPIC_API_KEY: 'k' })).toBe('anthropic');
    expect(await open({ OPENAI_API_KEY: 'k' })).toBe('openai-compatible');
  });
});
