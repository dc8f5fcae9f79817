import { HOOK_DEFINITIONS } from '../../src/protocol/hooks/hook-events.schema.js';
import { SessionOptionsSchema } from '../../src/protocol/session-options.schema.js';
import { type KeyFacts, strictValues } from '../../src/protocol/settings/setting-node.js';
import { FACTS, SETTING_GROUPS, Settings } from '../../src/protocol/settings/settings.schema.js';
import {
  code,
  entries,
  type Files,
  jsonSchema,
  notice,
  page,
  propertiesOf,
  type Schema,
  table,
  typeText,
  withoutKeys,
} from './lib.js';
import { printShape } from './print-type.js';

const SOURCE = 'src/protocol/settings/settings.schema.ts';
const IMPORT = "import type { SettingTable } from '../../src/protocol/settings/setting-node.js';\n";

/** The published schema, the reference page, and the tables that settings and options are checked by. */
export function settingsFiles(): Files {
  const schema = jsonSchema(Settings);
  return {
    'schema/settings.json': `${JSON.stringify(published(schema), null, 2)}\n`,
    'build/generated/settings-table.ts': `${notice(SOURCE)}${IMPORT}
export const SETTINGS: SettingTable = {
${entries(nodesOf(schema, nodeOf))}
};
`,
    'build/generated/session-options.ts': `${notice('src/protocol/session-options.schema.ts')}${IMPORT}
/** What a caller may ask of a session. Spelt out, so that published declarations need no zod. */
export type SessionOptions = ${printShape(SessionOptionsSchema).replace(/\/\*\*.*?\*\/\n/g, '')};

export const SESSION_OPTIONS: SettingTable = {
${entries(nodesOf(jsonSchema(SessionOptionsSchema), withProblems))}
};
`,
    'docs/reference/settings.md': reference(schema),
  };
}

/** As editors read it: without facts that only we understand. */
function published({ $schema, ...rest }: Schema): Schema {
  const plain = withoutKeys(
    rest,
    ({ key, value }) => key === FACTS || (key === 'description' && value === ''),
  );
  return {
    $schema,
    title: 'Settings of Portcullis',
    description: 'A settings file: .claude/settings.json, settings.local.json or --settings.',
    ...(plain as Schema),
  };
}

export function nodesOf(schema: Schema, make: (one: Schema) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([name, one]) => [name, make(one)]),
  );
}

/** JSON schema → the few shapes that settings have, with our facts. */
export function nodeOf(schema: Schema): Record<string, unknown> {
  const facts = schema[FACTS] as KeyFacts | undefined;
  const hasFacts = facts !== undefined && Object.keys(facts).length > 0;
  return { ...shapeOf(schema), facts: hasFacts ? facts : undefined };
}

/** The same with the error message for a value of another shape, which the descriptions are. */
function withProblems(schema: Schema): Record<string, unknown> {
  const node = nodeOf(schema);
  if (schema.items !== undefined) node.of = withProblems(schema.items as Schema);
  if (schema.properties !== undefined) node.keys = nodesOf(schema, withProblems);
  return { ...node, problem: schema.description };
}

/** An unknown shape fails the generator. */
function shapeOf(schema: Schema): Record<string, unknown> {
  const { type, pattern, minimum, exclusiveMinimum, maximum } = schema;
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (choices !== undefined) return { type: 'one', of: choices.map(nodeOf) };
  if (Array.isArray(type)) return { type: 'one', of: type.map((one) => shapeOf({ type: one })) };
  if (schema.const !== undefined) return { type: 'choice', values: [schema.const] };
  if (schema.enum !== undefined) return { type: 'choice', values: schema.enum };
  switch (type) {
    case undefined:
      return { type: 'any' };
    case 'string':
      return { type, pattern };
    case 'boolean':
      return { type };
    case 'number':
    case 'integer':
      return { type, least: minimum, above: exclusiveMinimum, most: maximum };
    case 'array':
      return { type: 'list', of: nodeOf(schema.items as Schema) };
    case 'object':
      if (schema.properties === undefined)
        return { type: 'map', of: nodeOf((schema.additionalProperties ?? {}) as Schema) };
      return {
        type,
        keys: nodesOf(schema, nodeOf),
        required: schema.required,
        open: schema.additionalProperties === false ? undefined : true,
      };
    default:
      throw new Error(`no shape for ${JSON.stringify(schema)}`);
  }
}

function reference(schema: Schema): string {
  const properties = propertiesOf(schema);
  const head = ['key', 'value', '', 'trust', 'fault', 'state'];
  const groups = Object.entries(SETTING_GROUPS).flatMap(([title, keys]) => {
    const rows = Object.keys(keys).flatMap((name) => rowsOf(name, properties[name] ?? {}));
    if (!title.startsWith('Of other')) return [`## ${title}`, table(head, rows)];
    const names = rows.map(([name]) => name).join(', ');
    return [`## ${title}`, 'Known, accepted, and without effect here.', names];
  });
  const events = Object.entries(HOOK_DEFINITIONS).map(([name, { role, matches }]) => [
    name,
    role,
    matches,
  ]);
  return page('Settings', SOURCE, [
    INTRODUCTION,
    ...groups,
    '## Hook events',
    table(['event', 'role', 'matcher compares'], events),
  ]);
}

const INTRODUCTION = `Strict JSON: no comments, no trailing commas. The JSON schema is in the package: \`"$schema": "./node_modules/portcullis/schema/settings.json"\` gives completion in editors.

| strength | source | file |
|---|---|---|
| 1 | managed | \`managed-settings.json\` and \`managed-settings.d/*.json\` in /etc/claude-code (macOS: /Library/Application Support/ClaudeCode, Windows: C:\\Program Files\\ClaudeCode) |
| 2 | host | \`--managed-settings\`: what restricts counts, the rest is dropped |
| 3 | command line | \`--settings\` (a file or JSON text) and flags |
| 4 | local | \`.claude/settings.local.json\`, from the working directory up to the repository root |
| 5 | project | \`.claude/settings.json\`, from the working directory up to the repository root |
| 6 | user | \`settings.json\` in \`$CLAUDE_CONFIG_DIR\` or ~/.claude |

Lists of all sources add up. Objects merge key by key. A single value comes from the strongest source that has it, except where the table says that the strict value wins. \`portcullis config\` shows what is in force, where each value stands, and what it shadows.

Column "trust": from a project's files the key counts only once the folder is trusted (the value in parentheses needs no trust). Column "fault": what happens when the value cannot be understood. \`refuses\`: nothing starts, in any mode; \`"portcullis": {"strict": false}\` in the user's or managed settings turns that into warnings. Column "state": *live* takes effect in an open session, with all below it, every other key when a session opens; *later* is accepted and without effect in this version; **refused** is a restriction that this version cannot enforce, so that it does not start with it.`;

function rowsOf(name: string, schema: Schema, inherited = false): readonly (readonly string[])[] {
  const facts = (schema[FACTS] ?? {}) as KeyFacts;
  const restricts = facts.restricts ?? inherited;
  const isMap = schema.properties === undefined;
  const below = propertiesOf(isMap ? ((schema.additionalProperties ?? {}) as Schema) : schema);
  const strict = strictValues(facts)
    .map((value) => code(JSON.stringify(value)))
    .join(', then ');
  const trust = facts.strict === undefined ? 'needed' : `needed (${strict})`;
  const live = facts.live === true ? 'live' : '';
  const state = facts.status === 'elsewhere' ? 'no effect here' : (facts.status ?? live);
  return [
    [
      code(name),
      typeText(schema),
      `${schema.description ?? ''}${mergeText(facts, strict)}`,
      facts.needsTrust === true ? trust : '',
      restricts ? 'refuses' : 'warns',
      facts.unenforced === true ? '**refused**' : state,
    ],
    ...Object.entries(below).flatMap(([inner, one]) =>
      rowsOf(`${name}.${isMap ? '*.' : ''}${inner}`, one, restricts),
    ),
  ];
}

function mergeText({ strictest, whole, scope }: KeyFacts, strict: string): string {
  const fromProject =
    strictest === true ? 'From a project only a value that wins so.' : 'Not from a project.';
  return [
    strictest === true ? ` ${strict} wins wherever it stands.` : '',
    whole === true ? ' Taken whole from the strongest source.' : '',
    scope === 'managed' ? ' Managed settings only.' : '',
    scope === 'user' ? ` ${fromProject}` : '',
  ].join('');
}
