import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../protocol/content.js';
import type { ModelRequest } from '../client.js';
import { anthropicRequest } from './request.js';

const MARK = ',"cache_control":{"type":"ephemeral"}';
const system = [{ type: 'text', text: 'Be brief.' }] as const;
const tools = [
  { name: 'Bash', description: 'runs', input_schema: { type: 'object' } },
  { name: 'Read', description: 'reads', input_schema: { type: 'object' } },
];

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function assistant(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'claude-opus-5-5', system, tools, messages, maxTokens: 100, ...more };
}

describe('anthropicRequest', () => {
  it('keeps one order of fields and marks the last tool, system block and message block', () => {
    const text = anthropicRequest(request([user('hi')], { effort: 'high' }), {
      extraBody: { metadata: { user_id: 'u' } },
    });
    expect(text).toBe(
      '{"model":"claude-opus-5-5","max_tokens":100,"stream":true,' +
        `"system":[{"type":"text","text":"Be brief."${MARK}}],` +
        '"tools":[{"name":"Bash","description":"runs","input_schema":{"type":"object"}},' +
        `{"name":"Read","description":"reads","input_schema":{"type":"object"}${MARK}}],` +
        '"output_config":{"effort":"high"},"metadata":{"user_id":"u"},' +
        `"messages":[{"role":"user","content":[{"type":"text","text":"hi"${MARK}}]}]}`,
    );
  });

  it('leaves out what is empty and marks nothing when told so', () => {
    const bare = request([user('hi')], { system: [], tools: [] });
    expect(anthropicRequest(bare, { promptCaching: false })).toBe(
      '{"model":"claude-opus-5-5","max_tokens":100,"stream":true,' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
    );
  });

  it('never sends empty text, unsigned thinking or a message of which nothing is left', () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'go' },
        ],
      },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: '' }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't:1',
            content: [{ type: 'text', text: '' }],
          },
        ],
      },
    ];
    const sent = JSON.parse(anthropicRequest(request(messages), { promptCaching: false }));
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't_1', content: '' }] },
    ]);
  });

  it('puts the mark before thinking that ends a message', () => {
    const message: Message = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'ä' },
        { type: 'thinking', thinking: 'x', signature: 's' },
      ],
    };
    const sent = JSON.parse(anthropicRequest(request([user('hi'), message])));
    expect(sent.messages[1].content).toEqual([
      { type: 'text', text: 'ä', cache_control: { type: 'ephemeral' } },
      { type: 'thinking', thinking: 'x', signature: 's' },
    ]);
  });

  it('replaces half characters, which strict parsers refuse', () => {
    const text = anthropicRequest(request([user('a\ud83d b 🙂 \\ud83d')]));
    expect(JSON.parse(text).messages[0].content[0].text).toBe('a\ufffd b 🙂 \\ud83d');
    expect(text).not.toContain('a\\ud83d');
  });

  it('serialises a message once', () => {
    let reads = 0;
    const content = [{ type: 'text', text: 'once' }] as const;
    const counted: Message = {
      role: 'user',
      get content() {
        reads++;
        return content;
      },
    };
    anthropicRequest(request([counted]));
    const before = reads;
    anthropicRequest(request([counted, assistant('a'), user('b')]));
    anthropicRequest(request([counted, assistant('x')]));
    expect(reads).toBe(before);
  });

  it('marks the message that the request before ended with, so that its cache is found', () => {
    const history = [user('one'), assistant('two'), user('three'), assistant('four'), user('five')];
    const marked = JSON.parse(anthropicRequest(request(history))).messages.flatMap(
      ({ content }: Message, index: number) =>
        'cache_control' in (content[0] ?? {}) ? [index] : [],
    );
    expect(marked).toEqual([2, 4]);
  });

  it('sends the bytes of a turn as a prefix of the next, whatever is in between', () => {
    const block = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constant(MARK));
    const turns = fc.array(fc.tuple(block, block), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(turns, fc.boolean(), (texts, disturbed) => {
        const messages: Message[] = [];
        let before: string | undefined;
        for (const [mine, its] of texts) {
          messages.push(user(`u${mine}`));
          const sent = anthropicRequest(request([...messages]));
          expect(sent.split(MARK).length - 1).toBeLessThanOrEqual(4);
          const plain = sent.replaceAll(MARK, '');
          expect(JSON.parse(plain).messages).toEqual(messages);
          if (before !== undefined) expect(plain.startsWith(before.slice(0, -2))).toBe(true);
          before = plain;
          messages.push(assistant(`a${its}`));
          if (disturbed) anthropicRequest(request([user('another conversation')]));
        }
      }),
    );
  });

  it('adapts thinking, effort and forced tools to what the model takes', () => {
    const asked = {
      thinking: { type: 'enabled', budget_tokens: 5000 },
      effort: 'low',
      toolChoice: { type: 'tool', name: 'Read' },
    } as const;
    const sent = (model: string, more: Partial<ModelRequest> = {}) => {
      const { thinking, output_config, tool_choice } = JSON.parse(
        anthropicRequest(request([user('x')], { ...asked, model, maxTokens: 9000, ...more })),
      );
      return { thinking, output_config, tool_choice };
    };
    expect(sent('claude-opus-5-5')).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
    expect(sent('claude-opus-5-5', { thinking: { type: 'disabled' } }).thinking).toBeUndefined();
    expect(sent('claude-sonnet-5-5', { thinking: { type: 'disabled' } }).thinking).toEqual({
      type: 'between_tools',
    });
    expect(sent('claude-haiku-4-5-20251001', { thinking: { type: 'adaptive' } })).toEqual({
      thinking: { type: 'enabled', budget_tokens: 8000 },
      tool_choice: asked.toolChoice,
    });
    expect(sent('some-other-model')).toEqual({
      thinking: asked.thinking,
      output_config: { effort: 'low' },
      tool_choice: asked.toolChoice,
    });
  });
});
