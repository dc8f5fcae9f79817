import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childKind, listChildren, ProcessRegistry, shownCommand } from './process-registry.js';
import { startTimeOf } from './process-tree.js';

function stateDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'portcullis-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** This very process stands in for a child that runs. */
function running(label: string) {
  const startTime = startTimeOf(process.pid);
  const kind = 'other' as const;
  return { pid: process.pid, label, kind, since: 1, ...(startTime !== undefined && { startTime }) };
}

describe('the registry of children', () => {
  it('lists what runs and leaves nothing on disk when all has ended', () => {
    const state = stateDirectory();
    expect(listChildren(state)).toEqual([]);
    const registry = new ProcessRegistry(state, 'a');
    registry.add(running('server'));
    expect(listChildren(state)).toEqual([
      { ...running('server'), ownerPid: process.pid, ownerAlive: true },
    ]);
    const [file = ''] = readdirSync(path.join(state, 'children'));
    expect(statSync(path.join(state, 'children', file)).mode & 0o777).toBe(0o600);
    registry.remove(process.pid);
    registry.remove(process.pid);
    expect(readdirSync(path.join(state, 'children'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('takes a pid that was given out again for gone', () => {
    const state = stateDirectory();
    const registry = new ProcessRegistry(state, 'a');
    registry.add({ ...running('other'), startTime: '1' });
    expect(listChildren(state)).toEqual([]);
  });

  it('tells what a child is for by its label, and keeps secrets out of its command', () => {
    const kinds = ['mcp files', 'hook PreToolUse: x', 'persistent hook: x', 'Bash: ls', 'rg'];
    expect(kinds.map(childKind)).toEqual(['mcp', 'hook', 'hook', 'shell', 'other']);
    expect(shownCommand({ command: 'x', args: ['--token', 'abcdefgh'] })).toBe(
      'x --token [redacted]',
    );
  });

  it('passes over files it cannot read, and removes those of owners that are gone', () => {
    const state = stateDirectory();
    const directory = path.join(state, 'children');
    mkdirSync(directory);
    const entries = {
      'torn.json': '{"owner":{"pid":',
      'odd.json': '{"owner":{"pid":"x"},"children":[]}',
      'evil.json': '{"owner":{"pid":2147483646},"children":[{"pid":-1,"label":"x","since":1},7]}',
      'dead.json':
        '{"owner":{"pid":2147483646},"children":[{"pid":2147483645,"label":"x","since":1}]}',
    };
    for (const [name, text] of Object.entries(entries)) {
      writeFileSync(path.join(directory, name), text);
    }
    expect(listChildren(state)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });
});
