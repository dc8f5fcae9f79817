import { afterAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../test/support/gate-rig.js';
import { makeTempProject } from '../testing/temp-project.js';
import { createCallbackAsker } from './callback-asker.js';
import type { CallbackRequest } from './callbacks.js';
import type { AskAnswer, Asker, AskRequest } from './types.js';

const project = makeTempProject();
afterAll(() => project.remove());

type Callback = (request: CallbackRequest) => unknown;

function decides(decision: unknown): unknown {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}

function askerOf(callbacks: Readonly<Record<string, Callback>>, matcher?: string) {
  const entry = {
    ...(matcher === undefined ? {} : { matcher }),
    ids: Object.keys(callbacks),
    timeoutMs: 60_000,
    onFailure: 'block' as const,
  };
  return createCallbackAsker({
    callbacks: {
      registered: (event) => (event === 'PermissionRequest' ? [entry] : []),
      call: async (request) => await callbacks[request.id]?.(request),
    },
    monotonic: () => 0,
    facts: () => ({ sessionId: 's', transcriptPath: '/t', promptId: undefined }),
    emit: () => undefined,
  });
}

/** Runs one call that nothing allows, and says who was asked and what came of it. */
async function ask(
  callbacks: Readonly<Record<string, Callback>>,
  { person, matcher }: { person?: Asker; matcher?: string } = {},
) {
  let request: AskRequest | undefined;
  const around = askerOf(callbacks, matcher);
  const gate = gateRig({
    cwd: project.directory,
    home: project.home,
    asker: (given) => {
      request = given;
      const wrapped = around(given.call, person);
      return wrapped === undefined ? Promise.reject(new Error('nobody')) : wrapped(given);
    },
  });
  const verdict = await gate.call('Bash', { command: 'npm test' });
  return { verdict, request };
}

const never: Asker = ({ call }) =>
  new Promise((_resolve, reject) => {
    call.signal.addEventListener('abort', () => reject(new Error('withdrawn')));
  });

describe('PermissionRequest callbacks', () => {
  it('decide beside a person; the first decision counts and the other question is withdrawn', async () => {
    let withdrawn = false;
    const person: Asker = (request) => {
      request.call.signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return never(request);
    };
    const { verdict } = await ask({ h: () => decides({ behavior: 'allow' }) }, { person });
    expect(verdict.kind).toBe('allowed');
    expect(withdrawn).toBe(true);
  });

  it('lose against a person who is quicker', async () => {
    let withdrawn = false;
    const slow: Callback = ({ signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
        });
      });
    const person = async (): Promise<AskAnswer> => ({ behavior: 'deny', message: 'PERSON' });
    const { verdict } = await ask({ slow }, { person });
    expect(verdict).toMatchObject({ kind: 'refused', message: 'PERSON' });
    expect(withdrawn).toBe(true);
  });

  it('leave it to the person when they have no opinion', async () => {
    const person = async (): Promise<AskAnswer> => ({ behavior: 'allow' });
    expect((await ask({ h: () => ({}) }, { person })).verdict.kind).toBe('allowed');
    const { verdict } = await ask({ h: () => ({}) });
    expect(verdict).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('gave no decision'),
    });
  });

  it('hear what was suggested', async () => {
    const seen: unknown[] = [];
    await ask({
      h: ({ input }) => {
        seen.push(input);
        return decides({ behavior: 'deny', message: 'NO' });
      },
    });
    expect(seen).toMatchObject([
      {
        hook_event_name: 'PermissionRequest',
        tool_name: 'Bash',
        permission_suggestions: [
          { type: 'addRules', behavior: 'allow', destination: 'localSettings' },
        ],
      },
    ]);
  });

  it('a no among several counts, and so does a failure', async () => {
    const yes = (): unknown => decides({ behavior: 'allow' });
    const no = (): unknown => decides({ behavior: 'deny', message: 'NO' });
    expect((await ask({ yes, no })).verdict).toMatchObject({ kind: 'refused', message: 'NO' });
    for (const broken of [
      () => Promise.reject(new Error('BOOM')),
      () => decides({ behavior: 'maybe' }),
      () => decides('allow'),
      () => decides({ behavior: 'allow', updatedInput: 'x' }),
      () => decides({ behavior: 'allow', updatedPermissions: [{ type: 'what' }] }),
      () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse' } }),
    ]) {
      expect((await ask({ yes, broken })).verdict).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('gave no verdict'),
      });
    }
  });

  it('are left alone where their matcher names another tool', async () => {
    const around = askerOf({ h: () => decides({ behavior: 'allow' }) }, 'Write');
    const { request } = await ask({});
    if (request === undefined) throw new Error('nobody was asked');
    expect(around(request.call, undefined)).toBeUndefined();
    expect(around(request.call, never)).toBe(never);
  });
});
