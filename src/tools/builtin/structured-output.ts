import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { compileSchema } from '../schema-check.js';
import type { Tool, ValidationProblem } from '../tool.js';
import description from './structured-output.md';

export const STRUCTURED_OUTPUT = 'StructuredOutput';

/**
 * The tool through which a model answers in the form the user asked for. A schema that is no plain
 * object schema is wrapped: the model puts the answer into `value`, the user gets it without.
 * A schema that cannot be used is an error for the start of the session.
 */
export async function structuredOutputTool(
  schema: unknown,
): Promise<Result<Tool, PortcullisError>> {
  // Checked as given first, so that an error points into the user's schema and not into our wrapping.
  const given = await compileSchema(schema);
  if (!given.ok) return err(unusable(given.error));
  const wrapped = wrapSchema(schema);
  const check = wrapped.isWrapped ? await compileSchema(wrapped.schema) : given;
  if (!check.ok) return err(unusable(check.error));
  const hint = wrapped.isWrapped ? '\nPut the answer into `value`.' : '';
  return ok({
    name: STRUCTURED_OUTPUT,
    kind: 'control',
    offered: 'always',
    definition: {
      name: STRUCTURED_OUTPUT,
      description: description.trim() + hint,
      input_schema: wrapped.schema,
    },
    validate: async (input) => check.value(input),
    subject: () => ({ paths: [], summary: 'Return the structured answer' }),
    concurrencySafe: () => false,
    async run(input) {
      const problems = check.value(input);
      if (problems.length > 0) return { content: problemText(problems), isError: true };
      const answer = wrapped.isWrapped ? input.value : input;
      return {
        content: 'The answer was accepted.',
        structured: answer,
        finish: { structuredOutput: answer },
      };
    },
  });
}

function unusable(reason: string): PortcullisError {
  return new PortcullisError('config', `The output schema cannot be used: ${reason}`, {
    remedy: 'Correct the schema at that place; it must be JSON Schema, draft 2020-12 or 07.',
  });
}

function problemText(problems: readonly ValidationProblem[]): string {
  const lines = problems.map(
    ({ path, message }) => `- ${path || '(the whole answer)'}: ${message}`,
  );
  return `The answer does not fit the schema. Correct this and call again:\n${lines.join('\n')}`;
}

interface WrappedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** True: the value is in the property `value` of an object. */
  readonly isWrapped: boolean;
}

/**
 * Model APIs take tool inputs that are plain objects: `type: "object"` at the top and no choice
 * (`anyOf`, `oneOf`, `allOf`, `$ref`) there. Any other schema becomes the property `value` of one.
 */
function wrapSchema(schema: unknown): WrappedSchema {
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
