import { budgetOf } from '../../config/session-environment.js';
import { messageOf } from '../../errors.js';
import type { Result } from '../../lib/result.js';
import type { Asker } from '../../permissions/gate/types.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { nodeProcesses } from '../../platform/process/process-stamp.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { type Inbox, type InboxQuestion, openInbox } from '../inbox/inbox.js';
import { nodeTeamFiles } from './host/files.js';
import { nodePanes } from './host/panes.js';
import type { TeamMember, TeammateWay, TeamRole } from './records.js';
import type { TeamBase, TeamSide } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { ended, type StartParts, startTeammate } from './teammate-start.js';

const WATCH_MS = 500;
const LAST_WORDS_MS = 5_000;

/** The side of the one who starts the others. */
export function openLead(
  base: TeamBase,
  role: Extract<TeamRole, { readonly kind: 'lead' }>,
): TeamSide {
  const { config, environment, warn } = base;
  const { clock } = environment;
  const files = nodeTeamFiles;
  const leaving = new Set<Promise<void>>();
  let watching: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let making: Promise<Result<TeamClient, string>> | undefined;
  const asks = createTeamAsks({
    inbox: openInbox({
      files: stateFiles,
      processes: nodeProcesses,
      stateDirectory: environment.stateDirectory,
      now: clock.now,
    }),
    asker: config.asker,
    workspace: environment.workspace,
    tool: base.session.tool,
    warn,
  });
  const make = async (): Promise<Result<TeamClient, string>> => {
    const desk = base.openDesk();
    if (!desk.ok) return desk;
    const process = files.self();
    const lead = { sessionId: base.sessionId, cwd: config.cwd, process };
    const made = await desk.value.team.create(lead, clock.now());
    if (!made.ok) return made;
    await takeMail(base, desk.value);
    watching = setTimeout(() => void watch(desk.value), WATCH_MS).unref();
    return desk;
  };
  /** One look after the other: two at once would tell twice that a member is gone. */
  const watch = async (desk: TeamClient): Promise<void> => {
    try {
      await look(desk);
    } catch (thrown) {
      warn(`the team could not be looked at: ${messageOf(thrown)}`);
    }
    if (!closed) watching = setTimeout(() => void watch(desk), WATCH_MS).unref();
  };
  const madeOnce = async (): Promise<Result<TeamClient, string>> => {
    making ??= make();
    const made = await making;
    // Another try may do better.
    if (!made.ok) making = undefined;
    return made;
  };
  const look = async (desk: TeamClient): Promise<void> => {
    const record = desk.record();
    if (!record.ok) return;
    const apart = record.value.members.filter(({ way }) => way !== 'in-process');
    for (const member of apart) {
      if (member.state === 'ended' || desk.team.isLiving(member)) continue;
      const released = await ended({ tasks: base.tasks, warn }, desk, member.name);
      base.session.tellMain(goneMessage(member.name, released, clock.uuid()));
    }
    asks.look(apart.filter((member) => desk.team.isLiving(member)));
  };
  const parts: StartParts = {
    config,
    files,
    panes: nodePanes,
    program: role.program,
    configDir: environment.configDir,
    sessionId: base.sessionId,
    tasks: base.tasks,
    rest: base.rest,
    desk: madeOnce,
    runtime: base.session.runtime,
    mode: base.session.mode,
    model: base.session.model,
    way: () => wayOf(base, role),
    held: () => ({ hasBudget: hasBudget(base), skill: base.session.heldBySkill() }),
    env: config.env,
    uuid: clock.uuid,
    now: clock.now,
    warn,
    pending(work) {
      leaving.add(work);
      void work.finally(() => leaving.delete(work));
    },
  };
  return {
    async begin() {
      // A session that is taken up again may have left a team behind.
      const desk = base.openDesk();
      if (desk.ok && desk.value.record().ok) {
        const made = await madeOnce();
        if (!made.ok) warn(`the team of this session cannot be used: ${made.error}`);
      }
    },
    start: (wish) => startTeammate(parts, wish),
    stop: (idOrName) => stopApart(base, idOrName),
    async close() {
      closed = true;
      clearTimeout(watching);
      asks.close();
      await Promise.all(leaving);
      const desk = base.desk();
      if (desk === undefined || making === undefined) return;
      await endApart(base, desk);
      await desk.post.close();
      const gone = await desk.team.remove();
      if (!gone.ok) warn(`the team is not taken away: ${gone.error}`);
    },
  };
}

function hasBudget({ config, environment }: TeamBase): boolean {
  const said = { ...budgetOf(environment.settings.values), ...config.budget };
  return Object.values(said).some((bound) => bound !== undefined);
}

/** The setting, unless the session was started with something else. */
function wayOf(
  { environment, config }: TeamBase,
  { way }: { way?: TeammateWay | 'auto' | undefined },
): TeammateWay {
  const setting = environment.settings.values.get('teammateMode')?.value;
  const wanted = way ?? (typeof setting === 'string' ? setting : 'in-process');
  if (wanted === 'tmux' || wanted === 'iterm2') return wanted;
  const isInTmux = (config.env.TMUX ?? '') !== '';
  return wanted === 'auto' && isInTmux ? 'tmux' : 'in-process';
}

/** From here on the lead is told what comes for it. */
async function takeMail(base: TeamBase, desk: TeamClient): Promise<void> {
  desk.post.add({
    name: base.self,
    had: await base.had(),
    onMail(mail) {
      if (mail.kind === 'plan_approval_request' && mail.requestId !== undefined) {
        desk.plans.set(mail.from, mail.requestId);
      }
      return true;
    },
    tell(message) {
      base.session.tellMain(message);
      return true;
    },
  });
}

function goneMessage(name: string, released: readonly string[], uuid: string) {
  const tasks = released.length === 0 ? '' : ` Its tasks are open again: ${released.join(', ')}.`;
  const text = `<system-reminder>\nThe process of the teammate "${name}" is gone without a last word.${tasks}\n</system-reminder>`;
  return { uuid, content: [{ type: 'text' as const, text }], meta: true as const };
}

function stopApart(base: TeamBase, idOrName: string) {
  const desk = base.desk();
  const member = desk
    ?.living()
    .find(
      ({ name, agentId, way }) =>
        way !== 'in-process' && (name === idOrName || agentId === idOrName),
    );
  if (desk === undefined || member?.pane === undefined) return undefined;
  const { agentId: id, description, way, pane } = member;
  const order = { team: base.team, env: base.config.env };
  void nodePanes.close(way === 'iterm2' ? 'iterm2' : 'tmux', pane, order);
  return { id, description };
}

/** Those with a process of their own do not outlive the one who leads them. */
async function endApart(base: TeamBase, desk: TeamClient): Promise<void> {
  const apart = desk.living().filter(({ way }) => way !== 'in-process');
  for (const { name } of apart) stopApart(base, name);
  const until = performance.now() + LAST_WORDS_MS;
  while (performance.now() < until) {
    if (!desk.living().some(({ way }) => way !== 'in-process')) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export interface TeamAskParts {
  readonly inbox: Inbox;
  /** The person at the lead. Absent: the questions wait in the inbox. */
  readonly asker: Asker | undefined;
  readonly workspace: Workspace;
  tool(name: string): AnyTool | undefined;
  warn(text: string): void;
}

/** Puts what teammates in processes of their own ask to the person at the lead. */
export function createTeamAsks(parts: TeamAskParts) {
  const { inbox, asker, warn } = parts;
  const open = new Map<string, AbortController>();
  const ask = async (question: InboxQuestion, member: TeamMember): Promise<void> => {
    const tool = parts.tool(question.tool);
    if (asker === undefined || tool === undefined) return;
    const controller = new AbortController();
    open.set(question.id, controller);
    if (question.tooLong === true) {
      // fail-closed: the person would be shown a part, and would answer for the whole.
      warn(`${member.name} asks about ${question.tool}, too long to be shown here: see its pane`);
      return;
    }
    try {
      const answer = await asker({
        call: {
          toolUseId: question.toolUseId,
          tool,
          input: {},
          subject: { paths: [], summary: question.summary },
          agent: {
            id: member.agentId,
            type: member.agentType,
            name: member.name,
            path: question.agent.path,
            depth: 1,
            background: true,
          },
          workspace: parts.workspace,
          signal: controller.signal,
        },
        mode: 'default',
        trace: [],
        reason: question.reason,
      });
      // Somebody else was faster, or nobody waits any more.
      if (controller.signal.aborted) return;
      const { behavior } = answer;
      const message = answer.behavior === 'deny' ? answer.message : undefined;
      const given = inbox.answer(question.id, {
        behavior,
        scope: 'once',
        ...(message === undefined || message === '' ? {} : { message }),
      });
      if (!given.ok) warn(`the answer for ${member.name} came too late: ${given.error}`);
    } catch (thrown) {
      // fail-closed: the question stays open, and nobody has said yes.
      warn(`a question of ${member.name} could not be put: ${messageOf(thrown)}`);
    }
  };
  return {
    /** `members`: those who have a process of their own. */
    look(members: readonly TeamMember[]): void {
      if (members.length === 0 && open.size === 0) return;
      const questions = inbox.list();
      for (const [id, controller] of open) {
        if (questions.some((one) => one.id === id)) continue;
        controller.abort(new Error('the question is settled'));
        open.delete(id);
      }
      for (const question of questions) {
        if (open.has(question.id)) continue;
        const member = members.find(({ sessionId }) => sessionId === question.sessionId);
        if (member !== undefined) void ask(question, member);
      }
    },
    close(): void {
      for (const controller of open.values()) controller.abort(new Error('the session is over'));
      open.clear();
    },
  };
}
