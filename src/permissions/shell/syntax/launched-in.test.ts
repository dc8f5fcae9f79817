import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'sub/x': 'x', 'other/x': 'x', x: 'x' } });
});
afterAll(() => project.remove());

const judge = (command: string) =>
  gateRig({
    cwd: project.directory,
    home: project.home,
    allow: ['Bash'],
    deny: ['Edit(sub/**)'],
  }).bash(command);

describe('a program that starts another one elsewhere', () => {
  it.each([
    'env -C sub touch x',
    'env -Csub rm x',
    'env -iC sub rm x',
    'env -i -u A -C sub A=1 rm x',
    'env --chdir=sub touch x',
    'env --ch sub touch x',
    'nice env -C sub rm x',
    'sudo -D sub rm x',
    'sudo --chdir=sub rm x',
    'unshare --wd=sub rm x',
    'nsenter -w sub rm x',
    'systemd-run --working-directory=sub rm x',
    "env -C sub sh -c 'rm x'",
    'env -C other env -C ../sub rm x',
    'env -C other -C sub rm x',
    'env -C other -C ../sub rm x',
    '/usr/bin/env -C sub rm x',
    'timeout 5 /usr/bin/env -C sub rm x',
    '/usr/bin/sudo -D sub rm x',
    'pnpm -C sub exec rm x',
    'pnpm --dir sub exec rm x',
    'uv --directory sub run rm x',
    'yarn --cwd sub exec rm x',
    'poetry -C sub run rm x',
    'npm --prefix sub exec rm x',
    'npm --prefix=sub exec rm x',
    'bun --cwd=sub x rm x',
    'mise -C sub exec -- rm x',
    'cargo -C sub run rm x',
    'go -C sub test -exec rm x',
  ])('does not pass rules about that place: %s', async (command) => {
    expect(await judge(command)).not.toBe('runs');
  });

  it.each(['env -C $D touch x', 'env -C s* touch x', 'env -S "-C sub rm x"'])(
    'is asked about where the place is not known: %s',
    async (command) => {
      expect(await judge(command)).not.toBe('runs');
    },
  );

  it('is asked about where there may be too many places', async () => {
    const moves = Array.from({ length: 40 }, (_, at) => `-C d${at}`).join(' ');
    expect(await judge(`env ${moves} touch x`)).toBe('asks');
  });

  it.each(['pnpm -C other exec rm x', 'npm run x -- --prefix other', 'go build -tags=C -o x'])(
    'is left alone where its directory is another: %s',
    async (command) => {
      expect(await judge(command)).toBe('runs');
    },
  );

  it.each(['env -C other touch x', 'env A=1 touch x', 'env -u C touch x', 'sudo -u me touch x'])(
    'is left alone elsewhere: %s',
    async (command) => {
      expect(await judge(command)).toBe('runs');
    },
  );
});

describe('a link that is made', () => {
  it.each([
    'ln -s ../sub/x other/l; echo y > other/l',
    'ln -s ../sub/x other; echo y > other/x',
    'ln -st other ../sub/x; echo y > other/x',
    'ln -s sub/x l',
  ])('leads on from where it lies: %s', async (command) => {
    expect(await judge(command)).not.toBe('runs');
  });

  it('to what no rule is about is left alone', async () => {
    expect(await judge('ln -s ../x other/l')).toBe('runs');
  });
});
