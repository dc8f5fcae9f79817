import { messageOf } from '../../errors.js';
import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { SettingSource } from '../../lib/sourced.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { fingerprintOf } from '../grants/approval.js';
import { type BesideFork, besideFork, type SkillGrant, type SkillGrants } from '../grants/grant.js';
import { pluginDirectories, type Skill, type SkillBook } from '../skill.js';
import type { Attached, AttachmentParts } from './attachments.js';
import { findFor, type Invoker } from './find.js';
import { createSaidBefore, type SaidText, shownText } from './memory.js';
import { type RenderValues, renderSkill } from './render.js';
import { fillShell, type RunShell, shellPolicyOf } from './shell.js';

export interface SkillCall {
  /** With or without a leading `/`. */
  readonly name: string;
  readonly args?: string | undefined;
  readonly by: Invoker;
  readonly agent: AgentRef;
  readonly signal: AbortSignal;
  /** The content that was approved; a skill with other content is refused. Absent: the call was not judged. */
  readonly approved?: string | undefined;
  /** Reads the mentions of the call, for the agent of a forked skill. */
  readonly beside?: BesideFork;
}

/** Hooks of a skill, as written. */
export interface SkillHooks {
  readonly name: string;
  readonly hooks: unknown;
  readonly source: SettingSource;
  readonly file: string;
  readonly line?: number;
  readonly trusted: boolean;
  readonly plugin?: NonNullable<Skill['plugin']>;
}

/** A skill that starts, with the parts of its front matter besides text and rules. */
interface StartedSkill {
  readonly skill: Skill;
  readonly args: string;
  readonly model?: string;
  readonly effort?: string;
  readonly hooks?: SkillHooks;
  /** Ignored parts of the front matter, for people. */
  readonly notes: readonly string[];
}

/** A skill whose text is ready for the conversation, with its grants and restrictions in force. */
export interface ReadySkill extends StartedSkill {
  readonly kind: 'ready';
  /**
   * The text in one message, after the base directory; only a note when the same text is in the
   * conversation already.
   */
  readonly message: string;
  /** The result of the tool call. */
  readonly toolText: string;
  /** The same text is in the conversation already. */
  readonly repeated: boolean;
  /** Undoes grants, restrictions and the record when the message never reached the conversation. */
  withdraw(): void;
}

export type SkillOutcome =
  | ReadySkill
  /** It ran as an agent of its own. */
  | {
      readonly kind: 'forked';
      readonly skill: Skill;
      readonly toolText: string;
      readonly isError: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** A skill that runs as an agent of its own. */
export interface ForkTask extends StartedSkill {
  readonly prompt: string;
  /** Called once it is certain that the agent may start; restrictions of the skill apply to the reading. */
  readonly beside: BesideFork;
  readonly by: Invoker;
  /** Absent: the default type. */
  readonly agentType?: string;
  /** The agent that invoked it. */
  readonly parent: AgentRef;
  readonly signal: AbortSignal;
  /** Called with the new agent before it starts, to apply the skill's grants and restrictions. */
  grant(child: AgentRef): Result<SkillGrant, string>;
}

export type RunFork = (
  task: ForkTask,
) => Promise<
  | { readonly kind: 'done'; readonly text: string; readonly isError: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
>;

export interface InvokerParts {
  readonly book: Pick<SkillBook, 'find' | 'list' | 'skipped'>;
  readonly grants: SkillGrants;
  readonly runShell: RunShell;
  /** Absent: `@path` in a text is plain text. */
  readonly attachments?: AttachmentParts;
  readonly projectDir: string;
  /** Maps a project path to the agent's worktree. Absent: paths stay unchanged. */
  placeFor?(agent: AgentRef, path: string): Promise<string>;
  sessionId(): string;
  /** The current effort, if any. */
  effort?(): string | undefined;
  /** The setting `disableSkillShellExecution`. */
  shellIsOff?(): boolean;
  /** Absent: there are no agents to run a skill as. */
  readonly fork?: RunFork;
}

export interface SkillInvoker {
  /** Checks that the skill exists for this invoker. */
  check(name: string, by: Invoker): Promise<Result<Skill, string>>;
  invoke(call: SkillCall): Promise<SkillOutcome>;
  /** After a summary: the skill texts of the conversation, the newest first. */
  summarised(agentPath: string): readonly SaidText[];
  /** Forgets an ended conversation, or all of them. */
  forget(agentPath?: string): void;
}

export function createSkillInvoker(parts: InvokerParts): SkillInvoker {
  const said = createSaidBefore();
  return {
    check: (name, by) => findFor(parts.book, name, by),
    async invoke(call) {
      const opened = await open(parts, call);
      if (!opened.ok) return { kind: 'refused', reason: opened.error };
      const { skill, text, grant, started } = opened.value;
      if (skill.head.context === 'fork') {
        // The grants go to the new agent, not to its parent.
        grant.withdraw();
        return await runFork(parts, call, opened.value);
      }
      const { name } = skill;
      const { path } = call.agent;
      const repeated = said.has(path, name, text);
      said.add(path, name, text);
      grant.restrain();
      const note = `The skill ${name} was started again. Its text is the same as above; follow it once more.`;
      return {
        ...started,
        kind: 'ready',
        model: call.by === 'person' ? started.model : undefined,
        message: repeated ? note : text,
        toolText: `Launching skill: ${name}`,
        repeated,
        withdraw() {
          grant.withdraw();
          if (!repeated) said.remove(path, name, text);
        },
      };
    },
    summarised: said.summarised,
    forget: said.forget,
  };
}

interface Opened {
  readonly skill: Skill;
  readonly text: string;
  /** The project's directory for the invoking agent. */
  readonly projectDir: string;
  readonly grant: SkillGrant;
  readonly started: StartedSkill;
}

/** Finds the skill, applies its grants and renders its text under them. */
async function open(parts: InvokerParts, call: SkillCall): Promise<Result<Opened, string>> {
  const found = await findFor(parts.book, call.name, call.by);
  if (!found.ok) return found;
  const skill = found.value;
  const { name, file, head } = skill;
  if (head.context === 'fork' && parts.fork === undefined) {
    return err(
      `The skill ${name} runs as an agent of its own (context: fork), and there are none here.`,
    );
  }
  const body = await skill.body().then(ok, (thrown: unknown) => err(messageOf(thrown)));
  if (!body.ok) return err(`The skill ${name} cannot be read: ${body.error} (${file}).`);
  if (call.approved !== undefined && call.approved !== fingerprintOf(skill, body.value)) {
    // fail-closed: another text was approved.
    return err(`The skill ${name} changed while its call was decided (${file}). Call it again.`);
  }
  const projectDir = (await parts.placeFor?.(call.agent, parts.projectDir)) ?? parts.projectDir;
  const added = parts.grants.add(skill, call.agent, projectDir);
  if (!added.ok) return err(`The skill ${name} cannot be used: ${added.error} (${file}).`);
  const grant = added.value;
  let text: Result<Attached, string>;
  try {
    text = await textOf(parts, call, { skill, body: body.value, projectDir });
  } catch (thrown) {
    grant.withdraw();
    throw thrown;
  }
  if (!text.ok) {
    grant.withdraw();
    return err(`The skill ${name} was not started: ${text.error}.`);
  }
  const shown = shownText(text.value.text);
  const notes = [
    ...grant.notes,
    ...notesOn(skill),
    ...text.value.notes,
    ...(shown.removed > 0 ? [`${shown.removed} hidden characters of its text are left out`] : []),
  ];
  const started = { skill, args: call.args ?? '', ...beyondText(skill), notes };
  return ok({ skill, text: shown.text, projectDir, grant, started });
}

async function textOf(
  parts: InvokerParts,
  { agent, signal, args = '' }: SkillCall,
  { skill, body, projectDir }: Pick<Opened, 'skill' | 'projectDir'> & { readonly body: string },
): Promise<Result<Attached, string>> {
  const { name, file, bodyLine, directory, head, origin, isCommand } = skill;
  const variables = new Map([
    ['CLAUDE_SESSION_ID', parts.sessionId()],
    ['CLAUDE_PROJECT_DIR', projectDir],
    ['CLAUDE_SKILL_DIR', directory],
    ...pluginDirectories(skill),
  ]);
  const effort = beyondText(skill).effort ?? parts.effort?.();
  if (effort !== undefined) variables.set('CLAUDE_EFFORT', effort);
  const values: RenderValues = { args, names: head.arguments ?? [], variables };
  const rendered = renderSkill(body, values);
  if (!rendered.ok) return rendered;
  let attached: Attached = { text: '', notes: [] };
  // Before the commands, so that none runs for a text that cannot be completed.
  if (parts.attachments !== undefined && body.includes('@')) {
    const { attachedFiles } = await import('./attachments.js');
    const there = (await parts.placeFor?.(agent, directory)) ?? directory;
    const beside = [...new Set([there, directory])];
    const wish = { skill, body, values, projectDir, beside, agent, signal };
    const found = await attachedFiles(parts.attachments, wish);
    if (!found.ok) return found;
    attached = found.value;
  }
  const policy = shellPolicyOf(skill, { isOff: parts.shellIsOff?.() === true });
  const filled = await fillShell(rendered.value, policy, async ({ command, line }) => {
    if (signal.aborted) return { kind: 'refused', reason: 'interrupted' };
    const place = { agent, skill: name, file, line: bodyLine + line };
    return await parts.runShell({ text: command, ...place }, signal);
  });
  if (!filled.ok) return filled;
  // Commands are single files, and a server's prompts have no files.
  const hasFiles = origin !== 'mcp' && isCommand !== true && directory !== '';
  const heading = hasFiles ? `Base directory for this skill: ${directory}\n\n` : '';
  return ok({ text: `${heading}${filled.value}${attached.text}`, notes: attached.notes });
}

async function runFork(
  parts: InvokerParts,
  { agent, beside, by, signal }: SkillCall,
  { skill, text, projectDir, started }: Opened,
): Promise<SkillOutcome> {
  const { head } = skill;
  const waits = head.background === true ? [WAITED_FOR] : [];
  const done = await parts.fork?.({
    ...started,
    notes: [...started.notes, ...waits],
    prompt: text,
    beside: (tools) => besideFork(parts.grants, tools, { skill, agent, projectDir, beside }),
    by,
    agentType: head.agent,
    parent: agent,
    signal,
    grant(child) {
      const grant = parts.grants.add(skill, child, projectDir);
      if (grant.ok) grant.value.restrain();
      return grant;
    },
  });
  if (done?.kind !== 'done') {
    return { kind: 'refused', reason: done?.reason ?? 'there are no agents here' };
  }
  return { kind: 'forked', skill, toolText: done.text, isError: done.isError };
}

const WAITED_FOR = '"background" is ignored: the caller waits for the skill';

/** Ignored or ineffective parts of the front matter. */
function notesOn({ head, trusted, file, problems }: Skill): readonly string[] {
  const isHeldBack = !trusted && (head.model ?? head.effort) !== undefined;
  const hooks = problems.filter(({ field }) => field === 'hooks');
  return [
    ...(isHeldBack
      ? ['its model and effort do not count, as the folder it comes from is not trusted']
      : []),
    ...hooks.map(
      ({ line, message }) => `${line === undefined ? file : `${file}:${line}`}: ${message}`,
    ),
  ];
}

/** fail-closed: an untrusted folder does not choose the model and effort of the user's requests. */
function beyondText(skill: Skill): Pick<StartedSkill, 'model' | 'effort' | 'hooks'> {
  const { name, head, source, file, trusted, plugin } = skill;
  const { hooks, model, effort } = head;
  const line = own(head.lines ?? {}, 'hooks');
  return {
    model: trusted && model !== 'inherit' ? model : undefined,
    effort: trusted ? effort : undefined,
    hooks: hooks === undefined ? undefined : { name, hooks, source, file, line, trusted, plugin },
  };
}
