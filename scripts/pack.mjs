// Writes the command-line program in the form that starts fastest, as bin/portcullis reads it: packs of
// what is needed on one occasion (each further file costs half a millisecond, the ES module loader eight
// on Node 20), and the rest in CommonJS files of their own.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transform } from 'esbuild';
import { ON_CALL, ON_CALL_ENTRY } from './on-call.mjs';
import { oneScope } from './one-scope.mjs';

/** The folder must not be there yet. */
export async function writeProgram(folder, { outputFiles, metafile }) {
  mkdirSync(folder);
  const write = (name, text) => writeFileSync(path.join(folder, name), text);
  write('package.json', '{ "type": "commonjs" }\n');
  const chunks = chunksOf(outputFiles, metafile);
  const packs = packsOf(metafile);
  const inPack = new Set(packs.flatMap(({ names }) => [...names]));
  const [main, ...others] = packs.map(({ file, names }) => ({
    file,
    chunks: new Map([...chunks].filter(([name]) => names.has(name))),
    asked: askedFor(names, chunks),
  }));
  const expected = others.map(({ file, asked }) => ({ file, parts: asked }));
  write('main.js', await oneScope({ ...main, first: './main.js', expected }));
  for (const pack of others) write(pack.file, outOfYoungSpace(await oneScope(pack)));
  for (const name of [main, ...others].flatMap(({ asked }) => asked))
    write(name, `module.exports=require("../../bin/portcullis").load(${JSON.stringify(name)});\n`);
  for (const [name, { code }] of chunks) if (!inPack.has(name)) write(name, await toCommonJs(code));
  write('at-start.json', JSON.stringify(startReport(metafile, packs[0].names), null, 1));
}

/** From here on V8 has a text among the large objects. */
const LARGE_BYTES = 128 * 1024 + 1024;

/**
 * A smaller text would lie in the young generation of a start and bring its next collection, 1 to 2 ms,
 * before the first request. Blanks cost nothing.
 */
function outOfYoungSpace(text) {
  return text.padEnd(LARGE_BYTES);
}

/** By name, as others ask for them: the text, what it exports and what it imports at once and later. */
function chunksOf(outputFiles, metafile) {
  const texts = new Map(outputFiles.map((file) => [path.basename(file.path), file.text]));
  return new Map(
    Object.entries(metafile.outputs).map(([output, { exports, imports }]) => {
      const inside = imports.filter(({ external }) => external !== true);
      const names = (kind) =>
        inside.filter((one) => one.kind === kind).map((one) => nameOf(one.path));
      return [
        nameOf(output),
        {
          code: texts.get(path.basename(output)),
          exports,
          imports: names('import-statement'),
          later: names('dynamic-import'),
        },
      ];
    }),
  );
}

const nameOf = (output) => `./${path.basename(output)}`;

/** What chunks outside of a pack ask of it. */
function askedFor(pack, chunks) {
  const asked = new Set(pack.has(ON_CALL) ? [ON_CALL] : []);
  for (const [name, { imports, later }] of chunks)
    if (!pack.has(name))
      for (const one of [...imports, ...later]) if (pack.has(one)) asked.add(one);
  return [...asked].sort();
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

/**
 * What is asked for on demand is in a pack with what is asked for on the same occasions. The first is
 * read at every start: what it holds besides the program nearly every start asks for.
 */
const PACKS = {
  'main.js': ['src/cli/main.ts', 'src/model/anthropic.ts'],
  // Projects with settings, or something that has to be trusted.
  'project.js': [
    'src/settings/trust-collect.ts',
    'src/settings/trust-look.ts',
    'src/settings/trust-store.ts',
    'src/settings/check.ts',
    'src/settings/unavailable.ts',
    'src/settings/hook-problems.ts',
  ],
  // Projects with files of rules.
  'rules.js': ['src/context/rule-files.ts', 'src/context/rule-taking.ts'],
  // Sessions with an MCP server.
  'servers.js': [
    'src/mcp/config.ts',
    'src/mcp/approvals.ts',
    'src/harness/mcp-servers.ts',
    'src/tools/builtin/tool-search.ts',
  ],
  // Prompts with a name behind an `@`.
  'mentions.js': ['src/harness/prompt-mentions.ts'],
  // Hosts that drive the program by frames.
  'host.js': ['src/cli/stream.ts', 'src/server/frame-stream.ts'],
  // The first call of a tool.
  'calls.js': ['build/generated/validators.ts', ON_CALL_ENTRY],
  // The first command, or the first call that may change something.
  'changes.js': ['unbash/dist/parser.js', 'src/harness/checkpoint-journal.ts'],
};

/** By pack the names of its chunks: what its sources reach without a dynamic import. */
function packsOf(metafile) {
  const [main, ...others] = Object.entries(PACKS).map(([file, sources]) => ({
    file,
    names: new Set(sources.flatMap((source) => reachedFrom(source, metafile))),
  }));
  const wanted = others.flatMap(({ names }) => [...names]);
  // What two of them need is there before either is read.
  for (const [at, name] of wanted.entries()) if (wanted.indexOf(name) !== at) main.names.add(name);
  for (const { names } of others) for (const name of main.names) names.delete(name);
  return [main, ...others];
}

function reachedFrom(source, metafile) {
  const start = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith(source),
  );
  if (start === undefined) throw new Error(`there is no chunk of ${source}`);
  const seen = new Set();
  const visit = (output) => {
    const name = nameOf(output);
    if (seen.has(name)) return;
    seen.add(name);
    for (const { kind, external, path: next } of metafile.outputs[output].imports)
      if (kind === 'import-statement' && external !== true) visit(next);
  };
  visit(start[0]);
  return [...seen];
}

/** Which sources every start loads, for the test that keeps libraries out of it. */
function startReport(metafile, packed) {
  const inputs = {};
  for (const [name, output] of Object.entries(metafile.outputs)) {
    if (!packed.has(nameOf(name))) continue;
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs))
      inputs[input] = bytesInOutput;
  }
  return inputs;
}
