import { messageOf } from '../../errors.js';
import type { Result } from '../../lib/result.js';
import type { Asker } from '../../permissions/gate/types.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { Inbox, type InboxQuestion } from '../inbox/inbox.js';
import { teamFiles } from './host/files.js';
import { closePane } from './host/panes.js';
import type { TeamMember, TeammateWay, TeamRole } from './records.js';
import { isRunningMember } from './team.js';
import type { TeamBase, TeamSide } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { leaveTeam } from './teammate.js';
import { startTeammate } from './teammate-start.js';

const WATCH_MS = 500;
const LAST_WORDS_MS = 5_000;

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
    // A later attempt may succeed.
    if (!made.ok) making = undefined;
    return made;
  };
  /** Checks run one after another: two at once would report a lost teammate twice. */
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
      // A resumed session may have a team from before.
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

/** Teammates running in their own processes; reports those whose process has died to the lead. */
async function livingApart(base: TeamBase, client: TeamClient): Promise<readonly TeamMember[]> {
  const record = client.record();
  const apart = record.ok ? record.value.members.filter(isApart) : [];
  for (const member of apart) {
    if (member.state === 'ended' || isRunningMember(member)) continue;
    const released = await leaveTeam(base, client, member.name);
    const tasks = released.length === 0 ? '' : ` Its tasks are open again: ${released.join(', ')}.`;
    const text = `<system-reminder>\nThe process of the teammate "${member.name}" is gone without a last word.${tasks}\n</system-reminder>`;
    const uuid = base.environment.clock.uuid();
    base.session.tellMain({ uuid, content: [{ type: 'text', text }], meta: true });
  }
  return apart.filter(isRunningMember);
}

/** The way given at the start, else the setting. */
function wayOf({ environment, config }: TeamBase, given: TeammateWay | 'auto' | undefined) {
  const wanted = given ?? environment.settings.values.get('teammateMode')?.value;
  if (wanted === 'tmux' || wanted === 'iterm2') return wanted;
  const isInTmux = (config.env.TMUX ?? '') !== '';
  return wanted === 'auto' && isInTmux ? 'tmux' : 'in-process';
}

/** Starts reading the lead's mailbox. */
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

/** Teammates in their own processes end with the lead. */
async function endApart(base: TeamBase, client: TeamClient): Promise<void> {
  for (const { name } of client.living().filter(isApart)) stopApart(base, name);
  const until = performance.now() + LAST_WORDS_MS;
  while (performance.now() < until && client.living().some(isApart)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface TeamAskParts {
  readonly inbox: Pick<Inbox, 'list' | 'answer'>;
  /** Asks the person at the lead. Absent: the questions wait in the inbox. */
  readonly asker: Asker | undefined;
  readonly workspace: Workspace;
  tool(name: string): AnyTool | undefined;
  warn(text: string): void;
}

/** Asks the person at the lead the questions of teammates in their own processes. */
export class TeamAsks {
  readonly #parts: TeamAskParts;
  readonly #open = new Map<string, AbortController>();

  constructor(parts: TeamAskParts) {
    this.#parts = parts;
  }

  /** `members` are those with their own process. */
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
      // fail-closed: the person would see only a part, but answer for the whole.
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
      // Answered elsewhere, or no longer waited for.
      if (controller.signal.aborted) return;
      const { behavior } = answer;
      const message = answer.behavior === 'deny' ? answer.message || undefined : undefined;
      const given = inbox.answer(question.id, { behavior, scope: 'once', message });
      if (!given.ok) warn(`the answer for ${member.name} came too late: ${given.error}`);
    } catch (thrown) {
      // fail-closed: the question stays open, without a yes.
      warn(`a question of ${member.name} could not be put: ${messageOf(thrown)}`);
    }
  }
}
