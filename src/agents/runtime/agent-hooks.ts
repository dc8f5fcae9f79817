import { instructionsReminder } from '../../context/instructions/reminder.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import { afterCompact, beforeCompact } from '../../hooks/events/compact.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { CompactionHooks } from '../core/compaction.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { type GuardHooks, hooksMissingFrom, mayExecute } from '../limits/inherited-hooks.js';
import { SETTING_SOURCES } from '../limits/tool-restrictions.js';
import { shownFiles } from './agent-context.js';
import { FORK_TYPE, forkNotice } from './fork.js';
import type { AgentHost } from './host.js';
import type { AgentRun } from './run.js';

type Scopes = Pick<OpenHooks, 'addScoped'>;

/** Puts the hooks of an agent's definition and of its ancestors in force; returns a function that removes them. */
export function scopeHooks(hooks: Scopes, { ref, definition, plan }: AgentRun): () => void {
  const above = hooksMissingFrom(plan.guards, definition);
  const ends = [
    putHooks(hooks, ref, definition),
    // Inherited hooks can refuse but not allow. Each name is numbered, because equal names would replace each other.
    ...above.map((guards, at) =>
      put(hooks, ref, guards, { name: `${guards.name} above it (${at + 1})`, restrictOnly: true }),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Puts the hooks of a definition in force for one agent; returns a function that removes them. */
export function putHooks(hooks: Scopes, ref: AgentRef, definition: AgentDefinition): () => void {
  const { hooks: own, name } = definition;
  return own === undefined
    ? () => undefined
    : put(hooks, ref, { ...definition, hooks: own }, { name });
}

function put(
  { addScoped }: Scopes,
  { id: agentId }: AgentRef,
  guards: GuardHooks,
  how: { readonly name: string; readonly restrictOnly?: true },
): () => void {
  const { hooks, file, line } = guards;
  const source = SETTING_SOURCES[guards.source];
  const trusted = mayExecute(guards);
  return addScoped({ kind: 'agent', agentId, hooks, source, trusted, file, line, ...how });
}

/** The hooks around an agent's summaries. */
export function compactionHooks(
  { hooks: { dispatch }, instructions, skills }: AgentHost,
  { ref, definition }: AgentRun,
  sceneOf: (signal: AbortSignal) => Scene,
): CompactionHooks {
  const place = (signal: AbortSignal): Omit<Scene, 'mode'> => {
    const { mode: _mode, ...scene } = sceneOf(signal);
    return scene;
  };
  return {
    before: ({ trigger, instructions: customInstructions }, signal) =>
      beforeCompact(dispatch, { ...place(signal), trigger, customInstructions }),
    async after({ trigger, summary }, signal) {
      await afterCompact(dispatch, { ...place(signal), trigger, summary });
      const files = await shownFiles(instructions, ref, definition);
      const again = [
        instructionsReminder(files, { occasion: 'compact' }),
        skills.afterCompaction(ref),
        // A fork's notice must survive the summary of the message that contained it.
        ref.type === FORK_TYPE ? forkNotice() : undefined,
      ];
      return again.filter((text) => text !== undefined);
    },
  };
}
