import { z } from 'zod';
import {
  HOOK_EVENTS,
  HOOK_TIMEOUTS,
  type HookEventFacts,
  type HookEventName,
  hookEventFacts,
  LONGEST_SESSION_END_MS,
} from '../../src/protocol/hook-events.js';
import { COMMON_INPUT, INPUT_FIELDS } from '../../src/protocol/hook-inputs.schema.js';
import {
  COMMON_OUTPUT,
  OUTPUT_FIELDS,
  TOP_FIELDS,
} from '../../src/protocol/hook-outputs.schema.js';
import { HOOK_TEXTS } from '../../src/protocol/hook-texts.js';
import { jsonSchema } from './hook-json-schema.js';
import { code, generatedPage, table } from './markdown.js';

type Schema = Readonly<Record<string, unknown>>;

const EVENTS = Object.keys(HOOK_EVENTS) as HookEventName[];

/** docs/reference/hooks.md: every event with what its hooks are told and may answer. */
export function hookReference(): Record<string, string> {
  return {
    'docs/reference/hooks.md': generatedPage(
      'Hook events',
      '`src/protocol/hook-events.ts`, `hook-texts.ts`, `hook-inputs.schema.ts` and `hook-outputs.schema.ts`',
      [
        `${EVENTS.length} events. Their JSON schemas are in the package: \`schema/hooks/<Event>.input.json\` and \`<Event>.output.json\`.`,
        roles(),
        table(
          ['event', 'fires', 'role', 'its failure', 'matcher', 'kinds', 'limit'],
          EVENTS.map((event) => overview(event)),
        ),
        limits(),
        '## Every event',
        'Input:',
        fieldTable({ hook_event_name: EVENT_NAME, ...COMMON_INPUT }),
        'Output, all of it optional; `null` counts as absent, and unknown keys are ignored:',
        fieldTable(COMMON_OUTPUT),
        'What only one event understands stands inside `hookSpecificOutput`, which must name the event: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", …}}`.',
        ...EVENTS.flatMap((event) => section(event)),
      ],
    ),
  };
}

const EVENT_NAME = z.string().describe('The event.');

const FAILURE: Readonly<Record<HookEventFacts['role'], string>> = {
  gate: 'counts as a no, unless the hook has `"onFailure": "continue"`',
  block: 'lets things pass, with a warning',
  observe: 'is told, and changes nothing',
};
const BRIEFLY: Readonly<Record<HookEventFacts['role'], string>> = {
  gate: 'refuses',
  block: 'passes, with a warning',
  observe: 'is told',
};
const SAYS: Readonly<Record<HookEventFacts['role'], string>> = {
  gate: 'stops what is about to happen',
  block: 'holds things up',
  observe: 'does nothing',
};

function roles(): string {
  return table(
    ['role', 'a no of the hook', 'a failure of the hook'],
    (['gate', 'block', 'observe'] as const).map((role) => [role, SAYS[role], FAILURE[role]]),
  );
}

function overview(event: HookEventName): readonly string[] {
  const facts = hookEventFacts(event);
  return [
    link(event),
    `${HOOK_TEXTS[event].when}${facts.waitsFor === undefined ? '' : ` *(does not fire yet: needs ${facts.waitsFor})*`}`,
    facts.role,
    BRIEFLY[facts.role],
    facts.matcherField === undefined ? '' : code(facts.matcherField),
    facts.kinds.join(', '),
    seconds(facts.timeoutMs ?? HOOK_TIMEOUTS.command),
  ];
}

function link(event: HookEventName): string {
  return `[${event}](#${event.toLowerCase()})`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

function limits(): string {
  const models = (['prompt', 'agent'] as const).map(
    (kind) => `${kind} ${seconds(HOOK_TIMEOUTS[kind])}`,
  );
  return `The limit is for hooks that name none themselves, of the kinds command, http and mcp_tool; for the others it is: ${models.join(', ')}. A SessionEnd hook gets at most ${seconds(LONGEST_SESSION_END_MS)}.`;
}

function section(event: HookEventName): readonly string[] {
  const { when, no, note } = HOOK_TEXTS[event];
  const facts = hookEventFacts(event);
  const tops: Partial<Record<HookEventName, z.ZodRawShape>> = TOP_FIELDS;
  const top = tops[event];
  const own: z.ZodRawShape = OUTPUT_FIELDS[event];
  return [
    `## ${event}`,
    [
      `Fires ${when}.`,
      ...(facts.waitsFor === undefined ? [] : [`Does not fire yet: needs ${facts.waitsFor}.`]),
      `Role ${facts.role}: a failure ${FAILURE[facts.role]}.`,
      no === undefined ? 'A no has no effect.' : `A no: ${no}.`,
      ...matcherText(facts, INPUT_FIELDS[event]),
      ...(facts.textIsContext === true ? ['Plain text on standard output is context too.'] : []),
      ...(facts.setsEnvironment === true
        ? ['Command hooks may leave `export` lines in `$CLAUDE_ENV_FILE`.']
        : []),
      ...(note === undefined ? [] : [note]),
    ].join(' '),
    'Input:',
    fieldTable(INPUT_FIELDS[event]),
    ...(top === undefined ? [] : ['Output, at the top:', fieldTable(top)]),
    ...(Object.keys(own).length === 0
      ? ['No output of its own.']
      : ['Output, inside `hookSpecificOutput`:', fieldTable(own)]),
  ];
}

function matcherText(facts: HookEventFacts, fields: z.ZodRawShape): readonly string[] {
  if (facts.matches === 'tool') return ["A matcher is compared with the tool's names."];
  if (facts.matcherField === undefined) return ['It takes no matcher.'];
  const properties = (jsonSchema(z.looseObject(fields)).properties ?? {}) as Record<string, Schema>;
  const words = properties[facts.matcherField]?.enum;
  const values = Array.isArray(words) ? `: ${words.map(code).join(', ')}` : '';
  return [`A matcher is compared with ${code(facts.matcherField)}${values}.`];
}

function fieldTable(fields: z.ZodRawShape): string {
  return table(
    ['field', 'type', 'required', 'meaning'],
    rowsOf(jsonSchema(z.looseObject(fields)), ''),
  );
}

function rowsOf(schema: Schema, prefix: string): readonly (readonly string[])[] {
  const required = new Set((schema.required ?? []) as readonly string[]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return properties.flatMap(([name, inner]) => {
    const items = inner.type === 'array' ? ((inner.items ?? {}) as Schema) : inner;
    const below = `${prefix}${name}${inner.type === 'array' ? '[]' : ''}.`;
    const row = [
      code(`${prefix}${name}`),
      typeText(inner),
      required.has(name) ? 'yes' : '',
      typeof inner.description === 'string' ? inner.description : '',
    ];
    return [row, ...rowsOf(items, below)];
  });
}

function typeText(schema: Schema): string {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one) => typeText(one)).join(' or ');
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => code(String(word))).join(', ');
  if (schema.type === 'array') return `list of ${typeText((schema.items ?? {}) as Schema)}`;
  return typeof schema.type === 'string' ? schema.type : 'anything';
}
