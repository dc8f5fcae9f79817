// Runs the built program and keeps the code that V8 compiles on the way: compiling is the largest part of
// a start. What is run here is not compiled again at a start.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from './run-ts.mjs';

/** Runs whole sessions once, over HTTP, and keeps the code that V8 compiled for them. */
export async function writeCodeCache() {
  const { startFakeModelServer } = await import(
    pathToFileURL(path.join(ROOT, 'dist/lib/testing.js')).href
  );
  const home = mkdtempSync(path.join(os.tmpdir(), 'portcullis-build-'));
  const project = path.join(home, 'project');
  mkdirSync(path.join(project, '.claude'), { recursive: true });
  writeFileSync(path.join(project, 'a.txt'), 'text\n');
  const settings = { permissions: { allow: ['Read', 'Bash'], deny: ['Bash(rm *)'] } };
  writeFileSync(path.join(project, '.claude/settings.json'), JSON.stringify(settings));
  // What is compiled here is not compiled again at a start: so there is one of everything.
  const head = '---\nname: one\ndescription: Of no use.\n---\n\nNothing.\n';
  for (const file of [...NEW_EACH_TIME, 'commands/two.md']) {
    const text = file.startsWith('rules') ? head.replace('name: one', 'paths: x/*') : head;
    write(path.join(project, '.claude', file), text);
  }
  // More than a list of skills has room for.
  for (let index = 0; index < 8; index++) {
    const file = path.join(project, `.claude/skills/long-${index}/SKILL.md`);
    write(file, head.replace('Of no use.', 'Of no use. '.repeat(120)));
  }
  writeFileSync(path.join(project, '.claude/rules/two.md'), 'Nothing.\n');
  writeFileSync(path.join(project, 'CLAUDE.md'), 'Nothing.\n');
  const calls = [
    { tool: 'Read', input: { file_path: 'a.txt' } },
    { tool: 'Bash', input: { command: 'true' } },
    { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'text', new_string: 'words' } },
  ];
  // A server of this kind answers once; what it offers is then read from the cache, as at most starts.
  const mcpServer = path.join(home, 'server.cjs');
  writeFileSync(mcpServer, MCP_SERVER);
  const server = { command: process.execPath, args: [mcpServer] };
  // Two, as much is done only to tell one from another.
  const mcpServers = { one: server, two: server };
  writeFileSync(path.join(home, '.claude.json'), JSON.stringify({ mcpServers }));
  // An agent's own answers stand between the call that starts it and the answer that follows.
  const agent = { description: 'none', prompt: 'go', subagent_type: 'general-purpose' };
  const work = [...calls, ...calls.slice(0, 2)];
  const script = [...work, { tool: 'Agent', input: agent }, ...work.slice(0, 2), 'done', 'done'];
  try {
    // Most starts remember what files say; of files that are new nothing is remembered.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    await session({ home, project, script: ['done'], startFakeModelServer });
    // Files that are new are read, which has to be quick as well.
    for (const file of [...NEW_EACH_TIME, 'settings.json'])
      renew(path.join(project, '.claude', file));
    // So are those that nobody has seen before.
    for (const file of ['skills/other/SKILL.md', 'agents/other.md'])
      write(path.join(project, '.claude', file), head.replace('one', 'another'));
    await session({ home, project, script, startFakeModelServer, keep: true });
    await session({ home, project, script, startFakeModelServer, keep: true, host: true });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const NEW_EACH_TIME = ['skills/one/SKILL.md', 'agents/one.md', 'rules/one.md'];

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function renew(file) {
  writeFileSync(file, readFileSync(file));
}

const MCP_SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'one', version: '1' }, instructions: 'Of no use.' }),
  'tools/list': () => ({
    tools: ['none', 'other'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'no' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});
`;

const FRAMES = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
const PROMPT = { type: 'user', message: { role: 'user', content: 'go on with @a.txt' } };

async function session({ home, project, script, startFakeModelServer, keep, host }) {
  const server = await startFakeModelServer({ script });
  const prompt = host === true ? ['-p', ...FRAMES] : ['-p', 'go'];
  const flags = [...prompt, '--trust', '--allowedTools', 'Bash,Read,Edit,Agent'];
  try {
    const running = promisify(execFile)(
      process.execPath,
      [path.join(ROOT, 'bin/portcullis'), ...flags],
      {
        cwd: project,
        env: {
          PATH: process.env.PATH,
          HOME: home,
          TMPDIR: home,
          // As at most starts, but for two tools that would not be worth it.
          ENABLE_TOOL_SEARCH: 'auto:0',
          // Whatever the window of the model is.
          SLASH_COMMAND_TOOL_CHAR_BUDGET: '8000',
          ANTHROPIC_BASE_URL: server.url,
          ...(keep === true ? { PORTCULLIS_WRITE_CODE_CACHE: '1' } : {}),
        },
      },
    );
    running.child.stdin.end(host === true ? `${JSON.stringify(PROMPT)}\n` : '');
    await running;
  } finally {
    await server.close();
  }
}
