import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

const SENT = 'the request was sent';

/** Notes each pack that the program reads, and when it has sent its request. */
const SPY = `
const fs = require('node:fs');
const { Socket } = require('node:net');
const { write } = Socket.prototype;
Socket.prototype.write = function (...rest) {
  fs.appendFileSync(process.env.PACKS, '${SENT}\\n');
  return write.apply(this, rest);
};
const { readFileSync } = fs;
fs.readFileSync = (file, ...rest) => {
  const pack = /dist.cli.([a-z-]+[.]js)$/.exec(String(file));
  if (pack) fs.appendFileSync(process.env.PACKS, pack[1] + '\\n');
  return readFileSync(file, ...rest);
};
`;

/** The packs that were read when the first request was sent. */
async function packsBeforeRequest(
  files: Record<string, string>,
  prompt = 'go',
): Promise<readonly string[]> {
  const project = makeTempProject({ files });
  const packs = path.join(project.root, 'packs.txt');
  const spy = path.join(project.root, 'spy.cjs');
  writeFileSync(packs, '');
  writeFileSync(spy, SPY);
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(401).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const [node = '', program = ''] = PROGRAM;
    const child = spawn(node, ['--require', spy, program, '-p', prompt, '--trust'], {
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        TMPDIR: project.root,
        PACKS: packs,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
        ANTHROPIC_API_KEY: 'none',
      },
      stdio: 'ignore',
    });
    await new Promise((resolve) => child.on('close', resolve));
    const read = readFileSync(packs, 'utf8').split('\n');
    expect(read).toContain(SENT);
    return read.slice(0, read.indexOf(SENT));
  } finally {
    server.close();
    project.remove();
  }
}

describe('what a start reads of the program', () => {
  it('is one pack where a project has nothing', async () => {
    expect(await packsBeforeRequest({ 'a.txt': 'alpha\n' })).toEqual(['main.js']);
  });

  it('is little more for a prompt with an @ that names no file, and nothing for a mail address', async () => {
    const files = { 'a.txt': 'alpha\n' };
    expect(await packsBeforeRequest(files, 'ask me@mail.org')).toEqual(['main.js']);
    const prompt = 'look at @types/node and @Injectable()';
    expect(await packsBeforeRequest(files, prompt)).toEqual(['main.js', 'mentions.js']);
  });

  it('is nothing of what calls need where a project has settings, rules, skills and agents', async () => {
    const permissions = {
      allow: ['Read', 'Bash(git log *)'],
      deny: ['Bash(rm *)', 'Edit(/etc/**)'],
    };
    const read = await packsBeforeRequest({
      'CLAUDE.md': 'Write tests.\n',
      '.claude/settings.json': JSON.stringify({ permissions }),
      '.claude/rules/one.md': '---\npaths: src/**\n---\nOne.\n',
      '.claude/rules/two.md': 'Two.\n',
      '.claude/skills/one/SKILL.md': '---\nname: one\ndescription: Of no use.\n---\nNothing.\n',
      '.claude/agents/one.md': '---\nname: one\ndescription: Of no use.\n---\nNothing.\n',
    });
    expect([...read].sort()).toEqual(['main.js', 'project.js', 'rules.js']);
  });

  it('is nothing that examines settings where there are none and trust is given', async () => {
    const files = {
      '.claude/rules/one.md': '---\npaths: src/**\n---\nOne.\n',
      '.claude/skills/one/SKILL.md': '---\nname: one\ndescription: Of no use.\n---\nNothing.\n',
    };
    expect(await packsBeforeRequest(files)).toEqual(['main.js', 'rules.js']);
  });

  it('holds nothing that judges commands, does the work of tools or reads what prompts name, and no text of a skill', () => {
    const inputs = readFileSync(path.join(ROOT, 'dist/cli/at-start.json'), 'utf8');
    const files = Object.keys(JSON.parse(inputs));
    expect(files).not.toContain('src/permissions/shell/read.ts');
    expect(files).not.toContain('src/permissions/shell/runners.ts');
    expect(files).not.toContain('src/permissions/shell/file-commands.ts');
    expect(files).not.toContain('src/permissions/shell/read-only-table.ts');
    expect(files).not.toContain('src/skills/bundled/index.ts');
    expect(files).not.toContain('src/context/file-mentions.ts');
    expect(files).not.toContain('src/mcp/mentions.ts');
  });
});
