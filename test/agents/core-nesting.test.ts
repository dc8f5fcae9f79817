import { afterEach, describe, expect, it } from 'vitest';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}

const LOG = { type: 'command', command: 'cat >> "$HOME/seen.jsonl"; echo >> "$HOME/seen.jsonl"' };

describe('agents that start agents', () => {
  it('are told apart three deep, in hooks, receipts and messages', async () => {
    const world = await opened({
      home: {
        '.claude/settings.json': { json: { hooks: { PreToolUse: [{ hooks: [LOG] }] } } },
      },
      main: [agent('FIRST'), 'end'],
      agents: {
        THIRD: [bash('echo three'), 'three'],
        SECOND: [agent('THIRD'), 'two'],
        FIRST: [agent('SECOND'), 'one'],
      },
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    const path = 'main/general-purpose#1/general-purpose#1/general-purpose#1';
    const receipt = world.receipts.find(({ tool }) => tool === 'Bash');
    expect(receipt?.agent).toBe(path);
    const { readFileSync } = await import('node:fs');
    const seen = readFileSync(`${world.project.home}/seen.jsonl`, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
    const last = seen.find(({ tool_name }) => String(tool_name) === 'Bash');
    expect(last?.agent).toMatchObject({ path, depth: 3, type: 'general-purpose' });
    const starts = world.news('task_started').map(({ agent: ref }) => ref);
    expect(starts.map((ref) => ref?.depth)).toEqual([1, 2, 3]);
    expect(starts.map((ref) => ref?.parentId)).toEqual(['main', starts[0]?.id, starts[1]?.id]);
    const children = world.news('child').map(({ agent: ref }) => ref.path);
    expect(new Set(children).size).toBe(3);
    // The deepest is not offered what would be refused to it.
    const [deepest = ''] = world.requests('THIRD').filter((text) => text.includes('"THIRD"'));
    const tools = (text: string): readonly string[] =>
      JSON.parse(text).tools.map(({ name }: { name: string }) => name);
    expect(tools(world.requests('FIRST')[0] ?? '')).toContain('Agent');
    expect(tools(deepest)).not.toContain('Agent');
  });

  it('are refused beyond the depth and the number that settings allow', async () => {
    const world = await opened({
      home: {
        '.claude/settings.json': {
          json: { portcullis: { limits: { agentDepth: 1, agentConcurrency: 1 } } },
        },
      },
      main: [{ blocks: [agentBlock('ONE'), agentBlock('TWO')] }, 'end'],
      agents: { ONE: [{ text: 'one', delayMs: 100 }], TWO: ['two'] },
    });
    await world.say('go');
    const results = world.news('tool_result').map(({ result }) => String(result.block.content));
    expect(results[0]).toContain('one');
    expect(results[1]).toMatch(/1 agents are running, which is the limit. Do not try again/);
    expect(world.requests('ONE')[0]).not.toContain('"name":"Agent"');
  });

  it('run as many at a time as a raised limit leaves room for', async () => {
    const warned: string[] = [];
    const onWarning = ({ message }: Error): void => void warned.push(message);
    process.on('warning', onWarning);
    const words = Array.from({ length: 15 }, (_, index) => `WORD${index}X`);
    const world = await opened({
      home: {
        '.claude/settings.json': { json: { portcullis: { limits: { agentConcurrency: 25 } } } },
      },
      main: [{ blocks: words.map(agentBlock) }, 'end'],
      agents: Object.fromEntries(words.map((word) => [word, [{ text: 'done', delayMs: 300 }]])),
    });
    await world.say('go');
    const started = world.events.flatMap(({ type }, at) => (type === 'task_started' ? [at] : []));
    const finished = world.events.flatMap(({ type }, at) => (type === 'task_finished' ? [at] : []));
    expect(started).toHaveLength(15);
    expect(Math.max(...started)).toBeLessThan(Math.min(...finished));
    process.off('warning', onWarning);
    expect(warned).toEqual([]);
  });

  it('run at the same time when one answer starts them', async () => {
    const words = ['ALPHA', 'BRAVO', 'CHARLIE', 'DELTA'];
    const world = await opened({
      main: [{ blocks: words.map(agentBlock) }, 'end'],
      agents: Object.fromEntries(
        words.map((word) => [
          word,
          [{ tool: 'Bash', input: { command: `echo ${word}` }, delayMs: 300 }, `${word} done`],
        ]),
      ),
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    const results = world.news('tool_result').map(({ result }) => String(result.block.content));
    expect(results).toEqual(words.map((word) => expect.stringContaining(`${word} done`)));
    const started = world.events.flatMap(({ type }, at) => (type === 'task_started' ? [at] : []));
    const finished = world.events.flatMap(({ type }, at) => (type === 'task_finished' ? [at] : []));
    expect(Math.max(...started)).toBeLessThan(Math.min(...finished));
    expect(world.news('task_started').map(({ agent: ref }) => ref?.path)).toEqual(
      [1, 2, 3, 4].map((number) => `main/general-purpose#${number}`),
    );
  });

  it('cost what they cost under their own names, and the rows add up', async () => {
    const world = await opened({
      main: [agent('TASKWORD'), 'end'],
      agents: { TASKWORD: ['x'] },
    });
    const result = await world.say('go');
    const [usage] = Object.values(result.modelUsage) as { inputTokens: number }[];
    expect(usage?.inputTokens).toBeGreaterThan(result.usage.input_tokens);
  });
});

describe('hooks of a definition', () => {
  it('hold for the agent alone, for as long as it lives', async () => {
    const head = [
      'name: guarded',
      'description: d',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks:',
      '        - type: command',
      "          command: echo 'not here' >&2; exit 2",
      '  Stop:',
      '    - hooks:',
      '        - type: command',
      '          command: cat >> "$HOME/stopped.json"',
    ].join('\n');
    const world = await opened({
      files: { '.claude/agents/a.md': definition(head) },
      main: [agent('TASKWORD', { subagent_type: 'guarded' }), bash('touch main'), 'end'],
      agents: { TASKWORD: [bash('touch child'), 'x'] },
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    expect(world.project.exists('child')).toBe(false);
    expect(world.project.exists('main')).toBe(true);
    const { readFileSync } = await import('node:fs');
    const stopped = JSON.parse(readFileSync(`${world.project.home}/stopped.json`, 'utf8'));
    expect(stopped).toMatchObject({ hook_event_name: 'SubagentStop', agent_type: 'guarded' });
    expect(world.session.hooks().set.hooks.PreToolUse).toBeUndefined();
  });

  it('of a folder that is not trusted do nothing', async () => {
    const head =
      'name: evil\ndescription: d\nhooks:\n  SubagentStop:\n    - hooks:\n        - type: command\n          command: touch "$HOME/ran"';
    const world = await opened({
      files: { '.claude/agents/a.md': definition(head) },
      main: [agent('TASKWORD', { subagent_type: 'evil' }), 'end'],
      agents: { TASKWORD: ['x'] },
      config: { trust: false },
    });
    await world.say('go');
    const { existsSync } = await import('node:fs');
    expect(existsSync(`${world.project.home}/ran`)).toBe(false);
  });

  it('SubagentStart gives words to the agent, SubagentStop sends it on', async () => {
    const hook = (text: string) => [{ hooks: [{ type: 'command', command: text }] }];
    const world = await opened({
      home: {
        '.claude/settings.json': {
          json: {
            hooks: {
              SubagentStart: hook(
                `echo '{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"FOR THE AGENT"}}'`,
              ),
              SubagentStop: hook(
                '[ -f "$HOME/once" ] || { touch "$HOME/once"; echo GO-ON >&2; exit 2; }',
              ),
            },
          },
        },
      },
      main: [agent('TASKWORD'), 'end'],
      agents: { TASKWORD: ['first try', 'second try'] },
    });
    await world.say('go');
    expect(world.requests('TASKWORD')[0]).toContain('FOR THE AGENT');
    expect(world.requests('GO-ON')).not.toEqual([]);
    expect(world.result().text).toContain('second try');
  });
});

function agentBlock(prompt: string) {
  return { tool: 'Agent', input: { description: `the ${prompt}`, prompt } };
}
