import { describe, expect, it } from 'vitest';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { MOST_ENDED, Roster } from './roster.js';
import type { AgentRun } from './run.js';

function task(id: string, path: string): AgentRun {
  const ref: AgentRef = { ...MAIN_AGENT, id, path, depth: 1, type: 'x' };
  return { id, ref } as unknown as AgentRun;
}

describe('the roster', () => {
  it('numbers the agents of each parent by their type', () => {
    const roster = new Roster();
    expect(roster.pathFor(MAIN_AGENT, 'a')).toBe('main/a#1');
    expect(roster.pathFor(MAIN_AGENT, 'b')).toBe('main/b#1');
    expect(roster.pathFor(MAIN_AGENT, 'a')).toBe('main/a#2');
    const below = { ...MAIN_AGENT, id: 'c', path: 'main/a#2' };
    expect(roster.pathFor(below, 'a')).toBe('main/a#2/a#1');
  });

  it('gives no number twice, whoever has ended, gone on or been there before', () => {
    const roster = new Roster();
    const parent = task('p', roster.pathFor(MAIN_AGENT, 'a'));
    roster.add(parent, undefined);
    expect(roster.pathFor(parent.ref, 'b')).toBe('main/a#1/b#1');
    roster.ended(parent);
    roster.add(parent, undefined);
    expect(roster.pathFor(parent.ref, 'b')).toBe('main/a#1/b#2');
    roster.reserve(['main/a#7/b#4', 'main', 'main/odd']);
    expect(roster.pathFor(MAIN_AGENT, 'a')).toBe('main/a#8');
    expect(roster.pathFor({ ...MAIN_AGENT, path: 'main/a#7' }, 'b')).toBe('main/a#7/b#5');
    roster.add(task('old', 'main/c#3'), undefined);
    expect(roster.pathFor(MAIN_AGENT, 'c')).toBe('main/c#4');
    roster.add(task('deep', 'main/d#4/e#2'), undefined);
    expect(roster.pathFor(MAIN_AGENT, 'd')).toBe('main/d#5');
    expect(roster.pathFor({ ...MAIN_AGENT, path: 'main/d#4' }, 'e')).toBe('main/d#4/e#3');
    roster.add(task('lower', 'main/d#4/e#1'), undefined);
    expect(roster.pathFor({ ...MAIN_AGENT, path: 'main/d#4' }, 'e')).toBe('main/d#4/e#4');
  });

  it('lists those that run as they are now', () => {
    const roster = new Roster();
    const [one, two] = [task('a1', 'main/x#1'), task('a2', 'main/x#2')];
    expect(roster.running()).toEqual([]);
    roster.add(one, undefined);
    expect(roster.running()).toEqual([one]);
    roster.add(two, undefined);
    expect(roster.running()).toEqual([one, two]);
    roster.ended(one);
    expect(roster.running()).toEqual([two]);
  });

  it('finds by id and by name, of which the newest has it', () => {
    const roster = new Roster();
    const [one, two] = [task('a1', 'main/x#1'), task('a2', 'main/x#2')];
    roster.add(one, 'it');
    roster.add(two, 'it');
    expect(roster.find('a1')).toBe(one);
    expect(roster.find('it')).toBe(two);
    expect(roster.below(MAIN_AGENT)).toEqual([one, two]);
    expect(roster.below(one.ref)).toEqual([]);
  });

  it('remembers only the last of those that have ended', () => {
    const roster = new Roster();
    for (let number = 0; number < MOST_ENDED + 50; number++) {
      const one = task(`a${number}`, `main/x#${number}`);
      roster.add(one, `name ${number}`);
      roster.ended(one);
    }
    expect(roster.running()).toEqual([]);
    expect(roster.list()).toHaveLength(MOST_ENDED);
    expect(roster.find('name 0')).toBeUndefined();
    expect(roster.find(`name ${MOST_ENDED + 49}`)).toBeDefined();
  });
});
