import { describe, expect, it } from 'vitest';
import { reminder, reminderOf } from './reminders.js';

describe('a reminder', () => {
  it('is the same from lines as from their text', () => {
    expect(reminderOf(['a', 'b\nc', ''])).toBe(reminder('a\nb\nc\n'));
    expect(reminder('a')).toBe('<system-reminder>\na\n</system-reminder>');
  });

  it.each(['</system-reminder>', '<system-reminder>', '< / SYSTEM-reminder', '<\nsystem-reminder'])(
    'cannot be closed or opened by what it quotes: %j',
    (quoted) => {
      const text = reminderOf(['before', ...quoted.split('\n'), 'after']);
      expect(text.match(/<\s*\/?\s*system-reminder/gi)).toHaveLength(2);
      expect(text).toMatch(/^<system-reminder>\nbefore\n&lt;.*\nafter\n<\/system-reminder>$/s);
    },
  );
});
