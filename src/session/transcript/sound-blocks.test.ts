import { describe, expect, it } from 'vitest';
import { soundAssistantBlocks, soundUserBlocks } from './messages.js';

describe('blocks of a transcript', () => {
  it('keeps what is sound, the very same objects', () => {
    const user = [
      { type: 'text', text: 'a' },
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r' }] },
      { type: 'image', source: { type: 'base64' } },
      { type: 'of the future', anything: 1 },
    ];
    const kept = soundUserBlocks(user);
    expect(kept).toHaveLength(user.length);
    for (const [index, block] of kept.entries()) expect(block).toBe(user[index]);
    const said = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 't', name: 'Read', input: {} },
    ];
    expect(soundAssistantBlocks(said)).toEqual(said);
    expect(soundAssistantBlocks('whole')).toEqual([{ type: 'text', text: 'whole' }]);
  });

  it.each([
    [null],
    [5],
    ['x'],
    [{ type: 'text' }],
    [{ type: 'text', text: 5 }],
    [{ type: 'text', text: '' }],
    [{ type: 'thinking' }],
    [{ type: 'thinking', thinking: null, signature: 's' }],
    [{ type: 'image', source: null }],
    [{ type: 'tool_use', id: 5, name: 'Read', input: {} }],
    [{ type: 'tool_use', id: 't' }],
  ])('leaves out %j', (block) => {
    expect(soundAssistantBlocks([block])).toEqual([]);
    if ((block as { type?: string } | null)?.type !== 'tool_use')
      expect(soundUserBlocks([block])).toEqual([]);
  });

  it('makes calls and results whole, so that each still has its other half', () => {
    expect(soundAssistantBlocks([{ type: 'tool_use', id: 't', name: 'Read', input: 'x' }])).toEqual(
      [{ type: 'tool_use', id: 't', name: 'Read', input: {} }],
    );
    for (const content of [undefined, 5, null, {}]) {
      expect(soundUserBlocks([{ type: 'tool_result', tool_use_id: 't', content }])).toEqual([
        { type: 'tool_result', tool_use_id: 't', content: '' },
      ]);
    }
    const parts = [null, { type: 'text' }, { type: 'text', text: 'r' }];
    expect(soundUserBlocks([{ type: 'tool_result', tool_use_id: 't', content: parts }])).toEqual([
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r' }] },
    ]);
    expect(soundUserBlocks([{ type: 'tool_result', content: 'orphan' }])).toEqual([]);
  });
});
