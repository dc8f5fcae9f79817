import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply, ReplyFunction, RequestView } from '../../src/model/script-format.js';
import { type AgentsOptions, type AgentsSession, agent, openAgentsSession } from './core-rig.js';

const open: AgentsSession[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function lead(options: AgentsOptions): Promise<AgentsSession> {
  const session = await openAgentsSession({
    ...options,
    env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1', ...options.env },
    config: { team: { kind: 'lead', program: [] }, ...options.config },
  });
  open.push(session);
  return session;
}

const call = (tool: string, input: Record<string, unknown>): Reply => ({ tool, input });
const say = (to: string, message: unknown): Reply => call('SendMessage', { to, message });

async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(20)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error('it never came');
}

/** What comes for the lead is told to it, as the program does in a conversation. */
async function arrivals(session: AgentsSession, word: string): Promise<void> {
  const seen = (): boolean =>
    session.events.some(
      (event) => event.type === 'input' && JSON.stringify(event.message.content).includes(word),
    );
  for (const end = Date.now() + 20_000; !seen(); ) {
    if (Date.now() > end) throw new Error(`never told: ${word}`);
    const messages = session.session.takeBackgroundInput();
    if (messages.length > 0) await session.session.run(messages);
    else await pause(20);
  }
}

const members = (session: AgentsSession) => session.session.team?.view()?.members ?? [];
const stateOf = (session: AgentsSession, name: string) =>
  members(session).find((one) => one.name === name)?.state;

/** Replies by what was said last; each once, and otherwise a word. */
function reacting(to: Readonly<Record<string, Reply | ReplyFunction>>): ReplyFunction[] {
  const left = new Map(Object.entries(to));
  return Array.from({ length: 60 }, () => (view: RequestView) => {
    const word = [...left.keys()].find((one) => view.lastUser.includes(one));
    const reply = word === undefined ? undefined : left.get(word);
    if (word !== undefined) left.delete(word);
    return typeof reply === 'function' ? reply(view) : (reply ?? 'ok');
  });
}

/** The newest request that somebody has been put. */
function requestIn({ anyUser }: RequestView): string {
  return [...anyUser.matchAll(/request_id="(r[\da-f]{12})"/g)].at(-1)?.[1] ?? 'none';
}

describe('a teammate in the process of the lead', () => {
  it('is started by a name, rests, is spoken to, and is let go', async () => {
    const main = reacting({
      go: agent('WORKER', { name: 'ann' }),
      'FIRST RESULT': say('ann', 'SECOND ORDER'),
      'SECOND RESULT': say('ann', { type: 'shutdown_request', reason: 'all done' }),
    });
    const session = await lead({
      main,
      agents: {
        WORKER: [
          'FIRST RESULT',
          'SECOND RESULT',
          (view) =>
            say('team-lead', {
              type: 'shutdown_response',
              request_id: requestIn(view),
              approve: true,
            }),
          'LAST WORDS',
        ],
      },
    });
    await session.say('go');
    expect(session.news('tool_result')[0]?.result.structured).toMatchObject({
      status: 'teammate_spawned',
      name: 'ann',
    });
    const team = session.session.team?.view();
    expect(team?.name).toMatch(/^session-[\da-f]{8}$/);
    const directory = path.join(session.project.home, '.claude/teams', team?.name ?? '');
    const config = path.join(directory, 'config.json');
    expect(statSync(config).mode & 0o777).toBe(0o600);
    await arrivals(session, 'FIRST RESULT');
    await arrivals(session, 'SECOND RESULT');
    expect(session.requests('SECOND ORDER').some((text) => text.includes('WORKER'))).toBe(true);
    await until(() => stateOf(session, 'ann') === 'ended');
    // Nothing waits in the boxes that has been read.
    await until(() => readFileSync(path.join(directory, 'inboxes/ann.json'), 'utf8').trim() === '[]');
    await session.session.close();
    expect(existsSync(directory)).toBe(false);
  });
});
