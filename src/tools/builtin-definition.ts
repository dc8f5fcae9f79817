import { TOOL_SCHEMAS } from '../generated/tool-schemas.js';
import type { ToolDefinition } from '../model/client.js';
import { problemsOf, type SchemaError } from '../util/schema-problems.js';
import type { Validate, ValidationProblem } from './tool.js';

type BuiltinName = keyof typeof TOOL_SCHEMAS;

/** Definition and validator of a built-in tool from its generated schema and its prompt text. */
export function builtinDefinition(
  name: BuiltinName,
  description: string,
): { definition: ToolDefinition; validate: Validate } {
  const definition: ToolDefinition = {
    name,
    description: description.trim(),
    input_schema: TOOL_SCHEMAS[name],
  };
  return { definition, validate: (input) => validateBuiltin(name, input) };
}

type Validator = ((input: unknown) => boolean) & { errors?: readonly SchemaError[] | null };

type Validators = Readonly<Record<string, Validator>>;

/** Loaded with the first call, not at start: the model's first answer takes longer than this. */
let loaded: Validators | undefined;

async function validateBuiltin(
  name: BuiltinName,
  input: unknown,
): Promise<readonly ValidationProblem[]> {
  loaded ??= (await import('../generated/validators.js')) as unknown as Validators;
  const validator = loaded[name];
  // fail-closed: an input that cannot be checked is not valid.
  if (validator === undefined) return [{ path: '', message: `no validator for ${name}` }];
  return validator(input) ? [] : problemsOf(validator.errors ?? []);
}
