import { describe, expect, it } from 'vitest';
import { secretRefusal } from './sign-in.js';
import type { StoredAuth } from './token-store.js';
import type { RemoteDeclaration } from './types.js';

const at = (origin: string) => ({ issuer: origin, authorizationServer: origin });
const entry = (oauth: object = {}): RemoteDeclaration => ({
  name: 's',
  entry: {
    type: 'http',
    url: 'https://mcp.example/mcp',
    headers: {},
    oauth: { clientId: 'c', clientSecret: 'SECRET', ...oauth },
  },
});
const kept = (issuer: string) => ({ issuer }) as StoredAuth;

describe('the secret of a client', () => {
  it('goes nowhere by itself but to the server that it was configured for', () => {
    const machine = { stored: undefined, byPerson: false };
    expect(secretRefusal(entry(), at('https://mcp.example'), machine)).toBeUndefined();
    for (const origin of [
      'https://evil.example',
      'http://mcp.example',
      'https://mcp.example:8',
      '',
    ]) {
      const refusal = secretRefusal(entry(), at(origin), machine);
      expect(refusal).toContain('authServerMetadataUrl');
      expect(refusal).not.toContain('SECRET');
    }
  });

  it('goes where the entry says', () => {
    const named = entry({ authServerMetadataUrl: 'https://as.example/.well-known/x' });
    const machine = { stored: kept('https://old.example'), byPerson: false };
    expect(secretRefusal(named, at('https://as.example'), machine)).toBeUndefined();
  });

  it.each([true, false])('stays with the one that has it (by a person: %s)', (byPerson) => {
    const stored = kept('https://as.example');
    expect(secretRefusal(entry(), at('https://as.example'), { stored, byPerson })).toBeUndefined();
    expect(secretRefusal(entry(), at('https://evil.example'), { stored, byPerson })).toContain(
      'portcullis mcp logout s',
    );
  });

  it('goes with a person who sees where, the first time', () => {
    const person = { stored: undefined, byPerson: true };
    expect(secretRefusal(entry(), at('https://as.example'), person)).toBeUndefined();
  });
});
