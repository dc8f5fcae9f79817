import type { AgentSession } from '../app.js';
import { BUILTIN_COMMANDS, typedCommands } from '../client/commands/registry.js';
import { CONTRACT_VERSION } from './contract-version.js';
import { CAPABILITIES, type InitNames } from './frames.js';

type Command = Awaited<ReturnType<AgentSession['requests']['commands']>>[number];

/** A command as hosts list it. */
export type CommandRow = Pick<Command, 'name' | 'description' | 'argumentHint' | 'builtin'>;

/** The built-in commands, then skills and MCP prompts. */
function hostCommands(rows: readonly Command[]): readonly Command[] {
  return [...BUILTIN_COMMANDS, ...typedCommands(rows)];
}

export function commandRow({ name, description, argumentHint, builtin }: Command): CommandRow {
  return { name, description, argumentHint, ...(builtin === true ? { builtin } : {}) };
}

/** Whether a host that was told of the ones knows the others. */
export function areSameRows(some: readonly CommandRow[], others: readonly CommandRow[]): boolean {
  return (
    some.length === others.length &&
    some.every((row, at) => {
      const other = others[at];
      return (
        row.name === other?.name &&
        row.description === other.description &&
        row.argumentHint === other.argumentHint &&
        row.builtin === other.builtin
      );
    })
  );
}

/** What a host is told when it initialises a session, and each time it does so again. */
export async function initializeAnswer(
  session: AgentSession,
): Promise<Readonly<Record<string, unknown> & { readonly commands: readonly CommandRow[] }>> {
  const info = session.info();
  const [commands, agents, outputStyles] = await Promise.all([
    session.requests.commands({ fresh: true }),
    session.requests.agents(),
    session.requests.outputStyles(),
  ]);
  return {
    commands: hostCommands(commands).map(commandRow),
    agents: agents.map(({ name, description, model }) => ({
      name,
      description,
      model,
    })),
    models: info.models,
    account: { apiKeySource: info.keySource, apiProvider: providerName(info.provider) },
    output_style: info.outputStyle,
    available_output_styles: outputStyles,
    claude_code_version: CONTRACT_VERSION,
    current_permission_mode: info.mode,
    capabilities: CAPABILITIES,
    hook_on_failure_supported: true,
  };
}

/** Hosts know the provider of the first models under a name of its own. */
function providerName(provider: string): string {
  return provider === 'anthropic' ? 'firstParty' : provider;
}

/** What can be used besides tools: as rows, and by name. */
export async function initNames(
  session: AgentSession,
): Promise<{ readonly rows: readonly CommandRow[]; readonly names: InitNames }> {
  const [commands, skills, agents] = await Promise.all([
    session.requests.commands(),
    session.requests.skills(),
    session.requests.agents(),
  ]);
  const all = hostCommands(commands);
  const names = {
    commands: all.map(({ name }) => name),
    skills,
    agents: agents.map(({ name }) => name),
  };
  return { rows: all.map(commandRow), names };
}
