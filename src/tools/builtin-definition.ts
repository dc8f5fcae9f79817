import { TOOL_SCHEMAS } from '../../build/generated/tool-schemas.js';
import type { ToolDefinition } from '../model/client.js';
import { problemsOf, type SchemaError } from './schema-problems.js';
import type { Validate } from './tool.js';

type BuiltinName = keyof typeof TOOL_SCHEMAS;

interface Built {
  readonly definition: ToolDefinition;
  readonly validate: Validate;
}

/** What was made last of each name: the sessions and agents of a process have mostly the same tools. */
const made = new Map<BuiltinName, { readonly from: string; readonly built: Built }>();

/** Definition and validator of a built-in tool from its generated schema and its prompt text. */
export function builtinDefinition(name: BuiltinName, description: string): Built {
  const known = made.get(name);
  if (known?.from === description) return known.built;
  const built: Built = {
    definition: Object.freeze({
      name,
      description: description.trim(),
      input_schema: TOOL_SCHEMAS[name],
    }),
    validate: validatorOf(name),
  };
  made.set(name, { from: description, built });
  return built;
}

type Validator = ((input: unknown) => boolean) & { errors?: readonly SchemaError[] | null };

type Validators = Readonly<Record<string, Validator>>;

/** Loaded while the model works on its first answer, not at the start. */
let loaded: Validators | undefined;

/** Whoever knows that a call may come need not wait for it then. */
export async function loadValidators(): Promise<Validators> {
  loaded ??= (await import('../../build/generated/validators.js')) as unknown as Validators;
  return loaded;
}

function validatorOf(name: BuiltinName): Validate {
  return async (input) => {
    const validator = (await loadValidators())[name];
    // fail-closed: an input that cannot be checked is not valid.
    if (validator === undefined) return [{ path: '', message: `no validator for ${name}` }];
    return validator(input) ? [] : problemsOf(validator.errors ?? []);
  };
}
