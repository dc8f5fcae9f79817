import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJsonlStore } from '../../src/session/transcript/jsonl-store.js';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { run, transcript } from './worlds.js';

const ID = '12345678-1234-4234-8234-123456789012';
const FILES = {
  'CLAUDE.md': 'The marker is TULIP.\n',
  '.claude/skills/greet/SKILL.md': '---\nname: greet\ndescription: Says GREETING\n---\nHello.\n',
};

/** A session as another runtime leaves it: prompts and answers, no opening of ours. */
function writeForeign(home: string, cwd: string, prompt = 'PROMPT-1'): void {
  const base = { sessionId: ID, cwd, timestamp: '2026-01-01T00:00:00.000Z', version: '2.1.0' };
  const lines = [
    { type: 'user', uuid: 'u1', parentUuid: null, message: { role: 'user', content: prompt } },
    {
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'u1',
      message: { id: 'm1', role: 'assistant', content: [{ type: 'text', text: 'ANSWER-1' }] },
    },
  ];
  const store = createJsonlStore({ configDir: path.join(home, '.claude'), cwd });
  const file = store.transcriptPath(ID);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify({ ...base, ...line })}\n`).join(''));
}

const count = (text: string, part: string): number => text.split(part).length - 1;

describe('a session that another runtime began', () => {
  it('shows instructions, environment and skills once, and not again when it is resumed again', async () => {
    const project = makeTempProject({ files: FILES });
    writeForeign(project.home, project.directory);
    const world = { project, remove: () => project.remove() };
    const args = ['--resume', ID];
    const first = await run({ world, args, prompt: 'PROMPT-2', script: ['second'] });
    const sent = messagesOf(first);
    for (const part of [
      'TULIP',
      'Primary working directory',
      'GREETING',
      'PROMPT-1',
      'ANSWER-1',
      'PROMPT-2',
    ]) {
      expect(count(sent, part), part).toBe(1);
    }
    const again = await run({ world, args, prompt: 'three', script: ['third'] });
    expect(count(messagesOf(again), 'TULIP')).toBe(1);
  });

  it('shows instructions also where a prompt quotes how our sessions begin', async () => {
    const project = makeTempProject({ files: FILES });
    const quote = 'What is "<system-reminder>\nPrimary working directory: /x"?';
    writeForeign(project.home, project.directory, quote);
    const world = { project, remove: () => project.remove() };
    const resumed = await run({ world, args: ['--resume', ID], prompt: 'go', script: ['done'] });
    expect(count(messagesOf(resumed), 'TULIP')).toBe(1);
  });
});

describe('a transcript', () => {
  it('holds no message of a user that nobody typed', async () => {
    const first = await run({ files: FILES, prompt: 'hello', script: ['hi'] });
    const prompts = transcript(first).lines.filter(({ type }) => type === 'user');
    expect(prompts.map(({ message }) => message)).toEqual([{ role: 'user', content: 'hello' }]);
  });
});

function messagesOf({ requests }: Pick<ScenarioRun, 'requests'>): string {
  const body = requests[0]?.body as { readonly messages?: unknown } | undefined;
  return JSON.stringify(body?.messages);
}
