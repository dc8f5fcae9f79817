import { TOOL_SCHEMAS } from '../generated/tool-schemas.js';
import type { ToolDefinition } from '../model/client.js';
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

interface AjvError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

type Validator = ((input: unknown) => boolean) & { errors?: readonly AjvError[] | null };

async function validateBuiltin(
  name: BuiltinName,
  input: unknown,
): Promise<readonly ValidationProblem[]> {
  // Loaded with the first call, not at start: the model's first answer takes longer than this.
  const validators = (await import('../generated/validators.js')) as unknown as Record<
    string,
    Validator
  >;
  const validator = validators[name];
  // fail-closed: an input that cannot be checked is not valid.
  if (validator === undefined) return [{ path: '', message: `no validator for ${name}` }];
  return validator(input) ? [] : problemsOf(validator.errors ?? []);
}

/** What the validation library says, in words that tell a model what to change. */
export function problemsOf(errors: readonly AjvError[]): readonly ValidationProblem[] {
  return errors.map((error) => ({ path: error.instancePath, message: wordsFor(error) }));
}

function wordsFor(error: AjvError): string {
  switch (error.keyword) {
    case 'required':
      return `the required parameter \`${error.params.missingProperty}\` is missing`;
    case 'additionalProperties':
      return `an unexpected parameter \`${error.params.additionalProperty}\` was given`;
    case 'type':
      return `must be of type ${String(error.params.type)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(error.params.allowedValues)}`;
    default:
      return error.message ?? `does not satisfy ${error.keyword}`;
  }
}
