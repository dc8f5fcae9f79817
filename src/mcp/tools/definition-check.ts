import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import type { AnyTool } from '../../tools/tool.js';
import type { RawTool } from '../server.js';
import { hasInvisible, shownText } from './names.js';
import { flattenSchema } from './schema-flatten.js';

export const DESCRIPTION_CAP = 4_096;
/** Per description inside a schema. */
const PARAMETER_CAP = 2_048;
const INSTRUCTIONS_CAP = 4_096;
const TITLE_CAP = 120;
const SCHEMA_DEPTH = 32;
const SCHEMA_CHARS = 64 * 1024;
/** The parameter names that all providers accept. */
const PARAMETER = /^[A-Za-z0-9_.-]{1,64}$/;

/** The parts of a definition that the model may see. */
export interface CheckedDefinition {
  readonly description: string;
  readonly title?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Sanitises a definition, or says why the tool cannot be offered. */
export function checkDefinition(raw: RawTool): Result<CheckedDefinition, string> {
  const { inputSchema } = raw;
  if (raw.unusable !== undefined) return err(raw.unusable);
  if (!isRecord(inputSchema)) return err('its schema is not an object');
  if (depthOf(inputSchema, SCHEMA_DEPTH + 1) > SCHEMA_DEPTH) {
    return err(`its schema is nested more than ${SCHEMA_DEPTH} levels deep`);
  }
  const size = JSON.stringify(inputSchema).length;
  if (size > SCHEMA_CHARS) {
    return err(`its schema has ${size} characters, and ${SCHEMA_CHARS} are the limit`);
  }
  const flat = flattenSchema(inputSchema);
  if (!flat.ok) return err(`its schema cannot be made one object: ${flat.error}`);
  const properties = isRecord(flat.value.schema.properties) ? flat.value.schema.properties : {};
  const odd = Object.keys(properties).find((name) => !PARAMETER.test(name));
  if (odd !== undefined) {
    return err(`no model can be told of its parameter ${JSON.stringify(shownText(odd, 80))}`);
  }
  const shown = shownSchema(flat.value.schema);
  if (!shown.ok) return shown;
  const { note } = flat.value;
  const title = titleOf(raw);
  const description = typeof raw.description === 'string' ? raw.description : '';
  const words = shownText(description, DESCRIPTION_CAP);
  return ok({
    description: note === undefined ? words : `${words}\n\n${shownText(note, 700)}`.trim(),
    title,
    inputSchema: shown.value,
  });
}

/** The definition as sent to the model; frozen, because its bytes must not change. */
export function definitionOf(name: string, checked: CheckedDefinition): AnyTool['definition'] {
  return Object.freeze({
    name,
    description: checked.description,
    input_schema: checked.inputSchema,
  });
}

export function shownInstructions(text: string | undefined): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  return shownText(text.trim(), INSTRUCTIONS_CAP);
}

function titleOf({ title, annotations }: RawTool): string | undefined {
  const given = title ?? annotations?.title;
  return typeof given === 'string' && given.trim() !== ''
    ? shownText(given.trim(), TITLE_CAP).replace(/\s+/g, ' ')
    : undefined;
}

/** Stops at `limit`, so that deep nesting cannot exhaust the stack. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null || limit <= 0) return 0;
  let deepest = 0;
  for (const inner of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(inner, limit - 1));
  }
  return deepest + 1;
}

function shownSchema(
  schema: Readonly<Record<string, unknown>>,
): Result<Readonly<Record<string, unknown>>, string> {
  let problem: string | undefined;
  const shown = (value: unknown, isProse: boolean): unknown => {
    if (typeof value === 'string') {
      return shownText(value, isProse ? PARAMETER_CAP : SCHEMA_CHARS);
    }
    if (Array.isArray(value)) return value.map((one) => shown(one, isProse));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
      // fail-closed: a key that is displayed differently than it is sent would be another key.
      if (hasInvisible(name) || escapeReservedTags(name) !== name) {
        problem ??= 'a name in its schema holds characters that are not seen';
      }
      return [name, shown(inner, PROSE.has(name))];
    });
    return Object.fromEntries(entries);
  };
  const made = shown(schema, false);
  if (problem !== undefined) return err(problem);
  return isRecord(made) ? ok(made) : err('its schema is not an object');
}

const PROSE: ReadonlySet<string> = new Set([
  'description',
  'title',
  '$comment',
  'markdownDescription',
]);
