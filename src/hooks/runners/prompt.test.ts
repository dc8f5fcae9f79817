import { describe, expect, it } from 'vitest';
import { hookOf, JUDGE, requestOf } from '../../../test/hooks/runner-rig.js';
import { err, ok } from '../../lib/result.js';
import { type AskModel, createPromptRunner } from './model.js';

const hook = hookOf({ type: 'prompt', prompt: 'Judge $ARGUMENTS' });
const answering = (text: string): Promise<unknown> =>
  createPromptRunner({ ask: async () => ok(text) })(hook, requestOf());

describe('a prompt hook', () => {
  it.each([
    ['{"ok": true}', { ok: true }],
    [' \n{"ok":false,"reason":"no"}\n', { ok: false, reason: 'no' }],
    ['```json\n{"ok": true}\n```', { ok: true }],
    ['```\n{\n  "ok": false\n}\n```\n', { ok: false }],
    ['{"ok":false,"impossible":true}', { ok: false, impossible: true }],
  ])('reads %j', async (text, verdict) => {
    expect(await answering(text)).toEqual({ kind: 'verdict', ...verdict });
  });

  it.each([
    '',
    'not json at all',
    'ok: true',
    'true',
    '[{"ok": true}]',
    '{}',
    '{"ok": "true"}',
    '{"ok": 1}',
    '{"ok": null}',
    '{"OK": true}',
    '{"ok": true, "reason": 5}',
    '{"ok": true, "impossible": "no"}',
    '{"ok": true, "decision": "block"}',
    '{"ok": true} That is fine.',
    'Here it is: {"ok": true}',
    '{"ok": true}{"ok": false}',
    '```json\n{"ok": true}\n```\nDone.',
    '```json\n{"ok": true}\n```\n```json\n{"ok": false}\n```',
    '```json\n{"ok": true}',
    '{"ok": true',
    '{"ok": true, "__proto__": {}}',
  ])('takes %j for no verdict', async (text) => {
    expect(await answering(text)).toMatchObject({
      kind: 'failed',
      failure: { cause: 'no-verdict' },
    });
  });

  it('says when the model cannot be asked', async () => {
    const asks: AskModel[] = [
      async () => err('no key'),
      () => Promise.reject(new Error('no key')),
      () => {
        throw new Error('no key');
      },
    ];
    for (const ask of asks) {
      expect(await createPromptRunner({ ask })(hook, requestOf())).toEqual({
        kind: 'failed',
        failure: { cause: 'unavailable', message: 'no key' },
      });
    }
  });

  it('gives the model a limited time, and tells it when that is over', async () => {
    let given: AbortSignal | undefined;
    const ask: AskModel = (_question, signal) => {
      given = signal;
      return new Promise(() => {});
    };
    const raw = await createPromptRunner({ ask })(hook, requestOf({ timeoutMs: 20 }));
    expect(raw).toMatchObject({ failure: { cause: 'timeout' } });
    expect(given?.aborted).toBe(true);
  });

  it('asks nothing about the calls of a judge', async () => {
    const ask: AskModel = () => Promise.reject(new Error('asked'));
    expect(await createPromptRunner({ ask })(hook, requestOf({ agent: JUDGE }))).toMatchObject({
      failure: { cause: 'unavailable', message: 'a judge cannot be judged by a judge' },
    });
  });
});
