import { describe, expect, it } from 'vitest';
import { answerFromPaste } from './sign-in-agents.js';

function codeIn(pasted: string): string | null {
  const answer = answerFromPaste(pasted, 'ours');
  if (!answer.ok) throw new Error(answer.error);
  return answer.value.get('code');
}

describe('what a person pastes', () => {
  it('is an address, a query or a code', () => {
    expect(codeIn(' http://localhost:1/callback?code=a%2Fb&state=ours \n')).toBe('a/b');
    expect(codeIn('?code=x&state=ours')).toBe('x');
    expect(codeIn('code=x&state=ours')).toBe('x');
    expect(codeIn('/callback?state=ours&code=x')).toBe('x');
    expect(codeIn('4/0Ab-c_d')).toBe('4/0Ab-c_d');
  });

  it('keeps the name of the sender', () => {
    const answer = answerFromPaste('https://h/?code=x&state=ours&iss=https%3A%2F%2Fas', 'ours');
    expect(answer.ok && answer.value.get('iss')).toBe('https://as');
  });

  it.each([
    '',
    '   ',
    'http://localhost/callback?code=x&state=theirs',
    'http://localhost/callback?code=x',
    'code=x',
    'error=access_denied&state=theirs',
    'a code',
    'http://[bad',
    'x'.repeat(20_000),
  ])('is not taken when it is %j', (pasted) => {
    expect(answerFromPaste(pasted, 'ours').ok).toBe(false);
  });
});
