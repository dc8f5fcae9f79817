import { messageOf } from '../../errors.js';
import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { SettingSource } from '../../lib/sourced.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { SourcedRule } from '../../settings/types.js';
import { fingerprintOf } from '../grants/approval.js';
import { type BesideFork, besideFork, type SkillGrant, type SkillGrants } from '../grants/grant.js';
import { pluginDirectories, type Skill, type SkillBook } from '../skill.js';
import type { Attached, AttachmentParts, AttachmentWish } from './attachments.js';
import { findFor, type Invoker } from './find.js';
import { createSaidBefore, type SaidText, shownText } from './memory.js';
import { renderSkill } from './render.js';
import { fillShell, type RunShell, shellPolicyOf } from './shell.js';

export interface SkillCall {
  /** A leading `/` is fine. */
  readonly name: string;
  readonly args?: string | undefined;
  readonly by: Invoker;
  readonly agent: AgentRef;
  readonly signal: AbortSignal;
  /** The content that was judged; another one is not invoked. Absent: nobody had to judge it. */
  readonly approved?: string | undefined;
  /** Reads what the person names in the call, for the agent of a skill that runs as one. */
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

/** A skill whose text is to go into the conversation. Its grants and restrictions are in force. */
export interface ReadySkill {
  readonly kind: 'ready';
  readonly skill: Skill;
  readonly args: string;
  /** One message: the text, headed by the base directory; a note where the same text stands there already. */
  readonly message: string;
  /** What the tool call gives back. */
  readonly toolText: string;
  /** The same text stands in the conversation already. */
  readonly repeated: boolean;
  readonly grants: readonly SourcedRule[];
  readonly disallowed: readonly string[];
  /** Absent: no fence. */
  readonly fence?: readonly string[];
  /** For the rest of the turn; only where a person invoked it. */
  readonly model?: string;
  readonly effort?: string;
  /** For the rest of the session. */
  readonly hooks?: SkillHooks;
  /** What of the head is not in force, for people. */
  readonly notes: readonly string[];
  /** The message never reached the conversation: takes back grants, restrictions and its memory. */
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
export interface ForkTask {
  readonly skill: Skill;
  /** All that the agent is told. */
  readonly prompt: string;
  /** To be asked once it is sure that the agent may start. What the head forbids it is not read for it. */
  readonly beside: BesideFork;
  readonly args: string;
  readonly by: Invoker;
  /** Absent: the general one. */
  readonly agentType?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly hooks?: SkillHooks;
  /** What of the head is not in force, for people. */
  readonly notes: readonly string[];
  /** Who invoked it. */
  readonly parent: AgentRef;
  readonly signal: AbortSignal;
  /** To be called with the new agent before it starts: gives it what the head grants and forbids. */
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
  /** Absent: `@path` in a text is a word. */
  readonly attachments?: AttachmentParts;
  readonly projectDir: string;
  /** Where something of the project is for this agent, which may have a tree of its own. Absent: where it is. */
  placeFor?(agent: AgentRef, path: string): Promise<string>;
  sessionId(): string;
  /** The effort in force, where there is one. */
  effort?(): string | undefined;
  /** The setting `disableSkillShellExecution`. */
  shellIsOff?(): boolean;
  /** Absent: there are no agents to run a skill as. */
  readonly fork?: RunFork;
}

export interface SkillInvoker {
  /** Whether there is such a skill for this one. */
  check(name: string, by: Invoker): Promise<Result<Skill, string>>;
  invoke(call: SkillCall): Promise<SkillOutcome>;
  /** A summary took the place of this conversation: what skills said in it, the newest first. */
  summarised(agentPath: string): readonly SaidText[];
  /** This conversation has ended. Absent: all. */
  forget(agentPath?: string): void;
}

export function createSkillInvoker(parts: InvokerParts): SkillInvoker {
  const said = createSaidBefore();
  return {
    check: (name, by) => findFor(parts.book, name, by),
    async invoke(call) {
      const opened = await open(parts, call);
      if (!opened.ok) return refused(opened.error);
      const { skill, grant, text } = opened.value;
      if (skill.head.context === 'fork') {
        // The agent gets what the head grants, not the one that started it.
        grant.withdraw();
        return runFork(parts, call, opened.value);
      }
      const path = call.agent.path;
      const repeated = said.has(path, skill.name, text);
      said.add(path, skill.name, text);
      grant.restrain();
      return readyOf(opened.value, call, {
        repeated,
        withdraw() {
          grant.withdraw();
          if (!repeated) said.remove(path, skill.name, text);
        },
      });
    },
    summarised: said.summarised,
    forget: said.forget,
  };
}

interface Opened {
  readonly skill: Skill;
  readonly args: string;
  readonly text: string;
  /** What it calls the project's directory. */
  readonly projectDir: string;
  readonly grant: SkillGrant;
  /** What people should know of it. */
  readonly notes: readonly string[];
}

/** Finds the skill, puts its grants in force and makes its text with them. */
async function open(parts: InvokerParts, call: SkillCall): Promise<Result<Opened, string>> {
  const found = await findFor(parts.book, call.name, call.by);
  if (!found.ok) return found;
  const skill = found.value;
  if (skill.head.context === 'fork' && parts.fork === undefined) {
    return err(
      `The skill ${skill.name} runs as an agent of its own (context: fork), and there are none here.`,
    );
  }
  const read = await skill.body().then(ok, (thrown: unknown) => err(messageOf(thrown)));
  if (!read.ok)
    return err(`The skill ${skill.name} cannot be read: ${read.error} (${skill.file}).`);
  const body = read.value;
  if (call.approved !== undefined && call.approved !== fingerprintOf(skill, body)) {
    // fail-closed: whoever said yes said it to another text.
    return err(
      `The skill ${skill.name} changed while its call was decided (${skill.file}). Call it again.`,
    );
  }
  const { agent } = call;
  const projectDir = (await parts.placeFor?.(agent, parts.projectDir)) ?? parts.projectDir;
  const grant = parts.grants.add(skill, agent, projectDir);
  if (!grant.ok) {
    return err(`The skill ${skill.name} cannot be used: ${grant.error} (${skill.file}).`);
  }
  const args = call.args ?? '';
  const filling = textOf(parts, call, { skill, body, args, projectDir });
  const text = await filling.catch((thrown: unknown) => {
    grant.value.withdraw();
    throw thrown;
  });
  if (!text.ok) {
    grant.value.withdraw();
    return err(`The skill ${skill.name} was not started: ${text.error}.`);
  }
  const shown = shownText(text.value.text);
  const notes = [
    ...grant.value.notes,
    ...heldBack(skill),
    ...hookNotes(skill),
    ...text.value.notes,
    ...hiddenNote(shown.removed),
  ];
  return ok({ skill, args, text: shown.text, projectDir, grant: grant.value, notes });
}

function hiddenNote(removed: number): readonly string[] {
  return removed === 0 ? [] : [`${removed} hidden characters of its text are left out`];
}

interface SkillFilling extends Pick<Opened, 'skill' | 'args' | 'projectDir'> {
  readonly body: string;
}

async function textOf(
  parts: InvokerParts,
  { agent, signal }: SkillCall,
  { skill, body, args, projectDir }: SkillFilling,
): Promise<Result<Attached, string>> {
  const variables = new Map([
    ['CLAUDE_SESSION_ID', parts.sessionId()],
    ['CLAUDE_PROJECT_DIR', projectDir],
    ['CLAUDE_SKILL_DIR', skill.directory],
    ...pluginDirectories(skill),
  ]);
  const effort = effortOf(skill).effort ?? parts.effort?.();
  if (effort !== undefined) variables.set('CLAUDE_EFFORT', effort);
  const values = { args, names: skill.head.arguments ?? [], variables };
  const rendered = renderSkill(body, values);
  if (!rendered.ok) return rendered;
  // Before the commands: none runs for a text that cannot be whole.
  const attached = await attachedTo(parts, { skill, body, values, projectDir, agent, signal });
  if (!attached.ok) return attached;
  const policy = shellPolicyOf(skill, { isOff: parts.shellIsOff?.() === true });
  const filled = await fillShell(rendered.value, policy, ({ command, line }) => {
    if (signal.aborted) return Promise.resolve({ kind: 'refused', reason: 'interrupted' });
    const { name, file, bodyLine } = skill;
    return parts.runShell(
      { text: command, agent, skill: name, file, line: bodyLine + line },
      signal,
    );
  });
  if (!filled.ok) return filled;
  const { text, notes } = attached.value;
  return ok({ text: `${headingOf(skill)}${filled.value}${text}`, notes });
}

async function attachedTo(
  { attachments, placeFor }: InvokerParts,
  wish: Omit<AttachmentWish, 'beside'>,
): Promise<Result<Attached, string>> {
  // Most texts name no file.
  if (attachments === undefined || !wish.body.includes('@')) return ok({ text: '', notes: [] });
  const { attachedFiles } = await import('./attachments.js');
  const { directory } = wish.skill;
  const there = await placeFor?.(wish.agent, directory);
  const beside = there === undefined || there === directory ? [directory] : [there, directory];
  return attachedFiles(attachments, { ...wish, beside });
}

/** Commands are single files, and a server's prompts have none. */
function headingOf({ origin, isCommand, directory }: Skill): string {
  const hasFiles = origin !== 'mcp' && isCommand !== true && directory !== '';
  return hasFiles ? `Base directory for this skill: ${directory}\n\n` : '';
}

function readyOf(
  { skill, args, text, grant, notes }: Opened,
  { by }: SkillCall,
  { repeated, withdraw }: Pick<ReadySkill, 'repeated' | 'withdraw'>,
): ReadySkill {
  const { name, head } = skill;
  const note = `The skill ${name} was started again. Its text is the same as above; follow it once more.`;
  return {
    kind: 'ready',
    skill,
    args,
    message: repeated ? note : text,
    toolText: `Launching skill: ${name}`,
    repeated,
    grants: grant.granted,
    disallowed: head.disallowedTools ?? [],
    fence: head.fenceTools,
    ...(by === 'person' ? modelOf(skill) : {}),
    ...effortOf(skill),
    ...hooksOf(skill),
    notes,
    withdraw,
  };
}

async function runFork(
  parts: InvokerParts,
  call: SkillCall,
  { skill, args, text, projectDir, notes }: Opened,
): Promise<SkillOutcome> {
  const { head } = skill;
  const { agent, beside } = call;
  const done = await parts.fork?.({
    skill,
    prompt: text,
    beside: (tools) => besideFork(parts.grants, tools, { skill, agent, projectDir, beside }),
    args,
    by: call.by,
    agentType: head.agent,
    ...modelOf(skill),
    ...effortOf(skill),
    ...hooksOf(skill),
    notes: head.background === true ? [...notes, WAITED_FOR] : notes,
    parent: agent,
    signal: call.signal,
    grant(child) {
      const grant = parts.grants.add(skill, child, projectDir);
      if (grant.ok) grant.value.restrain();
      return grant;
    },
  });
  if (done?.kind !== 'done') return refused(done?.reason ?? 'there are no agents here');
  return { kind: 'forked', skill, toolText: done.text, isError: done.isError };
}

const WAITED_FOR = 'its background does not count: whoever starts it waits for it';

function refused(reason: string): SkillOutcome {
  return { kind: 'refused', reason };
}

/** fail-closed: what the user's requests cost is not a foreign folder's to say. */
function heldBack({ head, trusted }: Skill): readonly string[] {
  const said = [head.model, head.effort].filter((value) => value !== undefined);
  return trusted || said.length === 0
    ? []
    : ['its model and effort do not count, as the folder it comes from is not trusted'];
}

/** What its hooks may not do as they were meant to. */
function hookNotes({ file, problems }: Skill): readonly string[] {
  return problems
    .filter(({ field }) => field === 'hooks')
    .map(({ line, message }) => `${file}${line === undefined ? '' : `:${line}`}: ${message}`);
}

function modelOf({ head, trusted }: Skill): { readonly model?: string } {
  const { model } = head;
  return { model: trusted && model !== 'inherit' ? model : undefined };
}

function effortOf({ head, trusted }: Skill): { readonly effort?: string } {
  return { effort: trusted ? head.effort : undefined };
}

function hooksOf(skill: Skill): { readonly hooks?: SkillHooks } {
  const { name, head, source, file, trusted, plugin } = skill;
  if (head.hooks === undefined) return {};
  const line = own(head.lines ?? {}, 'hooks');
  return { hooks: { name, hooks: head.hooks, source, file, line, trusted, plugin } };
}
