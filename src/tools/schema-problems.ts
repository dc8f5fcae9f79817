import type { ValidationProblem } from './tool.js';

/** An error as the validation library reports it. */
export interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What the validation library says, in words that tell a model what to change. */
export function problemsOf(errors: readonly SchemaError[]): readonly ValidationProblem[] {
  return errors.map((error) => ({ path: error.instancePath, message: wordsFor(error) }));
}

function wordsFor(error: SchemaError): string {
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return `the required parameter \`${params.missingProperty}\` is missing`;
    case 'additionalProperties':
      return `an unexpected parameter \`${params.additionalProperty}\` was given`;
    case 'unevaluatedProperties':
      return `an unexpected parameter \`${params.unevaluatedProperty}\` was given`;
    case 'type':
      return `must be of type ${String(params.type)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(params.allowedValues)}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    default:
      return error.message ?? `does not satisfy ${error.keyword}`;
  }
}
