import type { AgentBudget, AgentWorkspace } from './definition.js';
import type { DefinitionFields } from './definition-types.js';

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
