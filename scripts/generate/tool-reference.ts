import { systemClock } from '../../src/env/clock.js';
import { nodeFileSystem } from '../../src/env/node-fs.js';
import { createProcessSupervisor } from '../../src/env/node-process.js';
import { type BuiltinParts, openBuiltins } from '../../src/tools/builtin/set.js';
import type { AnyTool } from '../../src/tools/tool.js';
import { createWorkspace } from '../../src/tools/workspace.js';
import { code, generatedPage, table } from './markdown.js';
import type { Schema } from './tool-schemas.js';

/** docs/reference/tools.md: the tools as the program makes them, with the schemas of this run. */
export async function toolReference(
  schemas: Readonly<Record<string, Schema>>,
): Promise<Record<string, string>> {
  const names = Object.keys(schemas);
  const tools = await toolsWith({
    hasPerson: true,
    offered: names,
    jsonSchema: { type: 'object' },
  });
  const always = namesOf(await toolsWith({ hasPerson: false }));
  const withPerson = namesOf(await toolsWith({ hasPerson: true }));
  const offered = (name: string): string => {
    if (name === 'StructuredOutput') return 'with `--json-schema`';
    if (always.has(name)) return 'always';
    return withPerson.has(name) ? 'where somebody can answer' : 'on request';
  };
  return {
    'docs/reference/tools.md': generatedPage(
      'Tools',
      '`src/protocol/tools.schema.ts` and `src/tools/builtin`',
      [
        'What tools have in common is told in [tools.md](../tools.md). The text of each tool is what the model reads.',
        table(
          ['tool', 'kind', 'offered', 'runs beside others', 'also called'],
          tools.map((tool) => [
            `[${tool.name}](#${tool.name.toLowerCase()})`,
            tool.kind,
            offered(tool.name),
            runsBesideOthers(tool),
            (tool.aliases ?? []).join(', '),
          ]),
        ),
        'Offered "on request": when `--tools` or an allow rule names the tool, or with `CLAUDE_CODE_ENABLE_TASKS=1`.',
        ...tools.flatMap((tool) => [
          `## ${tool.name}`,
          tool.definition.description,
          ...parameters(schemas[tool.name]),
        ]),
      ],
    ),
  };
}

async function toolsWith(
  choice: Pick<BuiltinParts, 'hasPerson'> & Partial<BuiltinParts>,
): Promise<readonly AnyTool[]> {
  const { pool } = await openBuiltins({
    fs: nodeFileSystem,
    clock: systemClock,
    processes: createProcessSupervisor(),
    env: {},
    workspace: createWorkspace(['/']),
    configDir: '/',
    sessionId: 'none',
    offered: undefined,
    allowed: [],
    banned: [],
    jsonSchema: undefined,
    summarise: async () => undefined,
    ...choice,
  });
  return pool.tools;
}

function namesOf(tools: readonly AnyTool[]): ReadonlySet<string> {
  return new Set(tools.map((tool) => tool.name));
}

function runsBesideOthers(tool: AnyTool): string {
  const safe = tool.concurrencySafe({});
  return safe === 'if-read-only' ? 'if it only reads' : safe ? 'yes' : 'no';
}

function parameters(schema: Schema | undefined): readonly string[] {
  if (schema === undefined) return ['The input is the schema that the user gave.'];
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  if (properties.length === 0) return ['No parameters.'];
  const required = new Set((schema.required ?? []) as readonly string[]);
  return [
    table(
      ['parameter', 'type', 'required', 'meaning'],
      properties.map(([name, property]) => [
        code(name),
        typeText(property),
        required.has(name) ? 'yes' : '',
        typeof property.description === 'string' ? property.description : '',
      ]),
    ),
  ];
}

function typeText(schema: Schema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(String(value))).join(', ');
  const type = typeof schema.type === 'string' ? schema.type : 'any';
  if (type !== 'array') return type + bounds(schema, 'minimum', 'maximum');
  return `list of ${typeText((schema.items ?? {}) as Schema)}${bounds(schema, 'minItems', 'maxItems')}`;
}

function bounds(schema: Schema, least: string, most: string): string {
  const parts = [
    ...(typeof schema[least] === 'number' ? [`from ${schema[least]}`] : []),
    ...(typeof schema[most] === 'number' ? [`to ${schema[most]}`] : []),
  ];
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`;
}
