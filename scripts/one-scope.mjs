// Joins chunks of the program to one text whose modules share a scope. Chunk by chunk, every name that
// one takes from another would be defined, and later read, through two functions; there are a thousand
// of them at every start, and they are read at every turn.
import { build } from 'esbuild';

/**
 * The text of a pack, for bin/portcullis. It offers a table: by the name of a chunk that others ask for,
 * a function that gives its exports. Chunks that `first` reaches by import statements are evaluated at
 * once, in their order; the others by whoever asks first. `expected`: other packs, with what they offer.
 */
export async function oneScope({ chunks, first, asked, expected = [] }) {
  const reached = first === undefined ? new Set() : reachedBy(first, chunks);
  const result = await build({
    stdin: { contents: entry({ chunks, first, asked, reached, expected }), resolveDir: '/' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    supported: { 'dynamic-import': false },
    plugins: [fromMemory(chunks)],
  });
  const code = asAscii(result.outputFiles[0].text.replace(/^"use strict";/, ''));
  return `(({require,expect,offer})=>{${GLOBALS}${code}\n})`;
}

/** On the global object these are functions that are called at every use. */
const GLOBALS = 'const{Buffer,process}=globalThis;';

function entry({ chunks, first, asked, reached, expected }) {
  const heads = first === undefined ? [] : [`import ${JSON.stringify(first)};`];
  const rows = [];
  for (const name of asked) {
    const text = JSON.stringify(name);
    if (!reached.has(name)) {
      rows.push(`${text}: () => require(${text})`);
      continue;
    }
    // Most are never asked for by name: until then there is one function for each chunk.
    const prefix = `of${rows.length}_`;
    const names = chunks.get(name).exports;
    const taken = names.map((one) => `${one} as ${prefix}${one}`).join();
    heads.push(`import { ${taken} } from ${text};`);
    // Values and no getters, which would be a function for each: nothing that is exported ever changes but
    // stand-ins (see on-call.mjs), and those lead to the real one whenever they are called.
    rows.push(`${text}: () => ({ ${names.map((one) => `${one}: ${prefix}${one}`).join()} })`);
  }
  return `${heads.join('\n')}\nexpect(${JSON.stringify(expected)});\noffer({ ${rows.join(',\n')} });\n`;
}

function reachedBy(first, chunks) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name) || !chunks.has(name)) return;
    seen.add(name);
    for (const one of chunks.get(name).imports) visit(one);
  };
  visit(first);
  return seen;
}

function fromMemory(chunks) {
  return {
    name: 'chunks',
    setup(api) {
      api.onResolve({ filter: /.*/ }, ({ path: asked }) =>
        chunks.has(asked) ? { path: asked, namespace: 'chunk' } : { path: asked, external: true },
      );
      api.onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path: name }) => ({
        contents: chunks.get(name).code,
        loader: 'js',
      }));
    },
  };
}

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
