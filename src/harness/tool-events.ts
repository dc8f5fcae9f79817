import type { SessionConfig } from '../agents/session-config.js';
import { instructionFilesIn, isInstructionFile } from '../context/instruction-names.js';
import { resolve } from '../env/paths.js';
import { messageOf } from '../errors.js';
import type { Attention } from '../hooks/notification-hooks.js';
import type { Scene } from '../hooks/scene.js';
import { createTaskHooks, type HookTask } from '../hooks/task-hooks.js';
import type { FitsRule } from '../hooks/tool-occasion.js';
import type { BatchEnd, FinishedBatch } from '../loop/types.js';
import type { Asker, GateCall, JudgedCall } from '../permissions/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { textOf } from '../protocol/content.js';
import type { TaskWatch } from '../tools/builtin/task-list.js';
import type { InvalidInput } from '../tools/invalid-input.js';
import type { FinishedCall, InvokeDeps, Reviewed } from '../tools/invocation.js';
import type { AnyTool, PathAccess, ToolContext, ToolOutput } from '../tools/tool.js';
import { type AtOnce, isLater, whenThere } from '../util/at-once.js';
import type { Ground } from './ground.js';
import type { OpenHooks } from './hooks.js';
import type { OpenInstructions, Touched } from './instructions.js';
import type { OpenSkills } from './skills.js';

/** File systems round the time of a change. */
const CLOCK_GRAIN_MS = 100;

/** What hooks see and do around tool calls, besides the gate. */
export function openToolEvents(
  config: SessionConfig,
  ground: Ground,
  {
    hooks,
    instructions,
    skills,
    who = () => undefined,
  }: {
    hooks: OpenHooks;
    instructions: OpenInstructions;
    skills: OpenSkills;
    /** Who works on tasks, in a team. */
    who?:
      | ((agent: AgentRef) => Pick<HookTask, 'teammateName' | 'teamName'> | undefined)
      | undefined;
  },
) {
  const { dispatch, tell, post } = hooks;
  const tasks = createTaskHooks({ dispatch, tell });
  const sceneOf = ({ agent, workspace, mode, signal }: ToolContext) => ({
    agent,
    cwd: workspace.cwd,
    mode,
    signal,
  });
  const watch: TaskWatch = {
    created: (task, context) => tasks.created({ ...task, ...who(context.agent) }, sceneOf(context)),
    completed: (task, context) =>
      tasks.completed({ ...task, ...who(context.agent) }, sceneOf(context)),
  };
  /** What the files of a call bring into play. The call has run: a failure here is told, and no more. */
  const broughtInBy = (judged: JudgedCall, signal: AbortSignal): AtOnce<readonly string[]> => {
    try {
      const touched = instructions.touchedBy(judged, signal);
      const texts = isLater(touched) ? touched.then(withSkills) : withSkills(touched);
      return isLater(texts) ? broughtLater(judged, texts) : texts;
    } catch (thrown) {
      return notBrought(judged, thrown);
    }
  };
  const broughtLater = (judged: JudgedCall, texts: Promise<readonly string[]>) =>
    texts.catch((thrown: unknown) => notBrought(judged, thrown));
  const notBrought = ({ call }: JudgedCall, thrown: unknown): readonly string[] => {
    tell(`instructions and skills near the files of ${call.tool.name}: ${messageOf(thrown)}`);
    return NO_TEXTS;
  };
  const withSkills = ({ paths, text }: Touched): AtOnce<readonly string[]> => {
    if (paths.length === 0) return textsOf(text, undefined);
    const known = skills.touched(paths);
    return isLater(known) ? textsLater(text, known) : textsOf(text, known);
  };
  /** Whoever reads along sees that later sessions are going to be told something else. */
  const tellOfInstructions = async (
    { tool, agent }: GateCall,
    { named, ms }: { named: readonly string[]; ms: number },
  ): Promise<void> => {
    const since = ground.clock.now() - ms - CLOCK_GRAIN_MS;
    for (const path of new Set(named)) {
      // Only a notice hangs on it: the call has been judged and has run.
      const stat = await ground.fs.stat(path).catch(() => undefined);
      if (stat === undefined || stat.mtimeMs < since) continue;
      const who = agent.depth === 0 ? tool.name : `${tool.name} of ${agent.path}`;
      tell(`${who} changed ${path}, an instruction file: later sessions are told what it says now`);
    }
  };
  // Mostly nothing has to be waited for; what has, is a function of its own.
  const review: NonNullable<InvokeDeps['review']> = (finished, context) => {
    const { judged, output, ms } = finished;
    const { mode, signal } = context;
    const { call } = judged;
    const interrupted = signal.aborted;
    // An interrupted call is over; its hooks are not.
    const own = interrupted ? hooks.untilClose : signal;
    const fits = fittingAnew(hooks, { call, mode });
    const hearing = post.after({ call, mode, output, ms, signal: own, interrupted, fits });
    return isLater(hearing) ? endLater(finished, hearing, own) : end(finished, hearing, own);
  };
  const endLater = async (finished: FinishedCall, hearing: Promise<Reviewed>, own: AbortSignal) =>
    await end(finished, await hearing, own);
  const end = (
    finished: FinishedCall,
    reviewed: Reviewed,
    signal: AbortSignal,
  ): AtOnce<Reviewed> => {
    const { judged, output } = finished;
    // Also of a command that failed: it may have written before it did.
    const named = instructionFilesNamedBy(judged.call);
    // fail-closed: what a hook took out of sight is not left in a file beside it.
    const left = reviewed.output === output ? undefined : output.files;
    return named.length === 0 && left === undefined
      ? withBrought(finished, reviewed, signal)
      : clearUp(finished, reviewed, { signal, left, named });
  };
  const withBrought = (
    { judged, output }: FinishedCall,
    reviewed: Reviewed,
    signal: AbortSignal,
  ): AtOnce<Reviewed> => {
    if (output.isError === true) return reviewed;
    const brought = broughtInBy(judged, signal);
    return isLater(brought) ? withTextsLater(reviewed, brought) : withTexts(reviewed, brought);
  };
  const clearUp = async (
    finished: FinishedCall,
    reviewed: Reviewed,
    what: { signal: AbortSignal; left: ToolOutput['files']; named: readonly string[] },
  ): Promise<Reviewed> => {
    const { signal, left = [], named } = what;
    const { judged, ms } = finished;
    await Promise.all(left.map((file) => ground.fs.remove(file)));
    if (named.length > 0) await tellOfInstructions(judged.call, { named, ms });
    return await withBrought(finished, reviewed, signal);
  };
  const afterBatch = (batch: FinishedBatch, scene: Scene): AtOnce<BatchEnd> =>
    whenThere(
      post.batch(scene, () => batchCalls(batch)),
      ({ contexts, stop }) => {
        const said = batch.flatMap(({ result }) => result.contexts ?? NO_TEXTS);
        const noted = hooks.notes.note([...said, ...contexts]);
        return whenThere(noted, (note) => {
          const texts = batch.flatMap(({ result }) => result.followUp ?? NO_TEXTS);
          const followUp = hooks.notes.followUp(texts);
          const inputs = note === undefined ? followUp : [...followUp, note];
          return stop === undefined ? { inputs } : { inputs, stop };
        });
      },
    );
  return {
    tasks: watch,
    asker: config.asker === undefined ? undefined : noticed(config.asker, hooks.attention),
    review,
    afterBatch,
    invalid: (seen: { invalid: InvalidInput; tool: AnyTool; scene: Scene }) => {
      const { call, malformed, problems } = seen.invalid;
      return post.invalid({
        ...seen.scene,
        toolUseId: call.id,
        tool: seen.tool,
        input: call.input,
        malformed,
        problems,
        error: malformed === undefined ? 'the input does not fit the schema' : malformed.cause,
      });
    },
    cwd: () => ground.workspace.cwd,
  };
}

export type ToolEvents = ReturnType<typeof openToolEvents>;

const NO_TEXTS: readonly string[] = [];

function textsOf(text: string | undefined, more: string | undefined): readonly string[] {
  if (text === undefined) return more === undefined ? NO_TEXTS : [more];
  return more === undefined ? [text] : [text, more];
}

async function textsLater(
  text: string | undefined,
  more: Promise<string | undefined>,
): Promise<readonly string[]> {
  return textsOf(text, await more);
}

/** Looked at anew: the call may have changed what its words lead to. */
function fittingAnew(
  hooks: Pick<OpenHooks, 'fits'>,
  about: Parameters<OpenHooks['fits']>[0],
): FitsRule {
  let fits: FitsRule | undefined;
  return (rule) => {
    fits ??= hooks.fits(about);
    return fits(rule);
  };
}

async function withTextsLater(
  reviewed: Reviewed,
  texts: Promise<readonly string[]>,
): Promise<Reviewed> {
  return withTexts(reviewed, await texts);
}

function withTexts(reviewed: Reviewed, texts: readonly string[]): Reviewed {
  if (texts.length === 0) return reviewed;
  const followUp = [...(reviewed.output.followUp ?? []), ...texts.map((text) => ({ text }))];
  return { ...reviewed, output: { ...reviewed.output, followUp } };
}

/** Instruction files that a call may have written, by its words. */
function instructionFilesNamedBy({ subject, workspace }: GateCall): readonly string[] {
  const mayWrite = subject.command !== undefined || subject.paths.some(isWritten);
  if (!mayWrite) return NO_TEXTS;
  const written = subject.paths.flatMap(({ path, access }) => (access === 'write' ? [path] : []));
  const inCommand = subject.command === undefined ? [] : instructionFilesIn(subject.command);
  return [...written, ...inCommand.map((one) => resolve(workspace.cwd, one))].filter(
    isInstructionFile,
  );
}

function isWritten({ access }: PathAccess): boolean {
  return access === 'write';
}

/** Somebody who keeps a question waiting is called. */
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
