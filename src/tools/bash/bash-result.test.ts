import { describe, expect, it } from 'vitest';
import { presentBash } from './bash-result.js';

describe('a Bash result that a hook or host provided', () => {
  it.each([
    [{ stdout: 'out\n\n' }, 'out'],
    [{ stdout: 'out', stderr: 'err\n', interrupted: false }, 'out\nerr'],
    [{ stdout: '', stderr: '' }, '(no output)'],
    [{ stdout: 'x', interrupted: true }, 'The command was interrupted.\nx'],
    [{ stdout: '', backgroundTaskId: 'b1' }, 'Running in the background as b1.'],
    [{ stdout: '', returnCodeInterpretation: 'no matches' }, '(no matches)'],
  ])('is shown like one of its own: %j', (structured, text) => {
    expect(presentBash(structured)).toBe(text);
  });

  it.each([['text'], [null], [[]], [{}], [{ stdout: 5 }], [{ stdout: '', stderr: null }]])(
    'is none of its own: %j',
    (structured) => {
      expect(presentBash(structured)).toBeUndefined();
    },
  );
});
