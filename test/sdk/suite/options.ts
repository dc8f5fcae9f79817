import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/own.js';
import type { Client, ClientOptions } from './client.js';
import {
  asked,
  offered,
  resultOf,
  shown,
  systemOf,
  theOne,
  toolResult,
  toolResults,
} from './look.js';
import { play } from './play.js';
import type { World } from './world.js';

const bodyOf = (world: World, index = 0): Readonly<Record<string, unknown>> => {
  const body = asked(world).at(index)?.body;
  return isRecord(body) ? body : {};
};

/** Row 4 of the checklist: options that were understood do something. */
export function options(client: Client): void {
  const withOptions = (given: ClientOptions, more: Parameters<typeof play>[1] = {}) =>
    play(client, { script: ['end'], ...more, options: given });

  describe('the system prompt', () => {
    it('as a text replaces ours', async () => {
      const { world } = await withOptions({ systemPrompt: 'You are X' });
      expect(systemOf(world)).toContain('You are X');
    });

    it('as a list is sent in its order, without its marker', async () => {
      const { world } = await withOptions({
        systemPrompt: ['PART ONE', '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__', 'PART TWO'],
      });
      expect(systemOf(world)).toMatch(/PART ONE.*PART TWO/s);
      expect(systemOf(world)).not.toContain('DYNAMIC_BOUNDARY');
    });

    it('as an addition stands behind ours', async () => {
      const preset = { type: 'preset' as const, preset: 'claude_code' as const };
      const bare = await withOptions({ systemPrompt: preset });
      const { world } = await withOptions({ systemPrompt: { ...preset, append: 'AND MORE' } });
      expect(systemOf(world)).toContain('AND MORE');
      expect(systemOf(world).length).toBeGreaterThan(systemOf(bare.world).length);
    });
  });

  describe('tools', () => {
    it('a list leaves only those', async () => {
      const { world } = await withOptions({ tools: ['Read', 'Bash'] });
      expect([...offered(world)].sort()).toEqual(['Bash', 'Read']);
    });

    it('an empty list leaves none', async () => {
      const { world } = await withOptions({ tools: [] });
      expect(offered(world)).toEqual([]);
    });

    it('a disallowed name is not offered, and a call of it is no tool', async () => {
      const played = await withOptions(
        { disallowedTools: ['Write'], permissionMode: 'acceptEdits' },
        { script: [{ tool: 'Write', input: { file_path: 'z.txt', content: 'z' } }, 'end'] },
      );
      expect(offered(played.world)).not.toContain('Write');
      expect(toolResult(played).isError).toBe(true);
      expect(played.world.project.exists('z.txt')).toBe(false);
    });
  });

  describe('plugins', () => {
    it('bring what is in their directories', async () => {
      const played = await withOptions(
        { plugins: [{ type: 'local', path: './kit' }] },
        {
          files: {
            'kit/.claude-plugin/plugin.json': { json: { name: 'kit', version: '1.0.0' } },
            'kit/skills/hello/SKILL.md': '---\ndescription: Says hello to everybody\n---\nHi.',
          },
        },
      );
      expect(theOne(played, 'system/init')).toMatchObject({
        plugins: [{ name: 'kit', path: played.world.project.at('kit'), version: '1.0.0' }],
        skills: expect.arrayContaining(['kit:hello']),
      });
      expect(JSON.stringify(asked(played.world))).toContain('Says hello to everybody');
    });

    it('that are not there end the session in words', async () => {
      const played = await withOptions({ plugins: [{ type: 'local', path: './gone' }] });
      expect(resultOf(played)).toMatchObject({ subtype: 'error_during_execution' });
      expect(asked(played.world)).toEqual([]);
    });
  });

  describe('the model', () => {
    it('is the one that was named', async () => {
      const played = await withOptions({ model: 'haiku' });
      expect(bodyOf(played.world).model).toMatch(/haiku/);
      expect(theOne(played, 'system/init').model).toBe(bodyOf(played.world).model);
    });

    it('falls back when the first is overloaded', async () => {
      const error = { status: 529, type: 'overloaded_error', message: 'busy', retryAfterMs: 10 };
      const { world } = await withOptions(
        { model: 'opus', fallbackModel: 'haiku' },
        { script: [{ error }, { error }, 'end'] },
      );
      expect(bodyOf(world, -1).model).toMatch(/haiku/);
    });

    it('is told how long to think', async () => {
      const on = await withOptions({ model: 'claude-sonnet-4-5', maxThinkingTokens: 2000 });
      expect(bodyOf(on.world).thinking).toMatchObject({ type: 'enabled', budget_tokens: 2000 });
      const off = await withOptions({ thinking: { type: 'disabled' } });
      expect(bodyOf(off.world)).not.toHaveProperty('thinking.budget_tokens');
    });
  });

  describe('places', () => {
    it('an additional directory may be read', async () => {
      const played = await play(client, {
        files: { '../other/a.txt': 'CONTENT\n' },
        script: [{ tool: 'Read', input: { file_path: '../other/a.txt' } }, 'end'],
        options: (world) => ({ additionalDirectories: [`${world.project.root}/other`] }),
      });
      expect(toolResult(played)).toMatchObject({
        isError: false,
        text: expect.stringContaining('CONTENT'),
      });
    });

    it('an agent of the host takes over the main thread', async () => {
      const { world } = await withOptions({
        agent: 'rev',
        agents: { rev: { description: 'reviews', prompt: 'You review', tools: ['Read'] } },
      });
      expect(systemOf(world)).toContain('You review');
      expect(offered(world)).toContain('Read');
      expect(offered(world)).not.toContain('Bash');
    });
  });

  sources(client);
}

/** Both clients read all settings unless they are told otherwise. */
function sources(client: Client): void {
  const files = {
    '.claude/settings.json': '{"permissions":{"deny":["Bash(ls)"]}}',
    '.claude/settings.local.json': '{"permissions":{"deny":["Bash(id)"]}}',
    'CLAUDE.md': 'THE PROJECT SPEAKS',
  };
  const home = {
    '.claude/settings.json': '{"permissions":{"deny":["Bash(pwd)"]}}',
    '.claude/CLAUDE.md': 'THE USER SPEAKS',
  };
  const commands = ['ls', 'id', 'pwd', 'date'];
  type Row = readonly [
    name: string,
    given: ClientOptions['settingSources'],
    refused: readonly string[],
    speakers: readonly string[],
  ];
  const table: readonly Row[] = [
    ['omitted: all of them', undefined, ['ls', 'id', 'pwd'], ['PROJECT', 'USER']],
    ['empty: none', [], [], []],
    ['given: only the project', ['project'], ['ls'], ['PROJECT']],
    ['given: only the user', ['user'], ['pwd'], ['USER']],
    ['given: only local', ['local'], ['id'], []],
  ];

  describe('which settings are read', () => {
    it.each(table)('%s', async (_name, given, refused, speakers) => {
      const played = await play(client, {
        files,
        home,
        script: [...commands.map((command) => ({ tool: 'Bash', input: { command } })), 'end'],
        options: given === undefined ? {} : { settingSources: [...given] },
      });
      const results = toolResults(played);
      expect(commands.filter((_command, index) => results[index]?.isError === true)).toEqual(
        refused,
      );
      const words = ['PROJECT', 'USER'].filter((who) =>
        shown(played.world, 0).includes(`THE ${who} SPEAKS`),
      );
      expect(words).toEqual(speakers);
      expect(resultOf(played)).toMatchObject({ result: 'end' });
    });

    it('those given in the options hold in any case, a file of them too', async () => {
      const rules = { permissions: { deny: ['Bash(date)'] } };
      const date = { tool: 'Bash', input: { command: 'date' } };
      for (const settings of [() => rules, (world: World) => world.project.at('mine.json')]) {
        const played = await play(client, {
          files: { 'mine.json': JSON.stringify(rules) },
          script: [date, 'end'],
          options: (world) => ({ settingSources: [], settings: settings(world) }),
        });
        expect(toolResult(played).isError).toBe(true);
      }
    });

    it('those that the host imposes can only restrict', async () => {
      const played = await play(client, {
        script: [
          { tool: 'Bash', input: { command: 'date' } },
          { tool: 'Write', input: { file_path: 'z.txt', content: 'z' } },
          'end',
        ],
        options: {
          settingSources: [],
          managedSettings: { permissions: { deny: ['Bash(date)'], allow: ['Write'] } },
        },
      });
      expect(toolResults(played).map(({ isError }) => isError)).toEqual([true, true]);
    });
  });
}
