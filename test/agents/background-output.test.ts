import { afterEach, describe, expect, it } from 'vitest';
import type { Reply, RequestView } from '../../src/model/scripted/format.js';
import { type AgentsSession, agent, openAgentsSession } from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const start: Reply = {
  tool: 'Bash',
  input: { command: 'echo LINE-OF-OUTPUT', run_in_background: true },
};
let id = '';
/** Reads the output of the command that was started last. */
const read = (view: RequestView): Reply => {
  id = /\b(b[\da-f]{8})\b/.exec(view.anyUser)?.[1] ?? id;
  return { tool: 'BashOutput', input: { task_id: id } };
};
const wait: Reply = { tool: 'Bash', input: { command: 'sleep 0.3' } };

/** What BashOutput said, by the path of the one who asked. */
function outputs({ events }: AgentsSession): readonly (readonly [string, boolean])[] {
  return events.flatMap((event) => {
    const [path, told] = event.type === 'child' ? [event.agent.path, event.event] : ['main', event];
    if (told.type !== 'tool_result' || told.call.name !== 'BashOutput') return [];
    return [[path, String(told.result.block.content).includes('LINE-OF-OUTPUT')] as const];
  });
}

describe('the output of a background command', () => {
  it('can be read by the agent that started it', async () => {
    open = await openAgentsSession({
      main: [agent('TASKWORD'), 'end'],
      agents: { TASKWORD: [start, wait, read, 'done'] },
      config: { allowedTools: ['Bash'] },
    });
    await open.say('go');
    expect(outputs(open)).toEqual([['main/general-purpose#1', true]]);
  });

  it('is whole for each reader: two agents take no lines from each other', async () => {
    open = await openAgentsSession({
      main: [start, wait, read, agent('TASKWORD'), 'end'],
      agents: { TASKWORD: [read, read, 'done'] },
      config: { allowedTools: ['Bash'] },
    });
    await open.say('go');
    expect(outputs(open)).toEqual([
      ['main', true],
      ['main/general-purpose#1', true],
      ['main/general-purpose#1', false],
    ]);
  });
});
