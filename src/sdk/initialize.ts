import type { PartitionedServers } from './mcp-host.js';
import type { HookCallback, HookCallbackMatcher, Options } from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

export interface Registered {
  /** As `initialize` takes them: callbacks by their ids. */
  readonly hooks: Message | undefined;
  readonly callbacks: ReadonlyMap<string, HookCallback>;
}

/** Gives every hook callback an id. Which events there are, the runtime says. */
export function registerHooks(hooks: Options['hooks'] = {}): Registered {
  const callbacks = new Map<string, HookCallback>();
  const register = (callback: HookCallback): string => {
    const id = `hook_${callbacks.size}`;
    callbacks.set(id, callback);
    return id;
  };
  // Which event a callback is for, the caller's types have said.
  const given = Object.entries(hooks) as [string, readonly HookCallbackMatcher[] | undefined][];
  const listed = given.flatMap(([event, matchers]) =>
    matchers === undefined
      ? []
      : [
          [
            event,
            matchers.map(({ hooks: list, ...matcher }) => ({
              ...matcher,
              hookCallbackIds: list.map(register),
            })),
          ],
        ],
  );
  return { hooks: listed.length === 0 ? undefined : Object.fromEntries(listed), callbacks };
}

/** The `initialize` request of these options. What is undefined is not sent. */
export function initializeRequest(
  options: Options,
  parts: { readonly hooks: Message | undefined; readonly servers: PartitionedServers },
): Message {
  const { names, configs, external } = parts.servers;
  const { outputFormat, skills } = options;
  return {
    subtype: 'initialize',
    hooks: parts.hooks,
    agents: options.agents,
    ...promptFields(options.systemPrompt),
    sdkMcpServers: names,
    sdkMcpServerConfigs: configs,
    mcpServers: options.mcpServersDelivery === 'initialize' ? external : undefined,
    jsonSchema: outputFormat?.type === 'json_schema' ? outputFormat.schema : undefined,
    skills: Array.isArray(skills) ? skills : undefined,
    forwardSubagentText: options.forwardSubagentText,
    planModeInstructions: options.planModeInstructions,
    title: options.title,
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
