import { describe, expect, it } from 'vitest';
import { type BashDeps, bashLimits, bashTool } from './bash.js';

const unused = (): never => {
  throw new Error('not used here');
};

function tool(more: Partial<BashDeps> = {}) {
  return bashTool({
    processes: { run: unused },
    shells: {
      start: unused,
      get: unused,
      list: unused,
      read: unused,
      kill: unused,
      killAll: unused,
      endOf: unused,
      onFinished: unused,
    },
    fs: { stat: unused, realPath: unused, writeAtomic: unused },
    environment: unused,
    ...more,
  });
}

describe('the Bash tool', () => {
  it('is judged by its command', () => {
    const command = `echo ${'x'.repeat(100)}`;
    const workspace = { cwd: '/', roots: ['/'], setCwd: unused };
    expect(tool().subject({ command }, workspace)).toEqual({
      paths: [],
      command,
      summary: command.slice(0, 80),
    });
  });

  it('leaves it to the gate whether it runs beside others, and never does in the background', () => {
    expect(tool().concurrencySafe({ command: 'ls' })).toBe('if-read-only');
    expect(tool().concurrencySafe({ command: 'ls', run_in_background: true })).toBe(false);
  });

  it('has a description that stays short, and refuses unknown input', async () => {
    expect(tool().definition.description.length).toBeLessThanOrEqual(700);
    expect(await tool().validate({ command: 'ls' })).toEqual([]);
    expect(await tool().validate({ command: 'ls', nope: 1 })).toHaveLength(1);
  });
});

describe('bashLimits', () => {
  it('takes sensible values from the environment and passes over the others', () => {
    const standard = { defaultTimeoutMs: 120_000, maxTimeoutMs: 600_000, inlineCharacters: 30_000 };
    expect(bashLimits({})).toEqual(standard);
    expect(
      bashLimits({
        BASH_DEFAULT_TIMEOUT_MS: '-1',
        BASH_MAX_TIMEOUT_MS: 'soon',
        BASH_MAX_OUTPUT_LENGTH: '0',
      }),
    ).toEqual(standard);
    expect(
      bashLimits({ BASH_DEFAULT_TIMEOUT_MS: '900000', BASH_MAX_OUTPUT_LENGTH: '999999' }),
    ).toEqual({ defaultTimeoutMs: 900_000, maxTimeoutMs: 900_000, inlineCharacters: 150_000 });
  });
});
