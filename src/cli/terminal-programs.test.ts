import { describe, expect, it } from 'vitest';
import { runStatusCommand } from './terminal-programs.js';

const run = (command: string) =>
  runStatusCommand(command, { session_id: 's1' }, { cwd: '/', env: { PATH: process.env.PATH } });

describe('the status line command', () => {
  it('reads the facts and prints the line', async () => {
    expect(await run('cat')).toBe('{"session_id":"s1"}');
    expect(await run('true')).toBeUndefined();
  });

  it('rejects with the reason where it fails or takes too long', async () => {
    await expect(run('exit 3')).rejects.toThrow('exit code 3');
    await expect(run('sleep 30')).rejects.toThrow('it took longer than 2 s');
  });
});
