import { messageOf } from '../../errors.js';
import type { Result } from '../../lib/result.js';
import type { Asker } from '../../permissions/gate/types.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { Inbox, type InboxQuestion } from '../inbox/inbox.js';
import { teamFiles } from './host/files.js';
import { closePane } from './host/panes.js';
import type { TeamMember, TeammateWay, TeamRole } from './records.js';
import { isLiving } from './team.js';
import type { TeamBase, TeamSide } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { leaveTeam } from './teammate.js';
import { startTeammate } from './teammate-start.js';

const WATCH_MS = 500;
const LAST_WORDS_MS = 5_000;

/** The side of the one who starts the others. */
export function openLead(
  base: TeamBase,
  role: Extract<TeamRole, { readonly kind: 'lead' }>,
): TeamSide {
  const { config, environment, warn } = base;
  const { clock, stateDirectory, workspace } = environment;
  const leaving = new Set<Promise<void>>();
  let watching: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let making: Promise<Result<TeamClient, string>> | undefined;
  const asks = new TeamAsks({
    inbox: new Inbox({ stateDirectory, now: clock.now }),
    asker: config.asker,
    workspace,
    tool: base.session.tool,
    warn,
  });
  const make = async (): Promise<Result<TeamClient, string>> => {
    const opened = base.open();
    if (!opened.ok) return opened;
    const client = opened.value;
    const lead = { sessionId: base.sessionId, cwd: config.cwd, process: teamFiles.self() };
    const made = await client.team.create(lead, clock.now());
    if (!made.ok) return made;
    await takeMail(base, client);
    watchSoon(client);
    return opened;
  };
  const makeOnce = async (): Promise<Result<TeamClient, string>> => {
    making ??= make();
    const made = await making;
    // Another try may do better.
    if (!made.ok) making = undefined;
    return made;
  };
  /** One look after the other: two at once would tell twice that a member is gone. */
  const watchSoon = (client: TeamClient): void => {
    watching = setTimeout(async () => {
      try {
        asks.look(await livingApart(base, client));
      } catch (thrown) {
        warn(`the team could not be looked at: ${messageOf(thrown)}`);
      }
      if (!closed) watchSoon(client);
    }, WATCH_MS).unref();
  };
  return {
    async begin() {
      // A session that is taken up again may have left a team behind.
      const opened = base.open();
      if (!opened.ok || !opened.value.record().ok) return;
      const made = await makeOnce();
      if (!made.ok) warn(`the team of this session cannot be used: ${made.error}`);
    },
    start: (wish) =>
      startTeammate(
        {
          base,
          program: role.program,
          way: wayOf(base, role.way),
          client: makeOnce,
          pending(work) {
            leaving.add(work);
            void work.finally(() => leaving.delete(work));
          },
        },
        wish,
      ),
    stop: (idOrName) => stopApart(base, idOrName),
    async close() {
      closed = true;
      clearTimeout(watching);
      asks.close();
      await Promise.all(leaving);
      const { client } = base;
      if (client === undefined || making === undefined) return;
      await endApart(base, client);
      await client.post.close();
      const gone = await client.team.remove();
      if (!gone.ok) warn(`the team is not taken away: ${gone.error}`);
    },
  };
}

const isApart = ({ way }: TeamMember): boolean => way !== 'in-process';

/** The members with a process of their own; the lead is told of those whose process is gone. */
async function livingApart(base: TeamBase, client: TeamClient): Promise<readonly TeamMember[]> {
  const record = client.record();
  const apart = record.ok ? record.value.members.filter(isApart) : [];
  for (const member of apart) {
    if (member.state === 'ended' || isLiving(member)) continue;
    const released = await leaveTeam(base, client, member.name);
    const tasks = released.length === 0 ? '' : ` Its tasks are open again: ${released.join(', ')}.`;
    const text = `<system-reminder>\nThe process of the teammate "${member.name}" is gone without a last word.${tasks}\n</system-reminder>`;
    const uuid = base.environment.clock.uuid();
    base.session.tellMain({ uuid, content: [{ type: 'text', text }], meta: true });
  }
  return apart.filter(isLiving);
}

/** The setting, unless the session was started with something else. */
function wayOf({ environment, config }: TeamBase, given: TeammateWay | 'auto' | undefined) {
  const wanted = given ?? environment.settings.values.get('teammateMode')?.value;
  if (wanted === 'tmux' || wanted === 'iterm2') return wanted;
  const isInTmux = (config.env.TMUX ?? '') !== '';
  return wanted === 'auto' && isInTmux ? 'tmux' : 'in-process';
}

/** From here on the lead is told what comes for it. */
async function takeMail(base: TeamBase, client: TeamClient): Promise<void> {
  client.post.add({
    name: base.self,
    had: await base.had(),
    onMail(mail) {
      if (mail.kind === 'plan_approval_request' && mail.requestId !== undefined) {
        client.plans.set(mail.from, mail.requestId);
      }
      return true;
    },
    tell(message) {
      base.session.tellMain(message);
      return true;
    },
  });
}

function stopApart({ client, team, config }: TeamBase, idOrName: string) {
  const member = client
    ?.living()
    .find((one) => isApart(one) && (one.name === idOrName || one.agentId === idOrName));
  if (member?.pane === undefined) return undefined;
  const { agentId: id, description, way, pane } = member;
  void closePane(pane, { way: way === 'iterm2' ? 'iterm2' : 'tmux', team, env: config.env });
  return { id, description };
}

/** Those with a process of their own do not outlive the one who leads them. */
async function endApart(base: TeamBase, client: TeamClient): Promise<void> {
  for (const { name } of client.living().filter(isApart)) stopApart(base, name);
  const until = performance.now() + LAST_WORDS_MS;
  while (performance.now() < until && client.living().some(isApart)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface TeamAskParts {
  readonly inbox: Pick<Inbox, 'list' | 'answer'>;
  /** The person at the lead. Absent: the questions wait in the inbox. */
  readonly asker: Asker | undefined;
  readonly workspace: Workspace;
  tool(name: string): AnyTool | undefined;
  warn(text: string): void;
}

/** Puts what teammates in processes of their own ask to the person at the lead. */
export class TeamAsks {
  readonly #parts: TeamAskParts;
  readonly #open = new Map<string, AbortController>();

  constructor(parts: TeamAskParts) {
    this.#parts = parts;
  }

  /** `members`: those who have a process of their own. */
  look(members: readonly TeamMember[]): void {
    if (members.length === 0 && this.#open.size === 0) return;
    const questions = this.#parts.inbox.list();
    for (const [id, controller] of this.#open) {
      if (questions.some((one) => one.id === id)) continue;
      controller.abort(new Error('the question is settled'));
      this.#open.delete(id);
    }
    for (const question of questions) {
      if (this.#open.has(question.id)) continue;
      const member = members.find(({ sessionId }) => sessionId === question.sessionId);
      if (member !== undefined) void this.#ask(question, member);
    }
  }

  close(): void {
    for (const controller of this.#open.values()) {
      controller.abort(new Error('the session is over'));
    }
    this.#open.clear();
  }

  async #ask(question: InboxQuestion, member: TeamMember): Promise<void> {
    const { inbox, asker, workspace, warn } = this.#parts;
    const tool = this.#parts.tool(question.tool);
    if (asker === undefined || tool === undefined) return;
    const controller = new AbortController();
    this.#open.set(question.id, controller);
    if (question.tooLong === true) {
      // fail-closed: the person would be shown a part, and would answer for the whole.
      warn(`${member.name} asks about ${question.tool}, too long to be shown here: see its pane`);
      return;
    }
    const agent = {
      id: member.agentId,
      type: member.agentType,
      name: member.name,
      path: question.agent.path,
      depth: 1,
      background: true,
    };
    const call = {
      toolUseId: question.toolUseId,
      tool,
      input: {},
      subject: { paths: [], summary: question.summary },
      agent,
      workspace,
      signal: controller.signal,
    };
    try {
      const answer = await asker({ call, mode: 'default', trace: [], reason: question.reason });
      // Somebody else was faster, or nobody waits any more.
      if (controller.signal.aborted) return;
      const { behavior } = answer;
      const message = answer.behavior === 'deny' ? answer.message || undefined : undefined;
      const given = inbox.answer(question.id, { behavior, scope: 'once', message });
      if (!given.ok) warn(`the answer for ${member.name} came too late: ${given.error}`);
    } catch (thrown) {
      // fail-closed: the question stays open, and nobody has said yes.
      warn(`a question of ${member.name} could not be put: ${messageOf(thrown)}`);
    }
  }
}
