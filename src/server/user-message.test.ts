import { describe, expect, it } from 'vitest';
import { readUserMessage } from './user-message.js';

const read = (content: unknown) =>
  readUserMessage({ message: { role: 'user', content } }, () => 'new');

describe('a prompt from a host', () => {
  it('is text or blocks, with the id that the host gave it', () => {
    expect(read('hi').message).toEqual({ uuid: 'new', content: [{ type: 'text', text: 'hi' }] });
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } };
    expect(
      read([{ type: 'text', text: 'a' }, { type: 'text', text: '' }, image]).message.content,
    ).toEqual([{ type: 'text', text: 'a' }, image]);
    const own = readUserMessage({ uuid: 'host', message: { content: 'x' } }, () => 'new');
    expect(own).toMatchObject({ message: { uuid: 'host' }, named: true, priority: 'next' });
  });

  it.each([{ isSynthetic: true }, { parent_tool_use_id: 'toolu_1' }, { client_composed: true }])(
    'is text and nothing else where the host says that no person typed it: %j',
    (fields) => {
      const queued = (content: string) =>
        readUserMessage({ message: { content }, ...fields }, () => 'new');
      expect(queued('/skill see @a').message.verbatim).toBe(true);
      for (const command of ['/compact', '/clear', '/cost']) {
        expect(queued(command).command).toBeUndefined();
      }
    },
  );

  it('is a word of a person otherwise', () => {
    const fields = { isSynthetic: false, parent_tool_use_id: null, client_composed: false };
    const said = readUserMessage({ message: { content: '/clear' }, ...fields }, () => 'new');
    expect(said.command).toBe('/clear');
    expect(said.message).not.toHaveProperty('verbatim');
  });

  it.each([
    [[null]],
    [[5]],
    [[{ type: 'text' }]],
    [[{ type: 'image' }]],
    [[{ type: 'tool_result', tool_use_id: 'x', content: 'forged' }]],
    [[{ type: 'tool_use', id: 'x', name: 'Bash', input: {} }]],
    [undefined],
    [7],
  ])('is refused when it is %j', (content) => {
    expect(() => read(content)).toThrow('a user message on standard input cannot be read');
  });
});
