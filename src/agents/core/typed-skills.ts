import type { Scene } from '../../hooks/dispatch/scene.js';
import type { PromptHooks } from '../../hooks/events/prompt.js';
import type { HookNotes } from '../../hooks/session/hook-notes.js';
import { err, ok } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import type { McpPrompts, TypedPrompt } from '../../mcp/resources/prompts.js';
import { readTypedPrompt } from '../../mcp/resources/prompts.js';
import { textOf } from '../../protocol/content.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import { readTyped } from '../../skills/invoke/find.js';
import type { ReadySkill, SkillInvoker } from '../../skills/invoke/invoke.js';
import type { Skill, SkillBook } from '../../skills/skill.js';
import type { RunHooks, Submitted } from './session.js';

export interface TypedSkillDeps {
  /** Prompts of MCP servers. Absent: there are none. */
  readonly mcpPrompts?: Pick<McpPrompts, 'expand'> | undefined;
  readonly book: SkillBook;
  readonly invoker: SkillInvoker;
  readonly prompts: PromptHooks;
  readonly notes: HookNotes;
  scene(signal: AbortSignal): Scene;
  /** Puts in force what goes beyond text and rules. */
  onReady(ready: ReadySkill): Promise<void>;
  /** A program writes the prompts: what names no command is text, not a slip of the finger. */
  readonly unknownIsText?: boolean;
  /** Shows prompts to the hooks. */
  readonly submit: RunHooks['submit'];
  /** Reads what a prompt names with an `@`. */
  attach(
    prompt: InputMessage,
    how: {
      /** What goes to the model of it: hooks may have changed it. */
      readonly passed: readonly InputMessage[];
      /** The tools of another agent that is shown it. Absent: the main agent is. */
      readonly other?: ForkTools;
      readonly signal: AbortSignal;
    },
  ): Promise<Beside>;
  /** A prompt goes no further, and why. */
  onRefused(message: string): void;
}

/** What stands beside a prompt for what it names. */
export interface Beside {
  readonly inputs: readonly InputMessage[];
  /** The prompt goes no further, and why. */
  readonly stop?: string;
}

/** Words that the program itself knows. */
const BUILTINS = ['compact'];

/** Prompts of a person on their way: what is typed as `/name` brings the text of the skill with it. */
export async function submitTyped(
  deps: TypedSkillDeps,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: Extract<Submitted, { kind: 'blocked' }>[] = [];
  for (const prompt of prompts) {
    const submitted = await submitOne(deps, prompt, signal);
    if (submitted.kind === 'pass') passed.push(...submitted.inputs);
    else refusals.push(submitted);
  }
  const said = passed.some((message) => message.meta !== true);
  if (refusals.length === 0 || said) return { kind: 'pass', inputs: passed };
  const message = refusals.map((refusal) => refusal.message).join('\n\n');
  const isUnknown = refusals.every(({ cause }) => cause === 'unknown_command');
  return { kind: 'blocked', message, ...(isUnknown && { cause: 'unknown_command' }) };
}

async function submitOne(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<Submitted> {
  const begun: ReadySkill[] = [];
  let isThrough = false;
  const refused = (message: string): { kind: 'blocked'; message: string } => {
    deps.onRefused(message);
    return { kind: 'blocked', message };
  };
  try {
    const steps = await expandTyped(deps, prompt, { signal, begun });
    if (typeof steps === 'string') return refused(steps);
    if ('unknown' in steps) return { ...refused(steps.unknown), cause: 'unknown_command' };
    const submitted = await deps.submit([prompt], signal);
    if (submitted.kind !== 'pass') return submitted;
    const way: Way = { prompt, passed: submitted.inputs, signal };
    const followUps = await takeSteps(deps, steps, way);
    if (typeof followUps === 'string') return refused(followUps);
    // What is named goes to the agents that work on it, where there are any.
    const beside = steps.some(isFork) ? NOTHING : await deps.attach(prompt, way);
    if (beside.stop !== undefined) return refused(beside.stop);
    // Last: a model or hooks of a skill whose prompt is held back would stay.
    for (const one of begun) await deps.onReady(one);
    isThrough = true;
    return { kind: 'pass', inputs: [...way.passed, ...followUps, ...beside.inputs] };
  } finally {
    // fail-closed: of a text that the model never gets nothing holds.
    if (!isThrough) for (const one of begun) one.withdraw();
  }
}

/** A prompt that hooks have let through. */
interface Way {
  readonly prompt: InputMessage;
  readonly passed: readonly InputMessage[];
  readonly signal: AbortSignal;
}

/** A skill that runs as an agent of its own, once the prompt is let through. */
interface Fork {
  readonly skill: Skill;
  readonly args: string;
}

/** What follows a prompt. */
type Step = InputMessage | Fork;

function isFork(step: Step): step is Fork {
  return 'skill' in step;
}

const NOTHING: Beside = { inputs: [] };

/** What follows a typed prompt; a text: why it goes no further. Skills that are ready are noted in `begun`. */
async function expandTyped(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  { signal, begun }: { readonly signal: AbortSignal; readonly begun: ReadySkill[] },
): Promise<readonly Step[] | { readonly unknown: string } | string> {
  const text = textOf(prompt.content);
  const isPlain = prompt.meta === true || prompt.verbatim === true;
  if (isPlain || !text.trimStart().startsWith('/')) return [];
  const command = deps.mcpPrompts === undefined ? undefined : readTypedPrompt(text);
  if (command !== undefined && deps.mcpPrompts !== undefined) {
    return await expandPrompt(deps, { prompt, command, prompts: deps.mcpPrompts }, signal);
  }
  const typed = await readTyped(text, { book: deps.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [];
  if (typed.kind === 'unknown') {
    return deps.unknownIsText === true ? [] : { unknown: typed.message };
  }
  const scene = deps.scene(signal);
  const steps: Step[] = [];
  for (const { skill, args } of typed.invocations) {
    const heard = await deps.prompts.expand({
      ...scene,
      type: 'slash_command',
      command: skill.name,
      args,
      source: skill.source,
      prompt: text,
    });
    if (heard.kind !== 'pass') return `/${skill.name} was held back by a hook: ${heard.reason}`;
    if (skill.head.context === 'fork') {
      const mayStart = await deps.invoker.check(skill.name, 'person');
      if (!mayStart.ok) return `/${skill.name}: ${mayStart.error}`;
      steps.push({ skill, args });
      continue;
    }
    const { agent } = scene;
    const by = 'person';
    const outcome = await deps.invoker.invoke({ name: skill.name, args, by, agent, signal });
    if (outcome.kind === 'refused') return `/${skill.name}: ${outcome.reason}`;
    // The skill has become one with an agent of its own just now, and has run.
    if (outcome.kind === 'forked') {
      steps.push(...deps.notes.followUp([outcome.toolText]));
      continue;
    }
    begun.push(outcome);
    steps.push(...deps.notes.followUp([outcome.message]));
    const note = await deps.notes.note(heard.contexts);
    if (note !== undefined) steps.push(note);
  }
  return steps;
}

/** The messages that follow a prompt, with the reports of agents in their places; a text: why it goes no further. */
async function takeSteps(
  deps: TypedSkillDeps,
  steps: readonly Step[],
  way: Way,
): Promise<readonly InputMessage[] | string> {
  const messages: InputMessage[] = [];
  for (const step of steps) {
    if (!isFork(step)) {
      messages.push(step);
      continue;
    }
    const report = await runFork(deps, step, way);
    if (report.stop !== undefined) return report.stop;
    messages.push(...report.inputs);
  }
  return messages;
}

/** It ends before the prompt goes on: what is named goes to it. */
async function runFork(deps: TypedSkillDeps, { skill, args }: Fork, way: Way): Promise<Beside> {
  const { signal } = way;
  let stop: string | undefined;
  const outcome = await deps.invoker.invoke({
    name: skill.name,
    args,
    by: 'person',
    agent: deps.scene(signal).agent,
    signal,
    async beside(other) {
      const named = await deps.attach(way.prompt, { ...way, other });
      stop = named.stop;
      return stop === undefined ? ok(named.inputs.flatMap(({ content }) => content)) : err(stop);
    },
  });
  if (outcome.kind === 'refused') {
    return { inputs: [], stop: stop ?? `/${skill.name}: ${outcome.reason}` };
  }
  if (outcome.kind === 'forked') return { inputs: deps.notes.followUp([outcome.toolText]) };
  // fail-closed: hooks were shown a skill that does its work elsewhere.
  outcome.withdraw();
  return { inputs: [], stop: `/${skill.name}: it has changed just now. Type it again` };
}

/** A server's prompt, typed by a person: its messages follow what was typed, as text and nothing else. */
async function expandPrompt(
  deps: TypedSkillDeps,
  {
    prompt,
    command,
    prompts,
  }: {
    readonly prompt: InputMessage;
    readonly command: TypedPrompt;
    readonly prompts: Pick<McpPrompts, 'expand'>;
  },
  signal: AbortSignal,
): Promise<readonly InputMessage[] | string> {
  const { name, args } = command;
  const heard = await deps.prompts.expand({
    ...deps.scene(signal),
    type: 'mcp_prompt',
    command: name,
    args,
    source: 'mcp',
    prompt: textOf(prompt.content),
  });
  if (heard.kind !== 'pass') return `/${name} was held back by a hook: ${heard.reason}`;
  const expanded = await prompts.expand(command, signal);
  if (!expanded.ok) return expanded.error;
  const note = await deps.notes.note(heard.contexts);
  return [deps.notes.blocks(expanded.value), ...(note === undefined ? [] : [note])];
}
