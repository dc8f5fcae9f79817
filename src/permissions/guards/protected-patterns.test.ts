import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { protectedFitting } from './protected-doubts.js';

describe('patterns that fit protected names', () => {
  it.each([
    ['.g*/config', '.git/config'],
    ['.g??', '.git'],
    ['.gi[t]/hooks', '.git/hooks'],
    ['**/.cl*/settings.json', '**/.claude/settings.json'],
    ['{.g,x}it/config', '.git/config'],
    ['.git/c*', '.git'],
    ['.conf*/git/config', '.config/git/config'],
    ['.config/g*', '.config/git'],
    ['.G*/config', '.git/config'],
    ['lefthook*', 'lefthook.yml'],
  ])('%s may be %s', (pattern, name) => {
    expect(protectedFitting(pattern, { isGlob: false })).toContain(name);
  });

  it.each(['src/*.ts', '*.py', '*', '**/*.pyc', '.*', '.*y', '.[a-z]*', '.github*', 'a{b,c}d'])(
    '%s is none of them',
    (pattern) => {
      const found = protectedFitting(pattern, { isGlob: false });
      expect(found.filter((name) => /\.git$|\.py$|\.claude/.test(name))).toEqual([]);
    },
  );

  it('takes a dot and a star for hidden files where patterns of files are', () => {
    expect(protectedFitting('.*', { isGlob: true })).toContain('.git');
    expect(protectedFitting('.??*/config', { isGlob: true })).toContain('.git/config');
    expect(protectedFitting('.[g]it/x', { isGlob: true })).toContain('.git/x');
  });

  it('takes braces for anything where there are too many to spell out', () => {
    const many = Array.from({ length: 70 }, (_, at) => `x${at}`).join(',');
    const deep = '{a,{b,{c,{d,{e,git}}}}}';
    for (const pattern of [`.{${many},git}/config`, `.${deep}/config`, `{${many},.git}`]) {
      expect(protectedFitting(pattern, { isGlob: false }).join(' ')).toContain('.git');
    }
    expect(protectedFitting(`{${many},.g}it/config`, { isGlob: true })).toContain('.git/config');
    const data = '{"a":{"b":{"c":{"d":{"e":{}}}}}}';
    expect(protectedFitting(data, { isGlob: false }).join(' ')).not.toContain('.git');
  });

  it('spells out a bounded number of braces', () => {
    const many = `${'{a,b,c,d,e,f,g,h}'.repeat(10)}.g*`;
    expect(protectedFitting(many, { isGlob: true }).length).toBeLessThan(5000);
  });
});

describe('code that writes what patterns find', () => {
  let project: TempProject;
  beforeAll(() => {
    project = makeTempProject({ files: { 'a.txt': 'a', '.claude/settings.json': '{}' } });
  });
  afterAll(() => project.remove());
  const rig = (mode: 'default' | 'bypassPermissions' = 'default') =>
    gateRig({ cwd: project.directory, home: project.home, allow: ['Bash'], mode });

  it.each([
    `python3 -c "import glob,os; [os.remove(f) for f in glob.glob('.g*/config')]"`,
    `python3 -c "import glob,os; [os.remove(f) for f in glob.glob('.*/config')]"`,
    `python3 - <<'X'\nimport glob, shutil\nfor d in glob.glob('.gi?'):\n  shutil.rmtree(d)\nX`,
    `node -e "fs.rmSync('.g'+'it')"`,
    `node -e "require('fs').rmSync('.git',{recursive:true})"`,
    `node -e "require('fs').cpSync('x', '.git/hooks/y')"`,
    `node -e "for (const f of fs.globSync('.cl*/*')) fs.unlinkSync(f)"`,
    `perl -e 'unlink <.g*/*>'`,
    `perl -e 'unlink glob(".g*/*")'`,
    `perl -e 'unlink glob q(.gi[t]/config)'`,
    `ruby -e 'Dir[".g*"].each{|f| File.delete(f)}'`,
    `ruby -e 'Dir.glob("{.g,x}it/config").each{|f| File.delete(f)}'`,
    `ruby -e 'require "fileutils"; FileUtils.rm_rf(Dir[".claud?"])'`,
    `php -r 'array_map("unlink", glob(".g*/*"));'`,
    `awk 'BEGIN{system("rm .g*/config")}'`,
    `awk '{print | "tee .git/config"}' a.txt`,
    `sqlite3 :memory: '.log .git/config'`,
    `sqlite3 :memory: "vacuum into '.git/config'"`,
  ])('is asked about: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
    expect(await rig('bypassPermissions').bash(command)).toBe('asks');
  });

  it.each([
    `python3 -c "import glob; print(glob.glob('.g*'))"`,
    `python3 -c "import glob,os; [os.remove(f) for f in glob.glob('build/*.pyc')]"`,
    `python3 -c "import glob,os; [os.remove(f) for f in glob.glob('**/*.pyc', recursive=True)]"`,
    `python3 -c "import re; open('out','w').write(re.sub('.*x', '', 'ax'))"`,
    `node -e "require('fs').writeFileSync('a.txt', 'x'.replace(/.*y/, ''))"`,
    `perl -pi -e 's/foo.*/bar/' a.txt`,
    `ruby -e 'Dir["src/*.rb"].each{|f| File.delete(f)}'`,
    `awk '{print $1*2 > "out.txt"}' a.txt`,
    `sed -i 's/a.*b/c/' a.txt`,
  ])('is no reason to ask where none fits: %s', async (command) => {
    expect(await rig().bash(command)).toBe('runs');
  });
});
