import type { PartitionedServers } from './mcp-host.js';
import type { HookCallback, HookCallbackMatcher, Options } from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

export interface Registered {
  /** As `initialize` takes them: callbacks by their ids. */
  readonly hooks: Message | undefined;
  readonly callbacks: ReadonlyMap<string, HookCallback>;
}

/** Gives every hook callback an id. Which events there are, the runtime says. */
export function registerHooks(hooks: Options['hooks']): Registered {
  const callbacks = new Map<string, HookCallback>();
  const listed: [string, unknown][] = [];
  // Which event a callback is for, the caller's types have said.
  const given = (hooks ?? {}) as Partial<Record<string, readonly HookCallbackMatcher[]>>;
  for (const [event, matchers] of Object.entries(given)) {
    if (matchers === undefined) continue;
    listed.push([
      event,
      matchers.map(({ matcher, hooks: list, timeout, onFailure }) => ({
        ...(matcher === undefined ? {} : { matcher }),
        hookCallbackIds: list.map((callback) => {
          const id = `hook_${callbacks.size}`;
          callbacks.set(id, callback);
          return id;
        }),
        ...(timeout === undefined ? {} : { timeout }),
        ...(onFailure === undefined ? {} : { onFailure }),
      })),
    ]);
  }
  return {
    hooks: listed.length === 0 ? undefined : Object.fromEntries(listed),
    callbacks,
  };
}

/** The `initialize` request of these options. */
export function initializeRequest(
  options: Options,
  parts: {
    readonly hooks: Message | undefined;
    readonly servers: PartitionedServers;
  },
): Message {
  const { servers, hooks } = parts;
  const given = {
    hooks,
    agents: options.agents,
    ...promptFields(options.systemPrompt),
    sdkMcpServers: servers.names.length === 0 ? undefined : servers.names,
    sdkMcpServerConfigs: Object.keys(servers.configs).length === 0 ? undefined : servers.configs,
    mcpServers: options.mcpServersDelivery === 'initialize' ? servers.external : undefined,
    jsonSchema:
      options.outputFormat?.type === 'json_schema' ? options.outputFormat.schema : undefined,
    skills: Array.isArray(options.skills) ? options.skills : undefined,
    forwardSubagentText: options.forwardSubagentText,
    planModeInstructions: options.planModeInstructions,
    title: options.title,
  };
  return {
    subtype: 'initialize',
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

function promptFields(prompt: Options['systemPrompt']): Message {
  if (prompt === undefined) return { systemPrompt: [''] };
  if (typeof prompt === 'string') return { systemPrompt: [prompt] };
  if (Array.isArray(prompt)) return { systemPrompt: prompt };
  if (prompt.type === 'custom') {
    return { systemPrompt: typeof prompt.prompt === 'string' ? [prompt.prompt] : prompt.prompt };
  }
  return {
    appendSystemPrompt: prompt.append,
    excludeDynamicSections: prompt.excludeDynamicSections,
  };
}
