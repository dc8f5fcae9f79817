import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import { instructionsReminder } from '../../context/instructions/reminder.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import { subagentStart } from '../../hooks/events/agent.js';
import { afterCompact, beforeCompact } from '../../hooks/events/compact.js';
import { createStopHooks, stopHookCap } from '../../hooks/events/stop.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { LoopDeps } from '../../loop/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { CompactionHooks } from '../core/compaction.js';
import type { ToolRuntime } from '../core/tool-runtime.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { type GuardHooks, guardsOf, mayExecute, missingFrom } from '../limits/inherited-hooks.js';
import { SETTING_SOURCES } from '../limits/tool-restrictions.js';
import { FORK_TYPE, forkNotice } from './fork.js';
import type { ChildFacts } from './run.js';

interface Needs {
  readonly hooks: OpenHooks;
  toolRuntime(): ToolRuntime;
  readonly log: Log;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
}

/** What hooks see and do around the agents of a session. */
export function childHooks(
  { runsAs }: Pick<SessionConfig, 'runsAs'>,
  { env }: SessionEnvironment,
  { hooks, toolRuntime, log, instructions, skills }: Needs,
) {
  const { dispatch, tell, notes } = hooks;
  return {
    start: (scene: Scene) => subagentStart({ dispatch, tell }, scene),
    /** The stop hooks of one agent. */
    stop: () =>
      createStopHooks(dispatch, {
        cap: stopHookCap(env),
        changes: () => toolRuntime().calls.ledger.count(),
      }),
    /** Puts the hooks of a definition in force, and those of agents above it. Returns what ends it. */
    scoped(ref: AgentRef, definition: AgentDefinition, above: readonly GuardHooks[]): () => void {
      const ends = [
        putHooks(hooks, ref, definition),
        ...missingFrom(above, definition).map((guards, at) =>
          putGuards(hooks, ref, { guards, at }),
        ),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    /** Those of the main agent that judge the calls of all. */
    guards: (): readonly GuardHooks[] =>
      runsAs === undefined ? [] : [guardsOf(runsAs) ?? []].flat(),
    afterBatch:
      (scene: SceneOf): NonNullable<LoopDeps['afterBatch']> =>
      (batch, signal) =>
        toolRuntime().events.afterBatch(batch, scene(signal)),
    compaction: (scene: SceneOf, child: ChildFacts): CompactionHooks => ({
      before: ({ trigger, instructions: wanted }, signal) =>
        beforeCompact(dispatch, {
          ...modeless(scene(signal)),
          trigger,
          customInstructions: wanted,
        }),
      async after({ trigger, summary }, signal) {
        await afterCompact(dispatch, { ...modeless(scene(signal)), trigger, summary });
        const again = [
          await instructionsAgain(child, instructions),
          skills.afterCompaction(child.ref),
        ];
        // The mark that it is a fork outlives the words it stood in.
        const mark = child.ref.type === FORK_TYPE ? [forkNotice()] : [];
        return [...again.filter((text) => text !== undefined), ...mark];
      },
    }),
    notes,
    transcriptOf: ({ id }: AgentRef) => log.store.transcriptPath(log.history.sessionId, id),
  };
}

export type ChildHooks = ReturnType<typeof childHooks>;

type SceneOf = (signal: AbortSignal) => Scene;

/** Puts the hooks of a definition in force for one agent. Returns what ends it. */
export function putHooks(
  { addScoped }: Pick<OpenHooks, 'addScoped'>,
  ref: AgentRef,
  definition: AgentDefinition,
): () => void {
  if (definition.hooks === undefined) return () => undefined;
  return addScoped({
    kind: 'agent',
    agentId: ref.id,
    name: definition.name,
    hooks: definition.hooks,
    source: SETTING_SOURCES[definition.source],
    trusted: mayExecute(definition),
    file: definition.file,
    line: definition.line,
  });
}

/** Hooks of an agent above this one: what they refuse it is refused, what they allow is not meant for it. */
function putGuards(
  { addScoped }: Pick<OpenHooks, 'addScoped'>,
  ref: AgentRef,
  { guards, at }: { readonly guards: GuardHooks; readonly at: number },
): () => void {
  const { hooks, file, line } = guards;
  return addScoped({
    kind: 'agent',
    agentId: ref.id,
    // Those of two of one name are not to take each other's place.
    name: `${guards.name} above it (${at + 1})`,
    hooks,
    restrictOnly: true,
    source: SETTING_SOURCES[guards.source],
    trusted: mayExecute(guards),
    file,
    line,
  });
}

async function instructionsAgain(
  { definition, ref }: ChildFacts,
  { openFor }: OpenInstructions,
): Promise<string | undefined> {
  if (definition.omitInstructions) return undefined;
  const { files } = await openFor(ref);
  const shown = files.filter(({ scope }) => scope !== 'memory');
  return instructionsReminder(shown, { occasion: 'compact' });
}

function modeless({ mode: _mode, ...scene }: Scene): Omit<Scene, 'mode'> {
  return scene;
}
