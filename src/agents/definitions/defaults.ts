import type { AgentBudget, AgentWorkspace } from './definition.js';
import type { DefinitionFields } from './types.js';

/** What holds where a definition does not say otherwise. */
export function bareFields({
  name,
  description,
}: Pick<DefinitionFields, 'name' | 'description'>): DefinitionFields {
  return {
    name,
    description,
    disallowedTools: NONE,
    skills: NONE,
    mcpServers: NONE,
    background: false,
    omitInstructions: false,
    foregroundOnly: false,
    workspace: INHERITED,
    budget: UNBOUND,
    asks: 'bubble',
  };
}

const NONE: readonly never[] = [];
const INHERITED: AgentWorkspace = { kind: 'inherit' };
const UNBOUND: AgentBudget = {};

/** Without the fields that say nothing. */
export function compact(
  fields: { readonly [K in keyof DefinitionFields]: DefinitionFields[K] | undefined },
): DefinitionFields {
  const said: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) said[name] = value;
  return said as unknown as DefinitionFields;
}
