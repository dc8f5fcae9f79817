// Keeps out of every start what nobody calls before a model has answered: of such modules the program
// holds a stand-in for each function, which loads the real ones when the first of them is called.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './run-ts.mjs';

/** The chunk with the real ones, as stand-ins ask for it. */
export const ON_CALL = './on-call.js';
/** Its entry point, for the build and in its report. */
export const ON_CALL_ENTRY = 'on-call:all';

/**
 * What they do: judge a call and commands, do a tool's work, run an agent and its workspace, show how
 * servers stand. Of these only modules that export functions and nothing else; all others have a value
 * that is read without a call.
 */
const PLACES = [
  'permissions/shell/*',
  'permissions/workspace-fence-*',
  'permissions/{command-prefix,judge,messages,path-index,precheck,settings-edit,shell-grants}',
  'permissions/{suggest,suggested-updates}',
  'context/touched-files',
  'harness/{effects,instruction-named}',
  'tools/builtin/{bash-cwd,bash-result,edit-*,glob-pattern,glob-walk,grep-arguments,grep-report}',
  'tools/builtin/{notebook,read-image,read-notebook,read-pdf,read-text,tool-search-rank,write-whole}',
  'tools/{file-target,line-filter,shell-exit,task-change,text-file}',
  'agents/{child,child-escape,child-model,child-task,end-of,held,held-hooks,make-up,resume}',
  'agents/{spawn-news,strays,trees-read}',
  'agents/{delivery-proof,delivery-records,delivery-recovery,delivery-text}',
  'agents/{workspace-notice,workspace-open,worktree,worktree-end,worktree-include,worktree-settings}',
  'mcp/{status-row,tool-change,tool-output,tool-output-files}',
  'util/{character-classes,diff,embedded-commands,file-type,json-edit,quote-marks,schema-check}',
];

/** An esbuild plugin; `ON_CALL_ENTRY` has to be an entry point named as `ON_CALL`. */
export function functionsOnCall() {
  const modules = modulesOnCall();
  const keys = new Map([...modules.keys()].map((file, index) => [file, index]));
  return {
    name: 'on-call',
    setup(api) {
      api.onResolve({ filter: /^on-call:/ }, ({ path: asked }) => ({
        path: asked,
        namespace: 'on-call',
      }));
      api.onResolve(
        { filter: /^\.\.?\// },
        ({ path: asked, resolveDir, importer, kind, namespace }) => {
          if (namespace === 'stand-in') return { path: asked, external: true };
          const file = path.join(resolveDir, asked.replace(/\.js$/, '.ts'));
          const isOutside = kind === 'import-statement' && !modules.has(importer);
          return isOutside && namespace === 'file' && modules.has(file)
            ? { path: file, namespace: 'stand-in', sideEffects: false }
            : undefined;
        },
      );
      api.onLoad({ filter: /.*/, namespace: 'on-call' }, () => ({
        contents: [...modules].map(([file, names]) => exportsOf(file, names)).join('\n'),
        resolveDir: ROOT,
      }));
      api.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path: file }) => ({
        contents: modules
          .get(file)
          .map((name) => standIn(name, keys.get(file)))
          .join('\n'),
        resolveDir: ROOT,
      }));
      const exportsOf = (file, names) => {
        const renamed = names.map((name) => `${name} as ${name}_${keys.get(file)}`);
        return `export { ${renamed.join()} } from ${JSON.stringify(file)};`;
      };
    },
  };
}

/** Puts the real one in its own place: whoever calls it by its name later calls that without a step between. */
function standIn(name, key) {
  return `export let ${name} = (...given) => {
    ${name} = require(${JSON.stringify(ON_CALL)}).${name}_${key};
    return ${name}(...given);
  };`;
}

/** By file the names of its functions. */
function modulesOnCall() {
  const isPlace = new RegExp(`^src/(?:${PLACES.map(patternOf).join('|')})\\.ts$`);
  const files = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name.split(path.sep).join('/')}`)
    .filter((name) => !name.endsWith('.test.ts') && isPlace.test(name));
  const found = files.sort().map((name) => {
    const file = path.join(ROOT, name);
    return [file, functionsIn(readFileSync(file, 'utf8'))];
  });
  return new Map(found.filter(([, names]) => names.length > 0));
}

/** Of `*` and `{one,other}`. */
function patternOf(place) {
  const within = (text) => text.replaceAll('*', '[^/]*');
  return within(place).replace(/\{(.*)\}/, (_, names) => `(?:${names.replaceAll(',', '|')})`);
}

/** None where anything else is exported, types excepted. */
function functionsIn(text) {
  const names = [];
  for (const [, what] of text.matchAll(/^export (?!type |interface )(.*)/gm)) {
    const name = /^(?:async )?function\*? (\w+)/.exec(what)?.[1];
    if (name === undefined) return [];
    names.push(name);
  }
  return [...new Set(names)];
}
