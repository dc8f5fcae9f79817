import { isRunByAgent, knownLimits } from '../../app.js';
import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { visible } from '../../lib/text/visible.js';
import { PERMISSION_MODES, type PermissionUpdate } from '../../protocol/permissions.js';
import type { CommandOutput } from '../events.js';
import { type CommandContext, defineCommand, failed, text } from './command.js';
import { directoryEntries } from './directory-entries.js';

export const model = defineCommand({
  name: 'model',
  summary: 'Show or change the model',
  argumentHint: '[name]',
  argumentFrom: 'client',
  complete: async ({ session }) =>
    session.info().models.map(({ value, displayName }) => ({
      text: value,
      description: displayName,
    })),
  async run({ session, runner }, argument) {
    const offers = session.info().models;
    if (argument !== '') {
      await session.setModel(argument, 'command');
      runner.carryOver(async (fresh) => void (await fresh.setModel(argument, 'command')));
    }
    const current = session.info().model;
    const shown = text(`model: ${visible(current)}${unknownModel(current, offers)}`);
    if (argument !== '') return shown;
    const choices = offers.map(({ value, displayName, description, resolvedModel }) => ({
      label: visible(displayName),
      description: visible(description),
      line: `/model ${value}`,
      current: resolvedModel === current,
    }));
    return { ...shown, choices };
  },
});

/** A warning rather than a refusal: a provider may have newer models than this program knows. */
function unknownModel(
  current: string,
  offers: readonly { readonly value: string; readonly resolvedModel: string }[],
): string {
  const isOffered = offers.some(({ resolvedModel }) => resolvedModel === current);
  if (isOffered || knownLimits(current) !== undefined) return '';
  const meant = nearest(
    current,
    offers.flatMap(({ value, resolvedModel }) => [value, resolvedModel]),
  );
  const hint = meant === undefined ? '' : ` Did you mean ${visible(meant)}?`;
  return `\n! This model is not known here; the next request checks its name.${hint}`;
}

export const mode = defineCommand({
  name: 'mode',
  summary: 'Show or change the permission mode',
  argumentHint: '[mode]',
  argumentFrom: 'person',
  complete: async () => PERMISSION_MODES.map((one) => ({ text: one })),
  async run({ session }, argument) {
    const before = session.info().mode;
    const wanted = PERMISSION_MODES.find((known) => known === argument);
    if (argument !== '' && wanted === undefined) {
      return failed(
        `There is no mode "${visible(argument)}". Modes: ${PERMISSION_MODES.join(', ')}.`,
      );
    }
    if (wanted !== undefined) {
      session.setMode(wanted);
      // The session itself reports a change.
      return session.info().mode === before ? text(`mode: ${before}`) : text('');
    }
    const choices = PERMISSION_MODES.map((one) => ({
      label: one,
      line: `/mode ${one}`,
      current: one === before,
    }));
    return { ...text(`mode: ${before}`), choices };
  },
});

export const addDir = defineCommand({
  name: 'add-dir',
  summary: 'Let the agent work in one more directory',
  argumentHint: '<path>',
  argumentFrom: 'client',
  complete: async (context, typed) =>
    (await directoryEntries(context, typed)).filter(({ text: name }) => name.endsWith('/')),
  async run({ session }, argument) {
    if (argument === '') return failed('Name a directory: /add-dir <path>');
    await session.addDirectory(argument);
    return text(`directories: ${visible(session.info().additionalDirectories.join(', '))}`);
  },
});

const BEHAVIORS = ['allow', 'ask', 'deny'] as const;
const PLACES = new Map([
  ['session', 'session'],
  ['local', 'localSettings'],
  ['project', 'projectSettings'],
  ['user', 'userSettings'],
] as const);
const PERMISSIONS_USAGE =
  '/permissions [allow|ask|deny <rule> [session|local|project|user] | remove <rule>]';

export const permissions = defineCommand({
  name: 'permissions',
  aliases: ['allowed-tools'],
  summary: 'Show the rules in force, add one or remove one',
  argumentHint: '[allow|ask|deny <rule> | remove <rule>]',
  argumentFrom: 'person',
  complete: async ({ session }) => [
    ...BEHAVIORS.flatMap((one) => [
      { text: one },
      ...session.info().tools.map((tool) => ({ text: `${one} ${tool}` })),
    ]),
    ...rulesOf(session).map(({ rule }) => ({ text: `remove ${rule}` })),
  ],
  async run(context, argument) {
    if (argument === '') return text(listRules(context));
    // fail-closed: an agent that starts a conversation of its own changes no rules.
    if (isRunByAgent(context.env)) {
      return failed('Only a person may change rules, and an agent runs this.');
    }
    const [verb = '', ...rest] = argument.split(/\s+/);
    const behavior = BEHAVIORS.find((one) => one === verb);
    if (behavior !== undefined) return await addRule(context, behavior, rest);
    if (verb === 'remove' && rest.length > 0) return await removeRule(context, rest.join(' '));
    return failed(`Usage: ${PERMISSIONS_USAGE}`);
  },
});

interface ListedRule {
  readonly behavior: (typeof BEHAVIORS)[number];
  readonly rule: string;
  readonly source: string;
  readonly file?: string;
  readonly line?: number;
}

function rulesOf(session: CommandContext['session']): readonly ListedRule[] {
  const { rules } = session.inspect.rules();
  return Array.isArray(rules) ? rules.filter(isRecord).map((one) => one as never) : [];
}

function listRules({ session }: CommandContext): string {
  const rules = rulesOf(session);
  const { workspaceDirectories } = session.inspect.rules();
  const directories = Array.isArray(workspaceDirectories) ? workspaceDirectories.map(String) : [];
  // An answer that saves a rule in a file also counts at once; it is one rule to a person.
  const isRepeated = ({ behavior, rule, source }: ListedRule): boolean =>
    source === 'session' &&
    rules.some((one) => one.file && one.behavior === behavior && one.rule === rule);
  const shown = rules.filter((rule) => !isRepeated(rule));
  const rows = shown.map(({ behavior, rule, source, file, line }) => {
    const place = file === undefined ? SOURCES.get(source) : `${file}${line ? `:${line}` : ''}`;
    return `  ${behavior.padEnd(5)}  ${visible(rule)}  (${visible(place ?? source)})`;
  });
  return [
    `Mode: ${session.info().mode}`,
    rows.length === 0 ? 'No rules.' : 'Rules:',
    ...rows,
    `Directories: ${visible(directories.join(', '))}`,
    PERMISSIONS_USAGE,
  ].join('\n');
}

const SOURCES = new Map([
  ['cliArg', 'command line'],
  ['flagSettings', 'command line'],
  ['policySettings', 'managed settings'],
  ['session', 'this session'],
]);

async function addRule(
  context: CommandContext,
  behavior: ListedRule['behavior'],
  words: readonly string[],
): Promise<CommandOutput> {
  const place = words.length > 1 ? PLACES.get(words.at(-1) as never) : undefined;
  const rule = (place === undefined ? words : words.slice(0, -1)).join(' ');
  if (rule === '') return failed(`Usage: ${PERMISSIONS_USAGE}`);
  return await update(context, 'addRules', {
    behavior,
    rule,
    destination: place ?? 'localSettings',
  });
}

async function removeRule(context: CommandContext, rule: string): Promise<CommandOutput> {
  const found = rulesOf(context.session).filter((one) => one.rule === rule);
  if (found.length === 0)
    return failed(`There is no rule ${visible(rule)}. /permissions lists them.`);
  const editable = [...PLACES.values()];
  const fixed = found.find(({ source }) => !editable.some((one) => one === source));
  if (fixed !== undefined) {
    const place = fixed.file ?? SOURCES.get(fixed.source) ?? fixed.source;
    return failed(`${visible(rule)} comes from ${visible(place)} and cannot be removed here.`);
  }
  const outputs: string[] = [];
  for (const { behavior, source } of found) {
    const destination = editable.find((one) => one === source) ?? 'localSettings';
    const output = await update(context, 'removeRules', { behavior, rule, destination });
    if (output.failed === true) return output;
    outputs.push(output.text);
  }
  return text(outputs);
}

async function update(
  { session, runner }: CommandContext,
  type: 'addRules' | 'removeRules',
  change: Pick<Extract<PermissionUpdate, { rules: unknown }>, 'behavior' | 'destination'> & {
    readonly rule: string;
  },
): Promise<CommandOutput> {
  const { behavior, destination, rule } = change;
  const [, toolName, ruleContent] = /^([^()]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  if (toolName === undefined) {
    return failed(
      `${visible(rule)} is not a rule. Rules look like Bash(git push *) or Edit(src/**).`,
    );
  }
  const value = ruleContent === undefined ? { toolName } : { toolName, ruleContent };
  const updates = [{ type, rules: [value], behavior, destination }];
  const { notes, refused } = await session.requests.updatePermissions(updates);
  if (refused !== undefined) return failed(visible(refused));
  // A rule that allows something ends with its session.
  if (destination === 'session' && behavior !== 'allow') {
    runner.carryOver(async (fresh) => {
      const again = await fresh.requests.updatePermissions(updates);
      // fail-closed: a session without this restriction does not go on.
      if (again.refused !== undefined) throw new PortcullisError('config', again.refused);
    });
  }
  return text(notes.map(visible));
}
