import { describe, expect, it } from 'vitest';
import { skillOf } from '../../../test/skills/invoke-rig.js';
import { renderSkill } from './render.js';
import { fillShell, SHELL_IS_OFF, type ShellAnswer, shellPolicyOf } from './shell.js';

const parts = (text: string) => {
  const rendered = renderSkill(text, { args: '', names: [], variables: new Map() });
  if (!rendered.ok) throw new Error(rendered.error);
  return rendered.value;
};
const ran = (text: string): Promise<ShellAnswer> =>
  Promise.resolve({ kind: 'ran', text, isError: false });
const never = (): Promise<ShellAnswer> => Promise.reject(new Error('was run'));

describe('what becomes of the commands of a skill', () => {
  it.each([
    ['mine', {}, { isOff: false }, 'run'],
    ['not trusted', { trusted: false }, { isOff: false }, 'refuse'],
    ['of a server', { origin: 'mcp', source: 'mcp' }, { isOff: false }, 'text'],
    ['of a server, off', { origin: 'mcp', source: 'mcp' }, { isOff: true }, 'text'],
    ['off', {}, { isOff: true }, 'notice'],
    ['off and not trusted', { trusted: false }, { isOff: true }, 'notice'],
    ['off, of an administrator', { source: 'managed' }, { isOff: true }, 'run'],
    ['off, our own', { source: 'builtin', origin: 'bundled' }, { isOff: true }, 'run'],
    [
      'for another shell',
      { head: { keys: ['shell'], shell: 'powershell' } },
      { isOff: false },
      'refuse',
    ],
  ] as const)('%s', (_name, more, options, kind) => {
    expect(shellPolicyOf(skillOf('s', '', {}, more), options).kind).toBe(kind);
  });

  it('puts outputs in their places and does not look at them again', async () => {
    const run = (part: { readonly command: string }) => ran(`<${part.command}> !\`id\` $ARGUMENTS`);
    expect(await fillShell(parts('a !`x` b !`y`\n'), { kind: 'run' }, run)).toEqual({
      ok: true,
      value: 'a <x> !`id` $ARGUMENTS b <y> !`id` $ARGUMENTS\n',
    });
  });

  it('leaves text, or a notice, without running anything', async () => {
    expect(await fillShell(parts('a !`x` b'), { kind: 'text' }, never)).toEqual({
      ok: true,
      value: 'a !`x` b',
    });
    expect(await fillShell(parts('a !`x` b'), { kind: 'notice' }, never)).toEqual({
      ok: true,
      value: `a ${SHELL_IS_OFF} b`,
    });
  });

  it('is refused as a whole for one command, and the others are not run', async () => {
    const seen: string[] = [];
    const run = ({ command }: { readonly command: string }): Promise<ShellAnswer> => {
      seen.push(command);
      return command === 'x' ? ran('fine') : Promise.resolve({ kind: 'refused', reason: 'no' });
    };
    expect(await fillShell(parts('!`x` !`y` !`z`'), { kind: 'run' }, run)).toEqual({
      ok: false,
      error: 'its command `y` was refused: no',
    });
    expect(seen).toEqual(['x', 'y']);
    expect(await fillShell(parts('!`x`'), { kind: 'run' }, never)).toMatchObject({
      ok: false,
      error: 'its command `x` was refused: was run',
    });
    const failed: ShellAnswer = { kind: 'ran', text: 'Exit code 2', isError: true };
    expect(await fillShell(parts('!`x`'), { kind: 'run' }, async () => failed)).toMatchObject({
      error: 'its command `x` failed: Exit code 2',
    });
    expect(
      await fillShell(parts('!`x`'), { kind: 'refuse', reason: 'trust' }, never),
    ).toMatchObject({ error: 'trust' });
    expect(await fillShell(parts('no command'), { kind: 'refuse', reason: 'x' }, never)).toEqual({
      ok: true,
      value: 'no command',
    });
  });
});
