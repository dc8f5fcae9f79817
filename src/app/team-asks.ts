import type { Inbox } from '../agents/inbox/inbox.js';
import type { InboxQuestion } from '../agents/inbox/question.js';
import type { TeamMember } from '../agents/teams/records.js';
import { messageOf } from '../errors.js';
import type { Asker } from '../permissions/gate/types.js';
import type { AnyTool, Workspace } from '../tools/tool.js';

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
