import { existsSync } from 'node:fs';
import { join } from 'node:path';
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

/** The main agent starts a reviewer, which starts a general-purpose agent, which runs a command. */
async function made(options: Partial<AgentsOptions> & { readonly settings?: object }) {
  const { settings = {}, files = {}, ...more } = options;
  open = await openAgentsSession({
    config: { allowedTools: ['Bash'] },
    main: [agent('REVIEWW', { subagent_type: 'reviewer' }), bash('touch by-main'), 'end'],
    agents: {
      REVIEWW: [agent('INNERW'), 'r'],
      INNERW: [bash('touch by-inner'), agent('DEEPW'), 'i'],
      DEEPW: [bash('touch by-deep'), 'd'],
    },
    ...more,
    files: {
      '.claude/settings.local.json': JSON.stringify(settings),
      '.claude/agents/reviewer.md': definition('name: reviewer\ndescription: d'),
      ...files,
    },
  });
  await open.say('go');
  const directory = open.project.directory;
  return ['by-main', 'by-inner', 'by-deep'].filter((name) => existsSync(join(directory, name)));
}

describe('what is taken from an agent is taken from all that it starts', () => {
  it('by the rules for its type', async () => {
    const settings = { portcullis: { agents: { reviewer: { deny: ['Bash'] } } } };
    expect(await made({ settings })).toEqual(['by-main']);
  });

  it('by a guard that names its type, which there can only hold back', async () => {
    const guard = (command: string) => ({
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', agents: 'reviewer', hooks: [{ type: 'command', command }] },
        ],
      },
    });
    expect(await made({ settings: guard('exit 2') })).toEqual(['by-main']);
    await open?.close();
    const yes = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
    });
    expect(await made({ settings: guard(`echo '${yes}'`), config: {} })).toEqual([]);
  });

  it('by its list of tools', async () => {
    const files = {
      '.claude/agents/reviewer.md': definition(
        'name: reviewer\ndescription: d\ntools: Read, Agent',
      ),
    };
    expect(await made({ files })).toEqual(['by-main']);
    expect(open?.requests('tools of the agent reviewer')).not.toEqual([]);
  });

  it('but not what the rules keep from the main agent, which delegates it', async () => {
    const settings = { portcullis: { agents: { main: { deny: ['Bash'] } } } };
    expect(await made({ settings })).toEqual(['by-inner', 'by-deep']);
  });

  it('and nothing is taken from agents that the restricted one did not start', async () => {
    const settings = { portcullis: { agents: { planner: { deny: ['Bash'] } } } };
    expect(await made({ settings })).toEqual(['by-main', 'by-inner', 'by-deep']);
  });
});
