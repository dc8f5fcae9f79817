import { execFileSync } from 'node:child_process';
import { open as openFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type AgentsSession, agent, openAgentsSession } from '../agents/core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const call = (command: string) => ({ tool: 'Bash', input: { command } });
const answer = (...commands: readonly string[]) => ({ blocks: commands.map(call) });

/** Both commands have opened their pipe before either of them gets a word: they run at the same time. */
async function feed({ project }: AgentsSession): Promise<void> {
  const pipes = ['b', 'a'].map((name) => openFile(project.at(name), 'w'));
  for (const [index, pipe] of (await Promise.all(pipes)).entries()) {
    await pipe.write(`word ${index}\n`);
    await pipe.close();
  }
}

const makePipes = ({ project }: AgentsSession): void => {
  execFileSync('mkfifo', [project.at('a'), project.at('b')]);
};

const texts = (session: AgentsSession): readonly string[] =>
  session.news('tool_result').map(({ result }) => String(result.block.content).trim());

describe('commands of one answer', () => {
  it('run side by side where they only read, with results in the order of the calls', async () => {
    const session = await openAgentsSession({ main: [answer('cat a', 'cat b'), 'end'] });
    open = session;
    makePipes(session);
    await Promise.all([session.say('go'), feed(session)]);
    expect(texts(session)).toEqual(['word 1', 'word 0']);
    expect(session.receipts.map(({ decision }) => decision)).toEqual(['allow', 'allow']);
  });

  it('run side by side for agents, too', async () => {
    const session = await openAgentsSession({
      main: [agent('TASKWORD'), 'end'],
      agents: { TASKWORD: [answer('cat a', 'cat b'), 'done'] },
    });
    open = session;
    makePipes(session);
    await Promise.all([session.say('go'), feed(session)]);
    expect(session.receipts).toHaveLength(3);
  });

  it('wait for one that changes something, or goes elsewhere', async () => {
    const session = await openAgentsSession({
      files: { 'sub/x': '' },
      main: [answer('sleep 0.2; touch made', 'ls', 'cd sub', 'pwd'), 'end'],
      config: { allowedTools: ['Bash(touch *)', 'Bash(sleep *)'] },
    });
    open = session;
    await session.say('go');
    expect(texts(session)[1]).toContain('made');
    expect(texts(session)[3]).toMatch(/\/sub$/);
  });

  it('wait for each other where a hook may put another command in their place', async () => {
    const other = JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        updatedInput: { command: 'sleep 0.3; echo done > made' },
      },
    });
    const rewrite = `read -r input; case "$input" in *'"command":"ls"'*) echo '${other}';; esac`;
    const session = await openAgentsSession({
      files: { made: 'not yet\n' },
      home: {
        '.claude/settings.json': {
          json: { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: rewrite }] }] } },
        },
      },
      main: [answer('ls', 'cat made'), 'end'],
      config: { allowedTools: ['Bash'] },
    });
    open = session;
    await session.say('go');
    expect(texts(session)[1]).toBe('done');
  });
});
