import { describe, expect, it } from 'vitest';
import { capture, command, hooksOf, PROJECT } from '../../../test/support/dispatch-rig.js';
import { hookListText } from './hooks-report.js';

const SET = capture(hooksOf('PreToolUse', [command('./guard.sh', { timeout: 5 })]));

describe('/hooks', () => {
  it('shows the hooks in force and how long they took, the slowest first', async () => {
    const stat = { runs: 4, failures: 1, totalMs: 10, maxMs: 4, lastMs: 1.26 };
    const stats = [
      { ...stat, id: 'a', label: 'quick', event: 'PreToolUse' as const },
      { ...stat, id: 'b', label: 'slow', event: 'Stop' as const, totalMs: 4_000, maxMs: 1_234.5 },
    ];
    const text = await hookListText({ set: SET, stats }, PROJECT);
    expect(text).toContain('command "./guard.sh"  .claude/settings.json:1\n');
    expect(text).toContain(
      'limit 5 s · exit code 1 blocks nothing, with a warning; a crash by signal or a timeout refuses',
    );
    const times = text.slice(text.indexOf('Times of this session'));
    expect(times.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
      ['Times of this session'],
      ['runs', 'failed', 'mean', 'longest', 'last', 'together', 'hook'],
      ['4', '1', '1000 ms', '1235 ms', '1.3 ms', '4000 ms', 'Stop: slow'],
      ['4', '1', '2.5 ms', '4 ms', '1.3 ms', '10 ms', 'PreToolUse: quick'],
      [''],
    ]);
  });

  it('says so where there is nothing', async () => {
    const text = await hookListText({ set: capture(hooksOf('Stop', [])), stats: [] }, PROJECT);
    expect(text).toBe('No hook is in force.\n\nTimes of this session\nNo hook has run yet.\n');
  });
});
