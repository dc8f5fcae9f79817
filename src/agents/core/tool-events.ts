import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { instructionFilesIn, isInstructionFile } from '../../context/instructions/names.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import { messageOf } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import { type HookTask, taskCompleted, taskCreated } from '../../hooks/events/agent.js';
import type { Attention } from '../../hooks/events/notification.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { BatchEnd, FinishedBatch } from '../../loop/types.js';
import type { Asker, GateCall, JudgedCall } from '../../permissions/gate/types.js';
import { resolve } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { InvokeDeps, Reviewed } from '../../tools/invocation.js';
import type { TaskWatch } from '../../tools/tasks/task-list.js';
import type { ToolContext } from '../../tools/tool.js';

/** The resolution to which file systems round modification times. */
const CLOCK_GRAIN_MS = 100;

/** The teammate and team that an agent's tasks belong to. */
export type WhoWorks = (agent: AgentRef) => Pick<HookTask, 'teammateName' | 'teamName'> | undefined;

/** Runs the hooks around tool calls, besides the gate's. */
export function openToolEvents(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: { hooks: OpenHooks; instructions: OpenInstructions; skills: OpenSkills; who?: WhoWorks },
) {
  const { hooks, instructions, skills, who = () => undefined } = parts;
  const { tell, post } = hooks;
  const sceneOf = ({ agent, workspace, mode, signal }: ToolContext) => ({
    agent,
    cwd: workspace.cwd,
    mode,
    signal,
  });
  const watch: TaskWatch = {
    created: (task, context) =>
      taskCreated(hooks, { ...task, ...who(context.agent) }, sceneOf(context)),
    completed: (task, context) =>
      taskCompleted(hooks, { ...task, ...who(context.agent) }, sceneOf(context)),
  };
  /** The instructions and skills for the files of a call; since the call has run, a failure is only reported. */
  const contextForFiles = async (
    judged: JudgedCall,
    signal: AbortSignal,
  ): Promise<readonly string[]> => {
    try {
      const { paths, text } = await instructions.touchedBy(judged, signal);
      const known = paths.length === 0 ? undefined : await skills.touched(paths);
      return [text, known].filter((one) => one !== undefined);
    } catch (thrown) {
      const { name } = judged.call.tool;
      tell(`instructions and skills near the files of ${name}: ${messageOf(thrown)}`);
      return [];
    }
  };
  /** Notifies the person that later sessions will read changed instructions. */
  const tellOfInstructions = async (
    { tool, agent }: GateCall,
    { named, ms }: { named: readonly string[]; ms: number },
  ): Promise<void> => {
    const since = environment.clock.now() - ms - CLOCK_GRAIN_MS;
    for (const path of new Set(named)) {
      // Only a notice depends on it: the call was judged and has run.
      const stat = await environment.fs.stat(path).catch(() => undefined);
      if (stat === undefined || stat.mtimeMs < since) continue;
      const who = agent.depth === 0 ? tool.name : `${tool.name} of ${agent.path}`;
      tell(`${who} changed ${path}, an instruction file: later sessions are told what it says now`);
    }
  };
  const review: NonNullable<InvokeDeps['review']> = async (finished, context) => {
    const { judged, output, ms } = finished;
    const { mode } = context;
    const { call } = judged;
    const interrupted = context.signal.aborted;
    // An interrupt ends the call, but not its hooks.
    const signal = interrupted ? hooks.untilClose : context.signal;
    // Matched again, because the call may have changed what its paths lead to.
    const fits = hooks.fits({ call, mode });
    const reviewed = await post.after({ call, mode, output, ms, signal, interrupted, fits });
    // fail-closed: output that a hook replaced is not left in a file beside it.
    const left = reviewed.output === output ? [] : (output.files ?? []);
    await Promise.all(left.map((file) => environment.fs.remove(file)));
    // A failed command may have written before it failed, too.
    const named = instructionFilesNamedBy(call);
    if (named.length > 0) await tellOfInstructions(call, { named, ms });
    if (output.isError === true) return reviewed;
    return withTexts(reviewed, await contextForFiles(judged, signal));
  };
  const afterBatch = async (batch: FinishedBatch, scene: Scene): Promise<BatchEnd> => {
    const { contexts, stop } = await post.batch(scene, batchCalls(batch));
    const said = batch.flatMap(({ result }) => result.contexts ?? []);
    const note = await hooks.notes.note([...said, ...contexts]);
    const texts = batch.flatMap(({ result }) => result.followUp ?? []);
    const followUp = hooks.notes.followUp(texts);
    return { inputs: note === undefined ? followUp : [...followUp, note], stop };
  };
  return {
    tasks: watch,
    asker: config.asker === undefined ? undefined : noticed(config.asker, hooks.attention),
    review,
    afterBatch,
  };
}

export type ToolEvents = ReturnType<typeof openToolEvents>;

function withTexts(reviewed: Reviewed, texts: readonly string[]): Reviewed {
  if (texts.length === 0) return reviewed;
  const followUp = [...(reviewed.output.followUp ?? []), ...texts.map((text) => ({ text }))];
  return { ...reviewed, output: { ...reviewed.output, followUp } };
}

/** Instruction files that a call may have written, by its paths and words. */
function instructionFilesNamedBy({ subject, workspace }: GateCall): readonly string[] {
  const written = subject.paths.flatMap(({ path, access }) => (access === 'write' ? [path] : []));
  const inCommand = subject.command === undefined ? [] : instructionFilesIn(subject.command);
  return [...written, ...inCommand.map((one) => resolve(workspace.cwd, one))].filter(
    isInstructionFile,
  );
}

/** Notifies the person while a question waits. */
function noticed(asker: Asker, attention: Attention): Asker {
  return async (request) => {
    const answered = attention.asked(`${request.call.tool.name} needs permission`);
    try {
      return await asker(request);
    } finally {
      answered();
    }
  };
}

function batchCalls(batch: FinishedBatch) {
  return batch.map(({ call, result }) => ({
    tool_name: call.name,
    tool_input: call.input,
    tool_use_id: call.id,
    tool_response:
      typeof result.block.content === 'string'
        ? result.block.content
        : textOf(result.block.content),
  }));
}
