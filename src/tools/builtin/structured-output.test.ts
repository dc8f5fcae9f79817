import { describe, expect, it } from 'vitest';
import { callTool } from '../../../test/support/permitted-call.js';
import type { Tool } from '../tool.js';
import { structuredOutputTool } from './structured-output.js';

async function toolFor(schema: unknown): Promise<Tool> {
  const tool = await structuredOutputTool(schema);
  if (!tool.ok) throw tool.error;
  return tool.value;
}

describe('StructuredOutput', () => {
  const schema = {
    type: 'object',
    properties: { answer: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['answer'],
    additionalProperties: false,
  };

  it('shows the model the user’s schema and ends the run with the answer', async () => {
    const tool = await toolFor(schema);
    expect(tool.definition.input_schema).toEqual(schema);
    expect(tool.name).toBe('StructuredOutput');
    const output = await callTool(tool, { answer: 42 });
    expect(output).toEqual({
      content: 'The answer was accepted.',
      structured: { answer: 42 },
      finish: { structuredOutput: { answer: 42 } },
    });
  });

  it('lists what is wrong, by validation and again when run', async () => {
    const tool = await toolFor(schema);
    const input = { answer: 'x', tags: ['a', 1], more: true };
    expect(await tool.validate(input)).toEqual([
      { path: '', message: 'an unexpected parameter `more` was given' },
      { path: '/answer', message: 'must be of type number' },
      { path: '/tags/1', message: 'must be of type string' },
    ]);
    const output = await callTool({ ...tool, validate: async () => [] }, input);
    expect(output.isError).toBe(true);
    expect(output.finish).toBeUndefined();
    expect(output.content).toContain('- /tags/1: must be of type string');
    expect(output.content).toContain('- (the whole answer): an unexpected parameter `more`');
  });

  it.each([
    ['an array', { type: 'array', items: { type: 'string' } }, ['a'], [1]],
    ['a text', { type: 'string' }, 'a', 1],
    ['a choice', { anyOf: [{ type: 'number' }, { type: 'null' }] }, null, 'x'],
    [
      'an object with a choice',
      {
        type: 'object',
        properties: { a: {}, b: {} },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      { a: 1 },
      { a: 1, b: 1 },
    ],
    ['two types', { type: ['object', 'null'] }, null, 1],
    ['anything', true, 1, undefined],
    [
      'a named definition',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/Tree',
        definitions: {
          Tree: {
            type: 'object',
            properties: {
              left: { $ref: '#/definitions/Tree' },
              default: { $ref: '#/definitions/N' },
            },
            additionalProperties: false,
          },
          N: { type: 'number' },
        },
      },
      { left: { left: {}, default: 1 } },
      { left: { default: 'x' } },
    ],
    ['a reference to the root', { type: 'array', items: { $ref: '#' } }, [[], [[]]], [[1]]],
    [
      'a document with an id',
      {
        $id: 'https://x.example/s',
        $ref: '#/$defs/a',
        $defs: {
          a: { anyOf: [{ type: 'string' }, { $ref: 'https://x.example/s#/$defs/b' }] },
          b: { type: 'array', items: { $ref: 'https://x.example/s' } },
        },
      },
      ['a', ['b']],
      [1],
    ],
  ])('wraps %s in `value` and hands it out unwrapped', async (_name, inner, good, bad) => {
    const tool = await toolFor(inner);
    expect(tool.definition.input_schema).toMatchObject({
      type: 'object',
      required: ['value'],
      additionalProperties: false,
    });
    expect(tool.definition.description).toContain('`value`');
    const output = await callTool(tool, { value: good });
    expect(output.finish).toEqual({ structuredOutput: good });
    const wrong = JSON.parse(JSON.stringify({ value: bad }));
    expect((await tool.validate(wrong)).length).toBeGreaterThan(0);
    expect((await tool.validate({ value: good, more: 1 })).length).toBeGreaterThan(0);
  });

  it('adds the type that an object schema left out', async () => {
    const tool = await toolFor({ properties: { a: { type: 'string' } } });
    expect(tool.definition.input_schema).toEqual({
      properties: { a: { type: 'string' } },
      type: 'object',
    });
    expect(tool.definition.description).not.toContain('`value`');
  });

  it('does not touch data that looks like a reference', async () => {
    const tool = await toolFor({ enum: [{ $ref: '#/x' }] });
    const output = await callTool(tool, { value: { $ref: '#/x' } });
    expect(output.finish).toEqual({ structuredOutput: { $ref: '#/x' } });
  });

  it.each([
    [{ type: 'object', properties: { a: { type: 'nope' } } }, '/properties/a/type'],
    [{ type: 'array', items: { pattern: '[' } }, '/items/pattern'],
    [{ type: 'array', items: { $ref: 'https://x.example/s' } }, '/items/$ref'],
    ['text', 'JSON schema is an object'],
  ])('refuses %j at start with the place', async (wrong, place) => {
    const tool = await structuredOutputTool(wrong);
    if (tool.ok) throw new Error('accepted');
    expect(tool.error.code).toBe('config');
    expect(tool.error.message).toContain(place);
    expect(tool.error.remedy).toBeDefined();
  });
});
