// Writes the command-line program in the form that starts fastest: everything that is needed at every
// start in one CommonJS file (each further file costs half a millisecond, the ES module loader eight on
// Node 20), the rest in files of their own, and V8's compiled code beside them.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { ROOT } from './run-ts.mjs';

const FINAL = path.join(ROOT, 'dist/cli');
/** Written beside the old program and put in its place when whole: a program that runs is not disturbed. */
const DIRECTORY = `${FINAL}.new`;

export async function writeProgram(result) {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(path.join(DIRECTORY, 'package.json'), '{ "type": "commonjs" }\n');
  const files = new Map();
  for (const file of result.outputFiles)
    files.set(path.basename(file.path), await toCommonJs(file.text));
  const packed = neededAtStart(result.metafile);
  const second = neededForServers(result.metafile, packed);
  const loaders = (names) =>
    [...names]
      .map((name) => `"./${name}":(module,exports,require)=>{${asAscii(files.get(name))}\n}`)
      .join(',\n');
  writeFileSync(
    path.join(DIRECTORY, 'main.js'),
    PACK.replace('/*SECOND*/', () => [...second].map((name) => `"./${name}"`).join()).replace(
      '/*LOADERS*/',
      () => loaders(packed),
    ),
  );
  writeFileSync(path.join(DIRECTORY, 'servers.js'), `({${loaders(second)}})`);
  for (const [name, code] of files) {
    if (name === 'main.js') continue;
    const isPacked = packed.has(name) || second.has(name);
    writeFileSync(
      path.join(DIRECTORY, name),
      isPacked ? `module.exports=require("./main.js").load("./${name}");\n` : code,
    );
  }
  writeFileSync(
    path.join(DIRECTORY, 'at-start.json'),
    JSON.stringify(startReport(result.metafile, packed), null, 1),
  );
  rmSync(`${FINAL}.old`, { recursive: true, force: true });
  if (existsSync(FINAL)) renameSync(FINAL, `${FINAL}.old`);
  renameSync(DIRECTORY, FINAL);
  rmSync(`${FINAL}.old`, { recursive: true, force: true });
}

/**
 * A file that is packed is evaluated once, by whoever asks first; other files are left to Node. A second
 * pack, with compiled code of its own, holds what only sessions with servers need: it is read when the
 * first of its files is asked for.
 */
const PACK = `"use strict";
const outside=require,loaded=new Map(),loaders={/*LOADERS*/},second=new Set([/*SECOND*/]);
const readSecond=()=>{
const fs=outside("node:fs"),vm=outside("node:vm"),file=__dirname+"/servers.js";
const kept=__dirname+"/servers."+process.version+"-"+process.arch+".cache";
let cachedData;
try{cachedData=fs.readFileSync(kept)}catch{}
const script=new vm.Script(fs.readFileSync(file,"latin1"),cachedData===undefined?{filename:file}:{filename:file,cachedData});
if(process.env.PORTCULLIS_WRITE_CODE_CACHE==="1"&&cachedData===undefined)process.on("exit",()=>fs.writeFileSync(kept,script.createCachedData()));
Object.assign(loaders,script.runInThisContext());
second.clear();
};
const load=(name)=>{
const known=loaded.get(name);
if(known!==undefined)return known.exports;
if(second.has(name))readSecond();
const loader=Object.hasOwn(loaders,name)?loaders[name]:undefined;
if(loader===undefined)return outside(name);
const module={exports:{}};
loaded.set(name,module);
loader(module,module.exports,load);
return module.exports;
};
exports.load=load;
load("./main.js");
`;

/**
 * What is read at every start is read as Latin-1, in less than half the time. In texts other letters
 * are escaped already; those that are left stand in regular expressions, where an escape means the same.
 */
function asAscii(code) {
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

async function toCommonJs(text) {
  const usesUrl = text.includes('import.meta.url');
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: true,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__importMetaUrl' },
    banner: usesUrl
      ? 'const __importMetaUrl=require("node:url").pathToFileURL(__filename).href;'
      : '',
  });
  return code.replace(/^"use strict";/, '');
}

/** Loaded on demand, but by nearly every run: packed as well, evaluated only when asked for. */
const USUAL = [
  'anthropic',
  'bundled',
  'validators',
  'stream',
  'trust-collect',
  'trust-look',
  'trust-store',
  'check',
  'rule-files',
  'rule-taking',
];

/** Loaded on demand, by every session that has an MCP server. */
const OF_SERVERS = [
  'src/mcp/config.ts',
  'src/mcp/approvals.ts',
  'src/harness/mcp-servers.ts',
  'src/tools/builtin/tool-search.ts',
];

/** Adds a chunk and all that it reaches without a dynamic import. */
function visitor(metafile, seen, isElsewhere = () => false) {
  const visit = (output) => {
    const name = path.basename(output);
    if (seen.has(name) || isElsewhere(name)) return;
    seen.add(name);
    for (const item of metafile.outputs[output].imports) {
      if (item.kind === 'import-statement' && !item.external) visit(item.path);
    }
  };
  return visit;
}

/** The chunks that sessions with servers need besides those that are packed already. */
function neededForServers(metafile, packed) {
  const seen = new Set();
  const visit = visitor(metafile, seen, (name) => packed.has(name));
  for (const wanted of OF_SERVERS) {
    const found = Object.entries(metafile.outputs).find(([, out]) => out.entryPoint === wanted);
    if (found === undefined) throw new Error(`there is no chunk of ${wanted}`);
    visit(found[0]);
  }
  return seen;
}

/** The chunks that the entry reaches without a dynamic import, and the usual ones. */
function neededAtStart(metafile) {
  const seen = new Set();
  const visit = visitor(metafile, seen);
  const outputs = Object.keys(metafile.outputs);
  visit(outputs.find((name) => path.basename(name) === 'main.js'));
  for (const wanted of USUAL) {
    const output = outputs.find((name) =>
      new RegExp(`^${wanted}-[A-Z0-9]{8}\\.js$`).test(path.basename(name)),
    );
    if (output === undefined) throw new Error(`there is no chunk of the name ${wanted}`);
    visit(output);
  }
  return seen;
}

/** Which sources every start loads, for the test that keeps libraries out of it. */
function startReport(metafile, packed) {
  const inputs = {};
  for (const [name, output] of Object.entries(metafile.outputs)) {
    if (!packed.has(path.basename(name))) continue;
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs))
      inputs[input] = bytesInOutput;
  }
  return inputs;
}

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
  for (const file of ['skills/one/SKILL.md', 'agents/one.md', 'commands/two.md', 'rules/one.md']) {
    const full = path.join(project, '.claude', file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, file.startsWith('rules') ? head.replace('name: one', 'paths: x/*') : head);
  }
  // More than a list of skills has room for.
  for (let index = 0; index < 8; index++) {
    const full = path.join(project, `.claude/skills/long-${index}/SKILL.md`);
    mkdirSync(path.dirname(full));
    writeFileSync(full, head.replace('Of no use.', 'Of no use. '.repeat(120)));
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
  const one = { command: process.execPath, args: [mcpServer] };
  writeFileSync(path.join(home, '.claude.json'), JSON.stringify({ mcpServers: { one } }));
  const script = [...calls, ...calls.slice(0, 2), 'done'];
  try {
    // Most starts remember what files say; of files that are new nothing is remembered.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    await session({ home, project, script: ['done'], startFakeModelServer });
    await session({ home, project, script, startFakeModelServer, keep: true });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const MCP_SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'one', version: '1' }, instructions: 'Of no use.' }),
  'tools/list': () => ({ tools: [{ name: 'none', inputSchema: { type: 'object' } }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'no' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});
`;

async function session({ home, project, script, startFakeModelServer, keep = false }) {
  const server = await startFakeModelServer({ script });
  const flags = ['-p', 'go', '--trust', '--allowedTools', 'Bash,Read,Edit'];
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
          ENABLE_TOOL_SEARCH: 'true',
          ANTHROPIC_BASE_URL: server.url,
          ...(keep ? { PORTCULLIS_WRITE_CODE_CACHE: '1' } : {}),
        },
      },
    );
    running.child.stdin.end();
    await running;
  } finally {
    await server.close();
  }
}
