import { describe, expect, it } from 'vitest';
import { entryLines } from './entry-text.js';

describe('an entry, for a person', () => {
  it('shows values of variables that make the command another one, and of no others', () => {
    const env = { PATH: '/evil\u202ebin', API_TOKEN: 'SECRET', UV_PUBLISH_TOKEN: 'SECRET', A: 'b' };
    const lines = entryLines({ command: 'git', env }).join('\n');
    expect(lines).toContain('PATH="/evil\\u202ebin", API_TOKEN, UV_PUBLISH_TOKEN, A');
    expect(lines).not.toContain('SECRET');
  });
});
