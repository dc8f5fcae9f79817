import { describe, expect, it } from 'vitest';
import type { ProjectTrust } from '../app.js';
import type { PendingServer } from '../project/mcp/mcp.js';
import {
  confirmIncludes,
  confirmModelSwitch,
  confirmServers,
  confirmTrust,
} from './opening-questions.js';
import type { ConfirmQuestion } from './questions.js';

/** Clients that give these answers, one after the other. */
function clients(...answers: (string | undefined)[]) {
  const asked: Omit<ConfirmQuestion, 'kind'>[] = [];
  const told: string[] = [];
  return {
    asked,
    told,
    notify: (text: string): void => void told.push(text),
    async confirm(question: Omit<ConfirmQuestion, 'kind'>) {
      asked.push(question);
      return answers.shift();
    },
  };
}

function trustOf(names: readonly string[]) {
  const accepted: unknown[] = [];
  const declarations = names.map((name) => ({ kind: 'hook', name, text: 'true', file: '/p/f' }));
  const pending = declarations.map((declaration) => ({ declaration, was: 'new' }));
  const trust = {
    check: async () => ({ declarations, pending, verdict: 'never', root: '/p\u001b[2J' }),
    accept: async (seen: unknown) => {
      accepted.push(seen);
      return { stored: true };
    },
  } as unknown as ProjectTrust;
  return { trust, accepted };
}

describe('trust', () => {
  it('is not asked about where nothing waits for it', async () => {
    const person = clients();
    expect(await confirmTrust(person, trustOf([]).trust)).toBe(true);
    expect(person.asked).toEqual([]);
  });

  it.each([
    ['y', true, 1],
    ['w', true, 0],
    ['n', false, 0],
    [undefined, false, 0],
  ] as const)('answered with %s', async (answer, starts, accepted) => {
    const person = clients(answer);
    const folder = trustOf(['Stop']);
    expect(await confirmTrust(person, folder.trust)).toBe(starts);
    expect(folder.accepted).toHaveLength(accepted);
    expect(person.asked[0]?.details.join('\n')).toContain('hook: Stop');
    expect(JSON.stringify(person.asked)).not.toContain('\\u001b[2J"');
    expect(person.asked[0]?.details[0]).not.toContain('\u001b');
    expect(person.asked[0]?.options.at(-1)?.key).toBe('n');
  });
});

describe('servers of the project', () => {
  it('keeps a yes and a no, and nothing else', async () => {
    const done: string[] = [];
    const server = (name: string): PendingServer => ({
      name,
      reason: 'it is new',
      details: ['runs sh'],
      approve: async () => void done.push(`approved ${name}`),
      decline: async () => void done.push(`declined ${name}`),
    });
    const person = clients('y', 'n', 'l', undefined);
    await confirmServers(person, ['a', 'b', 'c', 'd'].map(server));
    expect(done).toEqual(['approved a', 'declined b']);
    expect(person.asked).toHaveLength(4);
    expect(person.asked[0]?.details).toContain('  runs sh');
  });
});

describe('other questions of the session', () => {
  it.each([
    ['y', 'approve'],
    ['n', 'decline'],
    ['l', 'later'],
    [undefined, 'later'],
  ] as const)('an include answered with %s', async (answer, kept) => {
    const person = clients(answer);
    const pending = [{ realPath: '/etc/hostname', path: '/etc/hostname', parent: '/p/CLAUDE.md' }];
    expect(await confirmIncludes(person)(pending)).toBe(kept);
    expect(person.asked[0]?.details.join('\n')).toContain('/etc/hostname  (named in /p/CLAUDE.md)');
  });

  it('a change of the model needs a clear yes', async () => {
    expect(await confirmModelSwitch(clients('y'))('Really?')).toBe(true);
    expect(await confirmModelSwitch(clients('n'))('Really?')).toBe(false);
    expect(await confirmModelSwitch(clients(undefined))('Really?')).toBe(false);
  });
});
