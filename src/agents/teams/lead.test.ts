import { describe, expect, it } from 'vitest';
import type { AskRequest } from '../../permissions/gate/types.js';
import type { AnyTool } from '../../tools/tool.js';
import type { Inbox, InboxQuestion } from '../inbox/inbox.js';
import type { TeamMember } from '../teams/records.js';
import { TeamAsks } from './lead.js';

const MEMBER = { name: 'ann', agentId: 'a1', sessionId: 's1' } as unknown as TeamMember;

function setUp(question: Partial<InboxQuestion>) {
  const asked: AskRequest[] = [];
  const answers: unknown[] = [];
  const warnings: string[] = [];
  const inbox = {
    list: () => [{ id: 'q1', sessionId: 's1', tool: 'Bash', agent: {}, ...question }],
    answer: (...given: unknown[]) => {
      answers.push(given);
      return { ok: true };
    },
  } as unknown as Inbox;
  const asks = new TeamAsks({
    inbox,
    asker: async (request) => {
      asked.push(request);
      return { behavior: 'allow' };
    },
    workspace: { cwd: '/w', roots: ['/w'], setCwd: () => undefined },
    tool: (name) => ({ name }) as AnyTool,
    warn: (text) => void warnings.push(text),
  });
  return { asks, asked, answers, warnings };
}

describe('what teammates in processes of their own ask', () => {
  it('is put to the person at the lead whole', async () => {
    const summary = `mkdir ok ${' '.repeat(5_000)}; touch tail`;
    const { asks, asked, answers } = setUp({ summary, reason: 'r' });
    asks.look([MEMBER]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.map(({ call }) => call.subject.summary)).toEqual([summary]);
    expect(answers).toEqual([['q1', { behavior: 'allow', scope: 'once' }]]);
  });

  it('is not put there where it is cut: nobody would know what a yes is for', async () => {
    const { asks, asked, answers, warnings } = setUp({ summary: 'mkdir ok …', tooLong: true });
    asks.look([MEMBER]);
    asks.look([MEMBER]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([asked, answers]).toEqual([[], []]);
    expect(warnings).toEqual(['ann asks about Bash, too long to be shown here: see its pane']);
  });
});
