import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { refuseOtherTurns } from '../open.js';
import type { LoadedSession } from './store.js';

const lines = [
  ['u1', 'user', 'one'],
  ['a1', 'assistant', 'first'],
  ['u2', 'user', 'two'],
  ['a2', 'assistant', 'second'],
  ['u3', 'user', 'three'],
] as const;

const loaded: LoadedSession = {
  sessionId: 's',
  entries: lines.map(
    ([uuid, type, text], index) =>
      ({
        type,
        uuid,
        parentUuid: lines[index - 1]?.[0] ?? null,
        sessionId: 's',
        timestamp: '2026-01-01T00:00:00.000Z',
        message: { role: type, content: [{ type: 'text', text }] },
      }) as unknown as TranscriptEntry,
  ),
};

const check = (resumeAt: string, turn: string) => () =>
  refuseOtherTurns(loaded, { resumeAt, turn });

describe('going back by one turn that was named', () => {
  it('is fine where nothing else is given up', () => {
    expect(check('a2', 'u3')).not.toThrow();
    expect(check('u3', 'whatever')).not.toThrow();
  });

  it.each([
    ['a1', 'u2'],
    ['a1', 'u3'],
    ['a2', 'u2'],
    ['u2', 'u2'],
    ['nowhere', 'u3'],
  ])('is refused at %s for %s', (at, turn) => {
    expect(check(at, turn)).toThrow('Resume rejected by --resume-drops-turn:');
  });
});
