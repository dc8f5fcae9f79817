import { describe, expect, it } from 'vitest';
import { readShell } from './read.js';

const opaqueIn = async (code: string) =>
  (await readShell(code, { cwd: '/w', home: '/home/me' })).opaque;
const times = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

describe('the places that a command line may be in', () => {
  it('are unknown once they are too many', async () => {
    const { commands } = await readShell(
      times(400, (at) => `cd d${at}`),
      {
        cwd: '/w',
        home: '/home/me',
      },
    );
    expect(commands[2]?.directories).toHaveLength(4);
    expect(commands.at(-1)?.directories).toBeUndefined();
  });
});

describe('links that a command line makes itself', () => {
  it('are followed in time that grows with their number alone', async () => {
    const links = times(2_000, (at) => `ln -s a b${at}`);
    expect(await opaqueIn(links)).toBeUndefined();
    expect(await opaqueIn(`${links}\ncat b1999/x`)).toBeDefined();
  });

  it('are not followed where there may be too many', async () => {
    const moves = times(6, (at) => `cd d${at}`);
    expect(await opaqueIn(moves)).toBeUndefined();
    expect(await opaqueIn(`${moves}\n${times(1000, (at) => `ln -s a b${at}`)}`)).toBeDefined();
    expect(await opaqueIn(`ln -s a ${'b/'.repeat(10_000)}c`)).toBeDefined();
  });

  it('are followed where they are moved to, in whichever order', async () => {
    expect(await opaqueIn('ln -s a b; mv b c; mv c d; cat e/x')).toBeUndefined();
    expect(await opaqueIn('ln -s a b; mv b c; mv c d; cat d/x')).toBeDefined();
    expect(await opaqueIn('mv b c')).toBeUndefined();
  });
});
