import { describe, expect, it } from 'vitest';
import { readSessionOptions } from './session-options.js';

const ID = '11111111-1111-4111-8111-111111111111';

function fields(raw: Readonly<Record<string, unknown>>) {
  const read = readSessionOptions(raw);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

function problem(raw: Readonly<Record<string, unknown>>): string {
  const read = readSessionOptions(raw);
  return read.ok ? 'accepted' : read.error;
}

describe('the options of a session', () => {
  it('become its configuration; null and undefined were not given', () => {
    expect(fields({ model: null, maxTurns: undefined })).toEqual({
      bypassArmed: false,
      start: { kind: 'new', id: undefined },
      fork: false,
      persist: true,
      trust: false,
    });
    expect(
      fields({
        fallbackModel: 'a, b,',
        permissionMode: 'manual',
        plugins: [{ type: 'local', path: 'p', skipMcpDiscovery: true }],
        additionalDirectories: ['d'],
        persistSession: false,
      }),
    ).toMatchObject({
      fallbackModels: ['a', 'b'],
      permissionMode: 'default',
      plugins: [{ directory: 'p', withoutServers: true }],
      addDirs: ['d'],
      persist: false,
    });
    expect(fields({ dangerouslySkipPermissions: true })).toMatchObject({
      permissionMode: 'bypassPermissions',
      bypassArmed: true,
    });
    expect(fields({ resume: 'x', sessionId: ID, forkSession: true })).toMatchObject({
      start: { kind: 'resume', id: 'x', newId: ID },
      fork: true,
    });
    expect(fields({ continue: true }).start).toEqual({ kind: 'continue', newId: undefined });
  });

  it.each([
    [{ maxTurns: 0 }, 'maxTurns: 0 is not a whole number of at least 1'],
    [{ maxTurns: 1.5 }, 'maxTurns: 1.5 is not a whole number of at least 1'],
    [{ maxTurns: '0x10' }, 'maxTurns: "0x10" is not a whole number of at least 1'],
    [{ maxThinkingTokens: Number.NaN }, 'NaN is not a whole number of at least 0'],
    [{ maxBudgetUsd: 0 }, 'maxBudgetUsd: 0 is not an amount above 0'],
    [{ maxBudgetUsd: Number.POSITIVE_INFINITY }, 'Infinity is not an amount above 0'],
    [{ budget: { coins: 2 } }, 'budget: "coins" is unknown; it knows only turns'],
    [{ budget: { usd: -1 } }, 'budget: -1 is not an amount of at least 0'],
    [{ sessionId: 'x' }, 'sessionId: "x" is not a UUID'],
    [{ permissionMode: 'yolo' }, 'permissionMode: "yolo" is an unknown permission mode'],
    [{ permissionMode: 'auto' }, 'permissionMode: "auto" needs a classifier'],
    [{ permissionPromptToolName: 'ask' }, '"ask" is not the name of an MCP tool'],
    [{ settingSources: ['user', 'projekt'] }, '"projekt" is not one of user, project, local'],
    [{ settingSources: 'user' }, '"user" is not a list of user, project, local'],
    [{ plugins: [{ type: 'npm', path: 'x' }] }, 'plugins: "npm" is no kind of plugin'],
    [{ plugins: [{ type: 'local' }] }, 'plugins has an entry that is not { type'],
    [{ plugins: [3] }, 'plugins: 3 has an entry that is not { type'],
    [{ plugins: [{ type: 'local', path: 'x', skipMcpDiscovery: 1 }] }, 'skipMcpDiscovery'],
    [{ agents: [] }, 'agents is not an object of definitions'],
    [{ jsonSchema: 'x' }, 'jsonSchema: "x" is not a JSON object'],
    [{ skills: 'all' }, 'skills: "all" is not a list of names'],
    [{ systemPrompt: [1] }, 'systemPrompt: 1'],
    [{ continue: true, resume: 'x' }, 'continue and resume exclude each other'],
    [{ resume: '' }, 'resume: "" is not the id of a session'],
    [{ forkSession: true }, 'forkSession needs continue or resume'],
    [{ resume: 'x', sessionId: ID }, 'sessionId with continue or resume needs forkSession'],
    [{ resumeSessionAt: 'x' }, 'resumeSessionAt needs resume with an id'],
    [{ resume: 'x', resumeDropsTurn: 'y' }, 'resumeDropsTurn needs resumeSessionAt'],
    [{ dangerouslySkipPermissions: true, permissionMode: 'plan' }, 'contradicts permissionMode'],
    [{ maxTurn: 3 }, 'maxTurn is not an option of a session'],
  ])('%j: %s', (raw, words) => {
    expect(problem(raw)).toContain(words);
  });

  it('are named as the caller names them', () => {
    const read = readSessionOptions({ forkSession: true }, (option) => `--${option}`);
    expect(read).toEqual({ ok: false, error: '--forkSession needs --continue or --resume' });
  });
});
