import { PortcullisError } from '../errors.js';
import type { SessionConfig } from '../harness.js';
import { isRecord } from '../util/own.js';
import { misspeltEvent } from './callback-events.js';
import type { Host } from './host.js';
import type { Message } from './inbound.js';

/** What shapes a session before its host has said anything. */
export type HostedConfig = Omit<
  SessionConfig,
  'emit' | 'asker' | 'callbacks' | 'elicit' | 'mcpBridge'
>;

/**
 * The session that a host asks for: what its `initialize` says goes over what was given at the start.
 * Throws where a field cannot be read and ignoring it would let through what it was to hold back.
 */
export function hostConfig(
  config: HostedConfig,
  initialize: Message,
  { host, asksHost }: { readonly host: Host; readonly asksHost: boolean },
): SessionConfig {
  const misspelt = misspeltEvent(initialize.hooks);
  if (misspelt !== undefined) throw new PortcullisError('usage', `initialize: ${misspelt}`);
  return {
    emit: host.emit,
    callbacks: host.callbacks,
    elicit: host.elicit,
    mcpBridge: host.mcpBridge,
    ...config,
    ...promptFields(initialize),
    ...schemaField(initialize.jsonSchema),
    ...agentFields(config.agents, initialize.agents),
    ...skillField(initialize.skills),
    ...(typeof initialize.planModeInstructions === 'string'
      ? { planModeInstructions: initialize.planModeInstructions }
      : {}),
    ...(typeof initialize.title === 'string' && initialize.title !== ''
      ? { title: config.title ?? initialize.title }
      : {}),
    mcpConfig: [
      ...(config.mcpConfig ?? []),
      ...hostTable(initializeServers(initialize)),
      ...hostTable(host.mcpEntries()),
    ],
    plugins: [...(config.plugins ?? []), ...pluginList(initialize.plugins)],
    mayDefer: true,
    // A tool that answers for people must be there before anything is asked.
    ...(config.promptTool === undefined ? { serversMayComeLater: SERVERS_MS } : {}),
    ready: host.ready,
    ...(asksHost ? { asker: host.asker } : {}),
  };
}

/** How long a host waits for servers before it hears of the session; the first turn waits once more. */
const SERVERS_MS = 1_000;

/** The host's system prompt wins over the flags. */
function promptFields({
  systemPrompt,
  appendSystemPrompt,
}: Message): Pick<SessionConfig, 'systemPrompt' | 'appendSystemPrompt'> {
  const given = typeof systemPrompt === 'string' ? [systemPrompt] : systemPrompt;
  return {
    ...(Array.isArray(given)
      ? {
          systemPrompt: given.filter(
            (part): part is string => typeof part === 'string' && part !== DYNAMIC_BOUNDARY,
          ),
        }
      : {}),
    ...(typeof appendSystemPrompt === 'string' ? { appendSystemPrompt } : {}),
  };
}

/** Stands in a list of prompt parts where those begin that change; it is no text for the model. */
const DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** Those of the host beside those of the flag; of one name the host's. */
function agentFields(flag: SessionConfig['agents'], given: unknown): Pick<SessionConfig, 'agents'> {
  if (given === undefined || given === null) return {};
  // fail-closed: limits that it was to give its agents would be lost.
  if (!isRecord(given)) throw new PortcullisError('usage', 'initialize: agents is no object');
  return { agents: { ...(isRecord(flag) ? flag : {}), ...given } };
}

function schemaField(given: unknown): Pick<SessionConfig, 'jsonSchema'> {
  if (given === undefined || given === null) return {};
  // fail-closed: an answer in no shape at all would pass for one in the shape that was asked for.
  if (!isRecord(given)) throw new PortcullisError('usage', 'initialize: jsonSchema is no object');
  return { jsonSchema: given };
}

/** The servers that the host sends here instead of on the command line, where others could read their secrets. */
function initializeServers({ mcpServers: given }: Message): Message {
  if (given === undefined || given === null) return {};
  // fail-closed: a session without the servers that it was to have answers in their place.
  if (!isRecord(given)) throw new PortcullisError('usage', 'initialize: mcpServers is no object');
  return given;
}

function pluginList(given: unknown): NonNullable<SessionConfig['plugins']> {
  if (given === undefined || given === null) return [];
  const rows: readonly unknown[] = Array.isArray(given) ? given : [given];
  return rows.map((row) => {
    // fail-closed: a plugin that cannot be found may bring a guard.
    if (!isRecord(row) || row.type !== 'local' || typeof row.path !== 'string') {
      const message = 'initialize: plugins is no list of { type: "local", path }';
      throw new PortcullisError('usage', message);
    }
    const { path: directory, skipMcpDiscovery } = row;
    if (skipMcpDiscovery !== undefined && typeof skipMcpDiscovery !== 'boolean') {
      const message = 'initialize: skipMcpDiscovery of a plugin is neither true nor false';
      throw new PortcullisError('usage', message);
    }
    return { directory, ...(skipMcpDiscovery === true ? { withoutServers: true } : {}) };
  });
}

function skillField(given: unknown): Pick<SessionConfig, 'skills'> {
  if (given === undefined || given === null) return {};
  const isList = Array.isArray(given) && given.every((name) => typeof name === 'string');
  // fail-closed: a list that cannot be read would offer everything.
  if (!isList) throw new PortcullisError('usage', 'initialize: skills is no list of names');
  return { skills: given };
}

/** What a host asked for that has no effect here, in words for a person. */
export function ignoredFields(initialize: Message): readonly string[] {
  return IGNORED.filter(([name]) => {
    const value = initialize[name];
    return value !== undefined && value !== null && value !== false;
  }).map(([name, why]) => `initialize: ${name} has no effect: ${why}`);
}

const IGNORED: readonly (readonly [string, string])[] = [['toolAliases', 'tools keep their names']];

/** A table of servers, where the host has any. */
function hostTable(entries: Message): readonly Message[] {
  return Object.keys(entries).length === 0 ? [] : [entries];
}
