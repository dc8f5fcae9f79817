import { statSync } from 'node:fs';
import { findDefinitions } from '../../agents/definition-find.js';
import { openDefinitionReader } from '../../agents/definition-reader.js';
import { KNOWN_TOOLS } from '../../agents/definition-tools.js';
import type { AgentFinding } from '../../agents/definition-types.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { resolve } from '../../env/paths.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { parseYaml } from '../../util/parse-yaml.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { agentsHere, limitProblems } from './agents-here.js';
import { whereOf } from './agents-text.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis agents validate [paths] [--agents <json|file>] [--json]';

interface Found extends AgentFinding {
  readonly place: string;
}

interface Validated {
  readonly agents: number;
  readonly findings: readonly Found[];
}

/**
 * Names what is wrong with definitions. A path is a file or a directory; without one those are looked
 * at that a session here would have.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['agents'],
  });
  const { agents, findings } = await (words.length > 0
    ? named(words)
    : here(values.get('agents'), output));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (switches.has('json')) {
    output.out(`${JSON.stringify({ agents, findings }, null, 2)}\n`);
  } else {
    const cwd = process.cwd();
    for (const one of findings) {
      const at = whereOf({ place: one.place, line: one.line ?? 1 }, cwd);
      output.out(`${at}: ${one.severity}: ${visible(one.message)}\n`);
    }
    output.out(
      `${agents} ${agents === 1 ? 'agent' : 'agents'}, ${errors} errors, ${findings.length - errors} warnings\n`,
    );
  }
  return errors === 0 ? EXIT.done : EXIT.error;
}

async function here(agents: string | undefined, { warn }: Output): Promise<Validated> {
  const found = await agentsHere({ trust: false, agents, warn });
  const { book } = found;
  const list = (await book.list()).filter(({ source }) => source !== 'builtin');
  const empty: Found[] = [];
  for (const { prompt, file, line } of list) {
    if (file !== undefined) empty.push(...(await promptFindings(prompt, { place: file, line })));
  }
  const findings = [...(await book.problems()), ...limitProblems(list, found), ...empty];
  return { agents: list.length, findings };
}

async function named(words: readonly string[]): Promise<Validated> {
  const reader = openDefinitionReader({ fs: nodeFileSystem, parseYaml, knownTools: KNOWN_TOOLS });
  const findings: Found[] = [];
  let agents = 0;
  for (const place of await filesAt(words, findings)) {
    const read = await reader.read(place);
    if (read.isDocument) continue;
    findings.push(...read.findings.map((finding) => ({ ...finding, place })));
    if (read.fields === undefined) continue;
    agents++;
    const { prompt, contentHash, line, fields } = read;
    const at = line === undefined ? {} : { line };
    const agent = { ...fields, ...at, prompt, contentHash, source: 'user', file: place } as const;
    findings.push(...limitProblems([agent], { cwd: process.cwd() }));
    findings.push(...(await promptFindings(prompt, { place, line })));
  }
  return { agents, findings };
}

async function filesAt(words: readonly string[], findings: Found[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const word of words) {
    const path = resolve(process.cwd(), word);
    const kind = statSync(path, { throwIfNoEntry: false });
    // fail-closed: a path that is not there would pass without having been looked at.
    if (kind === undefined) {
      throw new PortcullisError('usage', `there is nothing at ${visible(word)}`, {
        remedy: `usage: ${USAGE}`,
      });
    }
    if (!kind.isDirectory()) {
      files.push(path);
      continue;
    }
    const found = await findDefinitions(
      { source: 'user', directory: path },
      { fs: nodeFileSystem, homes: { stray: async () => undefined } },
    );
    files.push(...found.files.map(({ file }) => file));
    for (const { file, reason } of found.skipped) {
      findings.push({ severity: 'error', place: file, message: reason });
    }
  }
  return files;
}

async function promptFindings(
  prompt: () => Promise<string>,
  at: { readonly place: string; readonly line: number | undefined },
): Promise<readonly Found[]> {
  const { place, line } = at;
  const found = { place, ...(line === undefined ? {} : { line }) };
  try {
    if ((await prompt()) !== '') return [];
    const message = 'it has no prompt: nothing stands below its head';
    return [{ ...found, severity: 'warning', message }];
  } catch (thrown) {
    return [{ ...found, severity: 'error', message: messageOf(thrown) }];
  }
}
