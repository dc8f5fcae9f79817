import { z } from 'zod';
import {
  COMMON_INPUT,
  COMMON_OUTPUT,
  type HookEventDefinition,
} from '../../src/protocol/hooks/hook-event.schema.js';
import {
  HOOK_TIMEOUTS,
  type HookEventFacts,
  LONGEST_SESSION_END_MS,
} from '../../src/protocol/hooks/hook-event-facts.js';
import {
  HOOK_DEFINITIONS,
  hookInputSchema,
  hookOutputSchema,
} from '../../src/protocol/hooks/hook-events.schema.js';
import {
  code,
  entries,
  type Files,
  fieldTable,
  jsonSchema,
  notice,
  page,
  propertiesOf,
  type Schema,
  table,
} from './lib.js';
import { nodeOf, nodesOf } from './settings.js';

type Definitions = Readonly<Record<string, HookEventDefinition>>;

const fields = (shape: z.ZodRawShape): Schema => jsonSchema(z.looseObject(shape));

/** The published schemas, the tables that ship, and the reference page. */
export function hookFiles(events: Definitions = HOOK_DEFINITIONS): Files {
  return {
    ...Object.fromEntries(
      Object.entries(events).flatMap(([event, definition]) => [
        schemaFile(event, 'input', hookInputSchema(event, definition)),
        schemaFile(event, 'output', hookOutputSchema(event, definition)),
      ]),
    ),
    'build/generated/hook-events.ts': eventTable(events),
    'build/generated/hook-samples.ts': sampleTable(events),
    'docs/reference/hooks.md': reference(events),
  };
}

function schemaFile(event: string, side: 'input' | 'output', schema: z.ZodType) {
  const { $schema, ...rest } = jsonSchema(schema);
  const titled = { $schema, title: `${event} hook: ${side}`, ...rest };
  return [`schema/hooks/${event}.${side}.json`, `${JSON.stringify(titled, null, 2)}\n`] as const;
}

const SOURCES = 'src/protocol/hooks/hook-events*.schema.ts';

function eventTable(events: Definitions): string {
  const outputs = mapValues(events, ({ topOutput, output = {} }) => {
    const top = topOutput === undefined ? undefined : nodesOf(fields(topOutput), nodeOf);
    return { top, own: { keys: {}, ...nodeOf(fields(output)), type: 'object' } };
  });
  return `${notice(SOURCES)}import type { EventOutput, HookEventFacts } from '../../src/protocol/hooks/hook-event-facts.js';
import type { SettingTable } from '../../src/protocol/settings/setting-node.js';

export const HOOK_EVENTS = {
${entries(mapValues(events, factsOf))}
} as const satisfies Readonly<Record<string, HookEventFacts>>;

export const COMMON_HOOK_OUTPUT: SettingTable = ${JSON.stringify(nodesOf(fields(COMMON_OUTPUT), nodeOf))};

export const HOOK_OUTPUTS: Readonly<Record<keyof typeof HOOK_EVENTS, EventOutput>> = {
${entries(outputs)}
};
`;
}

function sampleTable(events: Definitions): string {
  return `${notice(SOURCES)}import type { HookEventName } from '../../src/protocol/hooks/hook-events.js';

/** The own input of each event as it may look: for trying hooks out. */
export const HOOK_SAMPLES: Readonly<Record<HookEventName, Readonly<Record<string, unknown>>>> = {
${entries(mapValues(events, ({ sample }) => sample))}
};
`;
}

/** A definition without its schemas and texts. */
function factsOf(definition: HookEventDefinition): HookEventFacts {
  const { when, no, note, input, output, topOutput, sample, ...facts } = definition;
  return facts;
}

function mapValues<T>(events: Definitions, make: (one: HookEventDefinition) => T) {
  return Object.fromEntries(Object.entries(events).map(([event, one]) => [event, make(one)]));
}

/** By role: what a no of a hook does, what its failure does, and the latter in a word. */
const ROLES: Readonly<Record<HookEventFacts['role'], readonly [string, string, string]>> = {
  gate: [
    'stops what is about to happen',
    'counts as a no, unless the hook has `"onFailure": "continue"`',
    'refuses',
  ],
  block: ['holds things up', 'lets things pass, with a warning', 'passes, with a warning'],
  observe: ['does nothing', 'is reported and changes nothing', 'is reported'],
};

/** docs/reference/hooks.md: every event with what its hooks are told and may answer. */
function reference(events: Definitions): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const overview = Object.entries(events).map(([event, definition]) => {
    const { role, matcherField, kinds, timeoutMs, when } = definition;
    const matcher = matcherField === undefined ? '' : code(matcherField);
    const limit = seconds(timeoutMs ?? HOOK_TIMEOUTS.command);
    const link = `[${event}](#${event.toLowerCase()})`;
    return [link, when, role, ROLES[role][2], matcher, kinds.join(', '), limit];
  });
  return page('Hook events', code(SOURCES), [
    `${overview.length} events. Their JSON schemas are in the package: \`schema/hooks/<Event>.input.json\` and \`<Event>.output.json\`.`,
    table(
      ['role', 'a no of the hook', 'a failure of the hook'],
      Object.entries(ROLES).map(([role, [no, failure]]) => [role, no, failure]),
    ),
    table(['event', 'fires', 'role', 'its failure', 'matcher', 'kinds', 'limit'], overview),
    `The limit is for hooks that name none themselves, of the kinds command, http and mcp_tool; for the others it is: prompt ${seconds(HOOK_TIMEOUTS.prompt)}, agent ${seconds(HOOK_TIMEOUTS.agent)}. A SessionEnd hook gets at most ${seconds(LONGEST_SESSION_END_MS)}.`,
    '## Every event',
    'Input:',
    fieldTable(fields({ hook_event_name: z.string().describe('The event.'), ...COMMON_INPUT })),
    'Output, all of it optional; `null` counts as absent, and unknown keys are ignored:',
    fieldTable(fields(COMMON_OUTPUT)),
    'What only one event understands stands inside `hookSpecificOutput`, which must name the event: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", …}}`.',
    ...Object.entries(events).flatMap(section),
  ]);
}

function section([event, definition]: readonly [string, HookEventDefinition]): readonly string[] {
  const { when, no, note, role, textIsContext, setsEnvironment } = definition;
  const { topOutput: top, output: own = {}, input } = definition;
  const sentences = [
    `Fires ${when}.`,
    `Role ${role}: a failure ${ROLES[role][1]}.`,
    no === undefined ? 'A no has no effect.' : `A no: ${no}.`,
    matcherText(definition, input),
    textIsContext && 'Plain text on standard output is context too.',
    setsEnvironment && 'Command hooks may leave `export` lines in `$CLAUDE_ENV_FILE`.',
    note,
  ];
  return [
    `## ${event}`,
    sentences.filter((text) => typeof text === 'string').join(' '),
    'Input:',
    fieldTable(fields(input)),
    ...(top === undefined ? [] : ['Output, at the top:', fieldTable(fields(top))]),
    ...(Object.keys(own).length === 0
      ? ['No output of its own.']
      : ['Output, inside `hookSpecificOutput`:', fieldTable(fields(own))]),
  ];
}

function matcherText(
  { matches, matcherField }: Pick<HookEventFacts, 'matches' | 'matcherField'>,
  shape: z.ZodRawShape,
): string {
  if (matches === 'tool') return "A matcher is compared with the tool's names.";
  if (matcherField === undefined) return 'It takes no matcher.';
  const words = propertiesOf(fields(shape))[matcherField]?.enum;
  const values = Array.isArray(words) ? `: ${words.map(code).join(', ')}` : '';
  return `A matcher is compared with ${code(matcherField)}${values}.`;
}
