import { describe, expect, it } from 'vitest';
import { isRunByAgent, type ProcessFacts } from './run-by-agent.js';

const own = process.pid;
const SHELL = 900_001;
const SESSION = 900_002;
const WATCHDOG = 900_003;
const init: [number, ProcessFacts] = [
  1,
  { parent: 0, group: 1, startTime: 1, hasTerminal: false, command: '/sbin/init ' },
];
const session: [number, ProcessFacts][] = [
  [
    SESSION,
    {
      parent: 1,
      group: SESSION,
      startTime: 100,
      hasTerminal: true,
      command: 'node app.js ',
      env: { HOME: '/home/u' },
    },
  ],
  [
    WATCHDOG,
    {
      parent: SESSION,
      group: WATCHDOG,
      startTime: 101,
      command: '/bin/sh -c x portcullis-watchdog ',
    },
  ],
];

function facts(over: Partial<ProcessFacts>): ProcessFacts {
  return {
    parent: SHELL,
    group: SHELL,
    startTime: 200,
    hasTerminal: false,
    command: 'portcullis',
    ...over,
  };
}

const run = (...rows: readonly (readonly [number, ProcessFacts])[]): boolean =>
  isRunByAgent({ HOME: '/home/u' }, new Map([init, ...rows]));

describe('an agent runs a command', () => {
  it.each(['PORTCULLIS', 'CLAUDECODE', 'PORTCULLIS_CHILD_OF'])('by %s', (name) => {
    expect(isRunByAgent({ [name]: '1' }, new Map())).toBe(true);
  });

  it('when a process above it has the variables that were taken from it', () => {
    const shell = facts({ parent: 1, env: { CLAUDECODE: '1' }, command: 'sh' });
    expect(run([own, facts({})], [SHELL, shell])).toBe(true);
  });

  it('when a session is above it, whatever is in the environment', () => {
    expect(run(...session, [own, facts({ parent: SESSION, hasTerminal: true })])).toBe(true);
  });

  it('when the session is the first process of a container', () => {
    const table = new Map([
      [1, { ...init[1], command: 'node /app/portcullis.js ' }],
      [WATCHDOG, facts({ parent: 1, command: '/bin/sh -c x portcullis-watchdog ' })],
      [own, facts({ parent: 1 })],
    ] as const);
    expect(isRunByAgent({}, table)).toBe(true);
  });

  it('when another user in between hides his environment', () => {
    const shell = facts({ parent: SESSION, command: 'su nobody' });
    expect(run(...session, [own, facts({})], [SHELL, shell])).toBe(true);
  });

  it('when it left its parents and has no terminal while an older session runs', () => {
    expect(run(...session, [own, facts({ parent: 1 })])).toBe(true);
    const shell = facts({ parent: 1, startTime: 150, command: 'sh -c portcullis' });
    expect(run(...session, [own, facts({})], [SHELL, shell])).toBe(true);
    const manager = facts({
      parent: 1,
      startTime: 5,
      command: '/usr/lib/systemd/systemd --user ',
    });
    expect(run(...session, [own, facts({})], [SHELL, manager])).toBe(true);
  });
});

describe('a person runs a command', () => {
  it('by a program that has a session in it and starts the command itself', () => {
    const row = facts({ parent: SESSION, group: SESSION, hasTerminal: true });
    expect(run(...session, [own, row])).toBe(false);
  });

  it('in a terminal beside a session', () => {
    const shell = facts({ parent: 1, startTime: 150, hasTerminal: true, command: 'bash' });
    expect(run(...session, [own, facts({ hasTerminal: true })], [SHELL, shell])).toBe(false);
  });

  it('without a terminal below a service that is older than every session', () => {
    const runner = facts({ parent: 1, startTime: 20, command: 'ci-runner' });
    expect(run(...session, [own, facts({})], [SHELL, runner])).toBe(false);
  });

  it('below init that has adopted the watchdog of a session that died', () => {
    const watchdog = facts({ parent: 1, command: '/bin/sh -c x portcullis-watchdog ' });
    expect(run([own, facts({ parent: 1 })], [WATCHDOG, watchdog])).toBe(false);
  });

  it('without a terminal where no session of this user runs', () => {
    expect(run([own, facts({ parent: 1 })])).toBe(false);
    const table = new Map([init, ...session, [own, facts({ parent: 1 })] as const]);
    expect(isRunByAgent({ HOME: '/home/other' }, table)).toBe(false);
  });
});
