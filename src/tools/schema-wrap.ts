import { isRecord } from '../lib/own.js';

export interface WrappedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** True: the value proper stands under `value`. */
  readonly isWrapped: boolean;
}

/**
 * Model APIs take tool inputs that are plain objects: `type: "object"` at the top and no choice
 * (`anyOf`, `oneOf`, `allOf`, `$ref`) there. Any other schema becomes the property `value` of one.
 */
export function wrapSchema(schema: unknown): WrappedSchema {
  if (isRecord(schema) && isPlainObjectSchema(schema)) {
    return { schema: { ...schema, type: 'object' }, isWrapped: false };
  }
  const { $schema, $id, ...inner } = isRecord(schema) ? schema : { $schema: undefined };
  const root = typeof $id === 'string' ? $id.replace(/#$/, '') : '';
  const value = isRecord(schema) ? withMovedReferences(inner, root) : schema;
  return {
    schema: {
      $schema,
      type: 'object',
      properties: { value },
      required: ['value'],
      additionalProperties: false,
    },
    isWrapped: true,
  };
}

function isPlainObjectSchema(schema: Record<string, unknown>): boolean {
  const isObject =
    schema.type === 'object' || (schema.type === undefined && isRecord(schema.properties));
  return isObject && !['anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in schema);
}

/** Keywords that hold data, in which `$ref` is only a word. With an object they may be property names. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * References to the root (`#/…`, or by its `$id`, which is taken off) follow it to
 * `#/properties/value`. What has an `$id` of its own counts from there and stays as it is.
 */
function withMovedReferences(node: unknown, root: string): unknown {
  if (Array.isArray(node)) return node.map((each) => withMovedReferences(each, root));
  if (!isRecord(node) || typeof node.$id === 'string') return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string') return [key, movedReference(value, root)];
      const isData = DATA.has(key) && !isRecord(value);
      return [key, isData ? value : withMovedReferences(value, root)];
    }),
  );
}

function movedReference(reference: string, root: string): string {
  const local =
    root !== '' && reference.startsWith(root) ? reference.slice(root.length) : reference;
  if (local === '' || local === '#') return '#/properties/value';
  return local.startsWith('#/') ? `#/properties/value${local.slice(1)}` : reference;
}
