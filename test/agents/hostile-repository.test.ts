import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAgentWorkspace } from '../../src/agents/workspaces/open.js';
import { trackOutsideWrites } from '../../src/agents/workspaces/outside-writes.js';
import { WORKTREE_DEFAULTS } from '../../src/agents/workspaces/worktree.js';
import { createGit } from '../../src/permissions/git/hardened.js';
import { nodeFileSystem as fs } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { createWriteLedger } from '../../src/tools/files/write-ledger.js';
import { createWorkspace } from '../../src/tools/workspace.js';

const processes = createProcessSupervisor();
let base = '';
let repo = '';
/** A program that leaves a mark when it is run. */
let evil = '';
const env = () => ({ PATH: process.env.PATH, HOME: join(base, 'home') });
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repo, env: env(), stdio: ['ignore', 'pipe', 'pipe'] })
    .toString()
    .trim();
const marks = (): string[] =>
  existsSync(join(base, 'marks')) ? readdirSync(join(base, 'marks')) : [];
const config = (text: string): void =>
  appendFileSync(join(repo, '.git/config'), text.replaceAll('EVIL', evil));

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
  repo = join(base, 'repo');
  evil = join(base, 'evil');
  mkdirSync(join(base, 'home'));
  mkdirSync(repo);
  writeFileSync(
    evil,
    `#!/bin/sh\nmkdir -p '${join(base, 'marks')}'\ntouch '${join(base, 'marks')}/ran'\ncat\n`,
  );
  chmodSync(evil, 0o755);
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'a@b.c');
  git('config', 'user.name', 'A');
  writeFileSync(join(repo, 'a.txt'), 'a\n');
  writeFileSync(join(repo, 'b.txt'), 'b\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** One object is missing, so git would fetch it from wherever the configuration says. */
function losing(settings: string): () => void {
  return () => {
    const blob = git('rev-parse', 'HEAD:a.txt');
    rmSync(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    config(
      `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n${settings}`,
    );
    config('[core]\n\trepositoryformatversion = 1\n');
  };
}

function attributes(text = '* filter=x diff=x\n'): void {
  mkdirSync(join(repo, '.git/info'), { recursive: true });
  writeFileSync(join(repo, '.git/info/attributes'), text);
}

/** The settings, with attributes by which every file has the filter or diff driver x. */
function filtering(settings: string, chosen?: string): () => void {
  return () => {
    attributes(chosen);
    config(settings);
  };
}

const HOSTILE: readonly (readonly [string, () => void])[] = [
  ['a smudge filter', filtering('[filter "x"]\n\tsmudge = EVIL\n')],
  ['a clean filter', filtering('[filter "x"]\n\tclean = EVIL\n')],
  [
    'a filter process that is required',
    filtering('[filter "x"]\n\tprocess = EVIL\n\trequired = true\n'),
  ],
  ['a filter with dots', filtering('[filter "a.b"] smudge = EVIL\n', '* filter=a.b\n')],
  ['a filter with an equals sign', filtering('[filter "a=b"] smudge = EVIL\n', '* filter=a=b\n')],
  [
    'a filter chosen by a committed file',
    () => {
      writeFileSync(join(repo, '.gitattributes'), '* filter=x\n');
      git('add', '-A');
      git('commit', '-qm', 'attributes');
      config('[filter "x"] smudge = EVIL\n');
    },
  ],
  [
    'a filter in an included file',
    () => {
      attributes();
      writeFileSync(join(repo, '.git/more'), `[filter "x"]\n\tsmudge = ${evil}\n`);
      config('[include]\n\tpath = more\n');
    },
  ],
  [
    'a filter that is included for the branch of the agent',
    () => {
      attributes();
      writeFileSync(join(repo, '.git/more'), `[filter "x"]\n\tsmudge = ${evil}\n`);
      config('[includeIf "onbranch:worktree-**"]\n\tpath = more\n');
    },
  ],
  [
    'a filter behind a value that ends with a backslash',
    filtering('[user]\n\tname = x\\\\\n[filter "x"]\n\tsmudge = EVIL\n'),
  ],
  [
    'a filter in the configuration of the working tree',
    () => {
      attributes();
      config('[extensions]\n\tworktreeConfig = true\n');
      writeFileSync(join(repo, '.git/config.worktree'), `[filter "x"]\n\tsmudge = ${evil}\n`);
    },
  ],
  ['a remote helper', losing('\turl = ext::EVIL\n[protocol "ext"]\n\tallow = always\n')],
  ['every protocol', losing('\turl = ext::EVIL\n[protocol]\n\tallow = always\n')],
  ['an ssh command', losing('\turl = ssh://h/x\n[core]\n\tsshCommand = EVIL\n')],
  ['an upload-pack', losing('\turl = /nowhere\n\tuploadpack = EVIL\n')],
  ['a credential helper', losing('\turl = https://127.0.0.1:1/x\n[credential]\n\thelper = EVIL\n')],
  ['a monitor', () => config('[core]\n\tfsmonitor = EVIL\n')],
  [
    'hooks elsewhere',
    () => {
      for (const name of ['post-checkout', 'post-index-change', 'reference-transaction']) {
        mkdirSync(join(repo, 'h'), { recursive: true });
        symlinkSync(evil, join(repo, 'h', name));
      }
      config('[core] hooksPath = h\n');
    },
  ],
  [
    'hooks',
    () => {
      for (const name of ['post-checkout', 'post-index-change', 'reference-transaction'])
        symlinkSync(evil, join(repo, '.git/hooks', name));
    },
  ],
  ['an external diff', filtering('[diff]\n\texternal = EVIL\n')],
  ['a text conversion', filtering('[diff "x"]\n\ttextconv = EVIL\n\tcommand = EVIL\n')],
  [
    'pagers',
    () =>
      config('[core]\n\tpager = EVIL\n\teditor = EVIL\n[pager]\n\tstatus = EVIL\n\tlog = EVIL\n'),
  ],
  ['aliases', () => config('[alias]\n\tstatus = !EVIL\n\tworktree = !EVIL\n\trev-parse = !EVIL\n')],
  [
    'signatures',
    () =>
      config(
        '[gpg]\n\tprogram = EVIL\n[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true\n',
      ),
  ],
  ['references elsewhere', () => config('[core]\n\talternateRefsCommand = EVIL\n')],
];

const openTree = (isTrusted: boolean) => {
  const hardened = createGit({ fs, processes, env: env(), isTrusted: async () => isTrusted });
  return {
    hardened,
    opening: openAgentWorkspace(
      {
        fs,
        processes,
        env: env(),
        git: hardened,
        temporaryDirectory: base,
        settings: WORKTREE_DEFAULTS,
        warn: () => undefined,
      },
      {
        definition: { workspace: { kind: 'worktree' } },
        agent: { ...MAIN_AGENT, id: 'a1', path: 'main/a#1', depth: 1 },
        parent: createWorkspace([repo]),
        parentRef: MAIN_AGENT,
        signal: new AbortController().signal,
      },
    ),
  };
};

describe('git that the program runs itself starts nothing that a repository names', () => {
  it.each(HOSTILE)('%s, not trusted', async (_name, prepare) => {
    prepare();
    const { opening, hardened } = openTree(false);
    const opened = await opening;
    if (opened.ok) {
      writeFileSync(join(opened.value.workspace.cwd, 'b.txt'), 'changed\n');
      await opened.value.close();
    }
    const ledger = createWriteLedger();
    const agent = { path: 'main/a#1', workspace: base, project: repo };
    await (await trackOutsideWrites({ fs, git: hardened, ledger }, agent)).finish();
    expect(marks()).toEqual([]);
  });

  it.each(HOSTILE)('%s, trusted', async (_name, prepare) => {
    prepare();
    const { opening, hardened } = openTree(true);
    const opened = await opening;
    if (opened.ok) {
      writeFileSync(join(opened.value.workspace.cwd, 'b.txt'), 'changed\n');
      const left = await opened.value.close();
      expect(left).toMatchObject({ kept: true });
    }
    writeFileSync(join(repo, 'b.txt'), 'changed\n');
    const ledger = createWriteLedger();
    const agent = { path: 'main/a#1', workspace: base, project: repo };
    await (await trackOutsideWrites({ fs, git: hardened, ledger }, agent)).finish();
    expect(marks()).toEqual([]);
  });
});

describe('a worktree in a repository that names programs', () => {
  it('is refused in a folder that is not trusted, with the setting and a remedy', async () => {
    attributes();
    config('[filter "x"]\n\tsmudge = EVIL\n');
    const opened = await openTree(false).opening;
    expect(opened).toMatchObject({
      ok: false,
      error: expect.stringMatching(/filter\.x\.smudge.*start with --trust/s),
    });
    expect(existsSync(join(repo, '.claude'))).toBe(false);
  });

  it('is refused where the folder is reached by a link too', async () => {
    attributes();
    config('[filter "x"]\n\tsmudge = EVIL\n');
    symlinkSync(repo, join(base, 'link'));
    const hardened = createGit({ fs, processes, env: env(), isTrusted: async () => false });
    expect(await hardened(['status'], { cwd: join(base, 'link') })).toMatchObject({ ok: false });
    expect(marks()).toEqual([]);
  });

  it('is made in a trusted one, with files as the repository stores them', async () => {
    attributes();
    config(`[filter "x"]\n\tsmudge = sed s/a/smudged/\n\tclean = cat\n\trequired = true\n`);
    const opened = await openTree(true).opening;
    if (!opened.ok) throw new Error(opened.error);
    expect(readFileSync(join(opened.value.workspace.cwd, 'a.txt'), 'utf8')).toBe('a\n');
    expect(await opened.value.close()).toMatchObject({ kept: false });
  });

  it("runs the filters of the user's own configuration", async () => {
    attributes();
    writeFileSync(join(base, 'home/.gitconfig'), '[filter "x"]\n\tsmudge = sed s/a/mine/\n');
    const opened = await openTree(false).opening;
    if (!opened.ok) throw new Error(opened.error);
    expect(readFileSync(join(opened.value.workspace.cwd, 'a.txt'), 'utf8')).toBe('mine\n');
  });

  it('is not made where the repository names another directory as its working tree', async () => {
    mkdirSync(join(base, 'victim'));
    config(`[core]\n\tworktree = ${join(base, 'victim')}\n`);
    const opened = await openTree(true).opening;
    expect(opened).toMatchObject({ ok: false, error: expect.stringContaining('core.worktree') });
    expect(readdirSync(join(base, 'victim'))).toEqual([]);
  });
});
