import { describe, expect, it } from 'vitest';
import type { Client, ClientQuery } from './client.js';
import { toolResults } from './look.js';
import { Prompts, play } from './play.js';

const U1 = 'bbbbbbbb-0000-4000-8000-000000000001';
const U2 = 'bbbbbbbb-0000-4000-8000-000000000002';
const UNKNOWN = 'bbbbbbbb-0000-4000-8000-00000000dead';

/** Row 14 of the checklist: files as they were before a prompt. */
export function rewind(client: Client): void {
  /** Two turns that change files, then what the test asks for. */
  const twoTurns = async (questions: (query: ClientQuery, read: () => object) => Promise<void>) => {
    const prompts = new Prompts();
    prompts.send('one', { uuid: U1 });
    let failed: unknown;
    let turns = 0;
    const played = await play(client, {
      prompt: prompts,
      files: { 'f.txt': 'v0\n', 'shell.txt': 's0\n' },
      script: [
        { tool: 'Read', input: { file_path: 'f.txt' } },
        { tool: 'Write', input: { file_path: 'f.txt', content: 'v1\n' } },
        'first',
        { tool: 'Edit', input: { file_path: 'f.txt', old_string: 'v1', new_string: 'v2' } },
        { tool: 'Bash', input: { command: 'echo s2 > shell.txt' } },
        { tool: 'Write', input: { file_path: 'new.txt', content: 'n\n' } },
        'second',
      ],
      options: { enableFileCheckpointing: true, permissionMode: 'acceptEdits' },
      onFrame: async (frame, query) => {
        if (frame.type !== 'result') return;
        turns++;
        if (turns === 1) return prompts.send('two', { uuid: U2 });
        await questions(query, () => files()).catch((thrown: unknown) => {
          failed = thrown;
        });
        prompts.end();
      },
    });
    const { project } = played.world;
    function files(): object {
      return {
        f: project.read('f.txt'),
        shell: project.read('shell.txt'),
        isNew: project.exists('new.txt'),
      };
    }
    expect(toolResults(played).map(({ isError }) => isError)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    if (failed !== undefined) throw failed;
    return { played, files: files() };
  };

  describe('rewindFiles', () => {
    it('says what it would do, and does nothing, in a dry run', async () => {
      let answer: unknown;
      const { played, files } = await twoTurns(async (query) => {
        answer = await query.rewindFiles(U2, { dryRun: true });
      });
      const at = played.world.project.at;
      expect(answer).toMatchObject({
        canRewind: true,
        filesChanged: expect.arrayContaining([at('f.txt'), at('shell.txt'), at('new.txt')]),
        insertions: expect.any(Number),
        deletions: expect.any(Number),
      });
      expect(files).toEqual({ f: 'v2\n', shell: 's2\n', isNew: true });
    });

    it('brings back the files before the prompt, also what a command changed', async () => {
      let answer: unknown;
      const { files } = await twoTurns(async (query) => {
        answer = await query.rewindFiles(U2);
      });
      expect(answer).toMatchObject({ canRewind: true, skippedLinks: 0 });
      expect(files).toEqual({ f: 'v1\n', shell: 's0\n', isNew: false });
    });

    it('goes back further, after it went back once', async () => {
      const { files } = await twoTurns(async (query) => {
        await query.rewindFiles(U2);
        await query.rewindFiles(U1);
      });
      expect(files).toEqual({ f: 'v0\n', shell: 's0\n', isNew: false });
    });

    it('refuses a prompt that nobody knows', async () => {
      let refusal: unknown;
      const { files } = await twoTurns(async (query) => {
        refusal = await query.rewindFiles(UNKNOWN).catch((thrown: unknown) => thrown);
      });
      expect(refusal).toBeInstanceOf(Error);
      expect(files).toEqual({ f: 'v2\n', shell: 's2\n', isNew: true });
    });
  });
}
