import { createRequire } from 'node:module';
import { TOOL_INPUTS } from '../../src/protocol/tools.schema.js';
import { entries, type Files, jsonSchema, notice, type Schema } from './lib.js';

const require = createRequire(import.meta.url);
const SOURCE = 'src/protocol/tools.schema.ts';

/** JSON schemas by tool name, as the model is sent them. */
export function toolSchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(TOOL_INPUTS).map(([name, schema]) => {
      const { $schema: _, ...rest } = jsonSchema(schema);
      return [name, rest];
    }),
  );
}

/** The same as files, and validators that need no library at run time. */
export function toolFiles(): Files {
  const schemas = toolSchemas();
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return {
    'build/generated/tool-schemas.ts': `${notice(SOURCE)}export const TOOL_SCHEMAS = {\n${entries(schemas)}\n} as const;\n`,
    'build/generated/validators.ts': validators(schemas),
    ...Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        `schema/tools/${name}.json`,
        `${JSON.stringify({ $schema, title: name, ...schema }, null, 2)}\n`,
      ]),
    ),
  };
}

function validators(schemas: Readonly<Record<string, Schema>>): string {
  const { default: Ajv2020 } = require('ajv/dist/2020.js');
  const { default: standalone } = require('ajv/dist/standalone/index.js');
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    logger: false,
    // Counts UTF-16 units, which needs no helper module in the generated code.
    unicode: false,
    code: { source: true, esm: true, lines: true },
  });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ $id: name, ...schema });
  const names = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  const text: string = standalone(ajv, names);
  if (text.includes('require(')) throw new Error('a generated validator needs a helper module');
  return `// @ts-nocheck\n${notice(SOURCE)}${text}\n`;
}
