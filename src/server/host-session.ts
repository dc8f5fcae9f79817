import { SESSION_OPTIONS } from '../../build/generated/session-options.js';
import {
  type Asker,
  type HostCallbacks,
  type LoopEvent,
  readSessionOptions,
  type SdkBridge,
  type SessionConfig,
  type SessionNews,
} from '../app.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import { registrationProblem } from './host-callbacks.js';
import type { Message } from './inbound.js';

/** The other end of the wire, as a session sees it. */
interface Host {
  readonly asker: Asker;
  readonly callbacks: HostCallbacks;
  readonly elicit: AskElicitation;
  /** The way to servers in the host's process. */
  mcpBridge(server: string): SdkBridge;
  /** Those of them that it named when it initialised, as entries. */
  mcpEntries(): Readonly<Record<string, unknown>>;
  emit(event: LoopEvent | SessionNews): void;
  /** Undefined: it keeps up. Otherwise resolves when it has read what was told. */
  ready(): Promise<void> | undefined;
}

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
  const wrong = registrationProblem(initialize.hooks);
  if (wrong !== undefined) throw new PortcullisError('usage', `initialize: ${wrong}`);
  const { title, agents, plugins, mcpConfig, ...given } = fieldsOf(initialize);
  return {
    emit: host.emit,
    callbacks: host.callbacks,
    elicit: host.elicit,
    mcpBridge: host.mcpBridge,
    ...config,
    ...given,
    ...(title && { title: config.title ?? title }),
    // Those of the host beside those of the flag; of one name the host's.
    ...(isRecord(agents) && {
      agents: { ...(isRecord(config.agents) ? config.agents : {}), ...agents },
    }),
    mcpConfig: [...(config.mcpConfig ?? []), ...(mcpConfig ?? []), ...hostTable(host.mcpEntries())],
    plugins: [...(config.plugins ?? []), ...(plugins ?? [])],
    mayDefer: true,
    // A tool that answers for people must be there before anything is asked.
    ...(config.promptTool === undefined ? { serversMayComeLater: SERVERS_MS } : {}),
    ready: host.ready,
    ...(asksHost ? { asker: host.asker } : {}),
  };
}

/** How long a host waits for servers before it hears of the session; the first turn waits once more. */
const SERVERS_MS = 1_000;

const NAMES = [
  'systemPrompt',
  'appendSystemPrompt',
  'jsonSchema',
  'agents',
  'skills',
  'planModeInstructions',
  'title',
  'plugins',
  'mcpServers',
] as const;

const CARRIED: ReadonlySet<string> = new Set(NAMES);

/** What `initialize` says of the session; it goes over the flags. */
function fieldsOf(initialize: Message): Partial<SessionConfig> {
  // fail-closed: a limit in a field that is not read would restrict nothing.
  const lost = Object.keys(SESSION_OPTIONS).find(
    (name) => !CARRIED.has(name) && (initialize[name] ?? false) !== false,
  );
  if (lost !== undefined) {
    throw new PortcullisError('usage', `initialize: ${lost} is not read here`, {
      remedy: 'give it when the program is started',
    });
  }
  const raw = Object.fromEntries(NAMES.map((name) => [name, initialize[name]]));
  if (isRecord(raw.plugins)) raw.plugins = [raw.plugins];
  const read = readSessionOptions(raw, (name) => `initialize: ${name}`);
  // fail-closed: an agent, a plugin or a schema that cannot be read may hold something back.
  if (!read.ok) throw new PortcullisError('usage', read.error);
  const { start: _start, fork: _fork, persist: _persist, trust: _trust, ...fields } = read.value;
  const { bypassArmed: _armed, systemPrompt, ...given } = fields;
  if (systemPrompt === undefined) return given;
  const parts = typeof systemPrompt === 'string' ? [systemPrompt] : systemPrompt;
  return { ...given, systemPrompt: parts.filter((part) => part !== DYNAMIC_BOUNDARY) };
}

/** Separates the stable parts of a system prompt from those that change; it is not sent to the model. */
const DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

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
