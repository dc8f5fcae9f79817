import { systemClock } from '../../src/platform/clock.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { type BuiltinParts, openBuiltins } from '../../src/tools/builtin/builtin-tools.js';
import type { AnyTool } from '../../src/tools/tool.js';
import { createWorkspace } from '../../src/tools/workspace.js';
import { fieldTable, page, propertiesOf, type Schema, table } from './lib.js';
import { toolSchemas } from './tools.js';

/** docs/reference/tools.md: the tools as the program makes them, with the schemas of this run. */
export async function toolReference(): Promise<string> {
  const schemas = toolSchemas();
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
    return withPerson.has(name) ? 'where a person can answer' : 'on request';
  };
  const rows = tools.map((tool) => {
    const safe = tool.concurrencySafe({});
    const beside = safe === 'if-read-only' ? 'if it only reads' : safe ? 'yes' : 'no';
    const link = `[${tool.name}](#${tool.name.toLowerCase()})`;
    return [link, tool.kind, offered(tool.name), beside, (tool.aliases ?? []).join(', ')];
  });
  return page('Tools', '`src/protocol/tools.schema.ts` and `src/tools/builtin`', [
    'What tools have in common is described in [tools.md](../tools.md). The text of each tool is what the model reads.',
    table(['tool', 'kind', 'offered', 'runs beside others', 'also called'], rows),
    'Offered "on request": when `--tools` or an allow rule names the tool, or with `CLAUDE_CODE_ENABLE_TASKS=1`.',
    ...tools.flatMap(({ name, definition }) => [
      `## ${name}`,
      definition.description,
      inputOf(schemas[name]),
    ]),
  ]);
}

function inputOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'The input is the schema that the user gave.';
  return Object.keys(propertiesOf(schema)).length === 0 ? 'No fields.' : fieldTable(schema);
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
