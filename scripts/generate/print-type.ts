import type { z } from 'zod';
import { nameOf } from '../../src/protocol/declare.schema.js';

interface Definition {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A schema as a TypeScript type. One that has a name of its own is referred to by it. */
export function printType(schema: unknown): string {
  return nameOf(schema as z.ZodType) ?? printShape(schema);
}

/** The same, spelt out. */
export function printShape(schema: unknown): string {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'unknown':
    case 'null':
      return definition.type;
    case 'literal':
      return (definition.values as readonly unknown[])
        .map((value) => JSON.stringify(value))
        .join(' | ');
    case 'template_literal':
      return `\`${(definition.parts as readonly unknown[])
        .map((part) => (typeof part === 'string' ? part : `\${${printType(part)}}`))
        .join('')}\``;
    case 'enum':
      return Object.values(definition.entries as object)
        .map((word) => JSON.stringify(word))
        .join(' | ');
    case 'array': {
      const item = printType(definition.element);
      return /[|&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'record':
      return `Record<string, ${printType(definition.valueType)}>`;
    case 'union':
      return (definition.options as readonly unknown[]).map(printType).join(' | ');
    case 'nullable':
      return `${printType(definition.innerType)} | null`;
    case 'optional':
      return printType(definition.innerType);
    case 'object':
      return printObject(definition.shape as z.ZodRawShape);
    default:
      throw new Error(`no TypeScript type for a schema of the kind ${definition.type}`);
  }
}

/** The fields of an object, each with its comment; `open`: any others may stand beside them. */
export function printObject(shape: z.ZodRawShape, open = false): string {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const text = describedBy(schema);
    const about = text === undefined ? '' : comment(text);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${about}${key}${isOptional(schema) ? '?' : ''}: ${printType(schema)};`;
  });
  if (fields.length === 0 && !open) return 'Record<string, unknown>';
  return `{\n${[...fields, ...(open ? ['[key: string]: unknown;'] : [])].join('\n')}\n}`;
}

/** A pattern in the text must not end the comment. */
export function comment(text: string): string {
  return `/** ${text.replaceAll('*/', '*\\/')} */\n`;
}

export function isOptional(schema: unknown): boolean {
  return definitionOf(schema).type === 'optional';
}

/** The description of a schema, or of the one that it wraps. */
export function describedBy(schema: unknown): string | undefined {
  const own = (schema as z.ZodType).description;
  return own ?? (isOptional(schema) ? describedBy(definitionOf(schema).innerType) : undefined);
}

function definitionOf(schema: unknown): Definition {
  return (schema as { readonly _zod: { readonly def: Definition } })._zod.def;
}
