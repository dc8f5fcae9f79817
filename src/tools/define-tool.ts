import { TOOL_SCHEMAS } from '../../build/generated/tool-schemas.js';
import { own } from '../lib/own.js';
import { problemsOf, type SchemaError } from './schema-problems.js';
import type { Tool, Validate, ValidationProblem } from './tool.js';

/** All that there is to say about a tool of ours; what it does not say follows from it. */
export interface ToolSpec<Input>
  extends Omit<Tool<Input>, 'definition' | 'validate' | 'concurrencySafe'> {
  /** What the model reads. */
  readonly description: string;
  /** JSON schema of its input. Absent: the one that `protocol/tools.schema.ts` has under its name. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** What else is wrong with an input that fits the schema. */
  check?(input: Input): Promise<readonly ValidationProblem[]>;
  /** Default: it runs alone. */
  readonly concurrencySafe?: Tool<Input>['concurrencySafe'];
}

export function defineTool<Input = Record<string, unknown>>(spec: ToolSpec<Input>): Tool<Input> {
  const { description, schema, check, concurrencySafe = () => false, ...rest } = spec;
  const { name } = rest;
  const input_schema = schema ?? own(TOOL_SCHEMAS, name);
  if (input_schema === undefined) throw new Error(`the tool ${name} has no schema`);
  const fits = schema === undefined ? generatedValidator(name) : schemaValidator(schema);
  return {
    ...rest,
    concurrencySafe,
    definition: Object.freeze({ name, description: description.trim(), input_schema }),
    async validate(input) {
      const problems = await fits(input);
      return problems.length > 0 || check === undefined ? problems : await check(input as Input);
    },
  };
}

type Validator = ((input: unknown) => boolean) & { errors?: readonly SchemaError[] | null };

type Validators = Readonly<Record<string, Validator>>;

/** Loaded while the model works on its first answer, not at the start. */
let loaded: Validators | undefined;

/** Called ahead of the first tool call, so that the call need not wait for it. */
export async function loadValidators(): Promise<Validators> {
  loaded ??= (await import('../../build/generated/validators.js')) as unknown as Validators;
  return loaded;
}

function generatedValidator(name: string): Validate {
  return async (input) => {
    const validator = own(await loadValidators(), name);
    // fail-closed: an input that cannot be checked is not valid.
    if (validator === undefined) return [{ path: '', message: `no validator for ${name}` }];
    return validator(input) ? [] : problemsOf(validator.errors ?? []);
  };
}

function schemaValidator(schema: Readonly<Record<string, unknown>>): Validate {
  return async (input) => {
    const check = await (await import('./schema-check.js')).compileSchema(schema);
    // fail-closed: as above.
    return check.ok ? check.value(input) : [{ path: '', message: check.error }];
  };
}
