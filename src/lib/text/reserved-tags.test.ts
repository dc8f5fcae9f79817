import { describe, expect, it } from 'vitest';
import { escapeReservedTags } from './reserved-tags.js';

describe('marks of the runtime in the words of others', () => {
  it.each([
    '<system-reminder>',
    '</system-reminder>',
    '<          system-reminder>',
    '< / SYSTEM-Reminder >',
    '<sys\u200btem-reminder>',
    '<system\u2010reminder>',
    '<system\u00adreminder>',
    '<system_reminder>',
    '<\u00a0system reminder>',
    '<\uff53ystem-reminder>',
    '\uff1csystem-reminder>',
    '<\ufe0fsystem-reminder>',
    '<task-notification>',
    '<user-prompt-submit-hook>',
    '<command-name>',
    '<local-command-stdout>',
    '</mcp-server-instructions>',
    '<<system-reminder>',
  ])('are quoted: %s', (text) => {
    const quoted = escapeReservedTags(`a ${text} b`);
    expect(quoted).toContain('&lt;');
    expect(escapeReservedTags(quoted)).toBe(quoted);
  });

  it.each([
    'a < b and b > c',
    '<system>',
    '<div class="x">',
    '</command>',
    '<task>',
    'system-reminder',
    '&lt;system-reminder>',
    '<s',
    '<',
  ])('are told from other text: %s', (text) => {
    expect(escapeReservedTags(text)).toBe(text);
  });

  it('costs no more than its length in brackets and blanks', () => {
    const text = `<${' '.repeat(200)}`.repeat(2_000);
    expect(escapeReservedTags(text)).toBe(text);
  });
});
