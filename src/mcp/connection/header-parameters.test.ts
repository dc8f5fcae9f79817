import { describe, expect, it } from 'vitest';
import { hasSoundHeaderParameters } from './lists.js';

const marked = (name: unknown, type: unknown = 'string'): Record<string, unknown> => ({
  type,
  'x-mcp-header': name,
});

describe('parameters that go into headers', () => {
  it.each<[string, Record<string, unknown>]>([
    ['none', { type: 'object', properties: { a: { type: 'string' } } }],
    ['one', { properties: { a: marked('Region') } }],
    ['nested', { properties: { a: { properties: { b: marked('Region', 'integer') } } } }],
    ['two', { properties: { a: marked('A'), b: marked('B', 'boolean') } }],
    ['a property of that name', { properties: { 'x-mcp-header': { type: 'string' } } }],
    ['the word in data', { properties: { a: { const: { 'x-mcp-header': 7 } } } }],
  ])('are sound: %s', (_name, schema) => {
    expect(hasSoundHeaderParameters(schema)).toBe(true);
  });

  it.each<[string, Record<string, unknown>]>([
    ['at the top', marked('Region')],
    ['no name', { properties: { a: marked('') } }],
    ['no text', { properties: { a: marked(7) } }],
    ['a blank', { properties: { a: marked('a b') } }],
    ['a line break', { properties: { a: marked('a\r\nX: y') } }],
    ['an object', { properties: { a: marked('A', 'object') } }],
    ['a number', { properties: { a: marked('A', 'number') } }],
    ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
    ['the same twice', { properties: { a: marked('Region'), b: marked('region') } }],
    ['in a list', { properties: { a: { type: 'array', items: marked('A') } } }],
    ['in an alternative', { anyOf: [{ properties: { a: marked('A') } }] }],
    ['in a definition', { $defs: { a: marked('A') } }],
  ])('are refused: %s', (_name, schema) => {
    expect(hasSoundHeaderParameters(schema)).toBe(false);
  });
});
