import { plain } from './values.js';

/** The fields of a definition, as they are documented. */
export const DEFINITION_FIELDS: readonly string[] = [
  'name',
  'description',
  'prompt',
  'tools',
  'disallowedTools',
  'model',
  'permissionMode',
  'maxTurns',
  'skills',
  'mcpServers',
  'hooks',
  'memory',
  'background',
  'effort',
  'isolation',
  'color',
  'initialPrompt',
  'omitClaudeMd',
  'portcullis',
];

/** Fields that others know and that change nothing here. */
export const WITHOUT_EFFECT: readonly string[] = [
  'autoCompactWindow',
  'observer',
  'observerMessage',
  'criticalSystemReminder_EXPERIMENTAL',
];

const byPlainName = new Map<string, string>([
  ...[...DEFINITION_FIELDS, ...WITHOUT_EFFECT].map((field) => [plain(field), field] as const),
  ['omitinstructions', 'omitClaudeMd'],
]);

const AS_DOCUMENTED: ReadonlySet<string> = new Set(DEFINITION_FIELDS);

/** The documented name of a field, in whichever way it is written. */
export function knownField(written: string): string | undefined {
  return AS_DOCUMENTED.has(written) ? written : byPlainName.get(plain(written));
}

/** What takes nothing away when it is passed over. */
export const HARMLESS: ReadonlySet<string> = new Set([
  'description',
  'model',
  'effort',
  'color',
  'skills',
  'initialPrompt',
  ...WITHOUT_EFFECT,
]);
