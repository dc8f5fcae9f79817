import { join } from '../env/paths.js';
import { messageOf } from '../errors.js';
import { oddHookEvent } from '../protocol/odd-hook-event.js';
import { parseLocatedJson } from '../settings/located-json.js';
import type { ConfigProblem } from '../settings/types.js';
import { isRecord, own } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import { visible } from '../util/visible.js';
import { componentPaths } from './component-paths.js';
import type { Manifest, PluginFiles } from './manifest.js';
import { withPaths } from './placeholders.js';
import type { PluginHooks, PluginPaths, PluginServers } from './plugin.js';

/** A plugin whose manifest is read. */
export interface OpenedPlugin {
  readonly directory: string;
  readonly manifest: Manifest;
  readonly paths: PluginPaths;
  readonly projectDir: string;
  readonly fs: PluginFiles;
}

/** One place where hooks or servers stand. */
interface Part {
  readonly value: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly line?: number;
}

interface Place {
  readonly file: string;
  readonly line: number | undefined;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly problems: readonly ConfigProblem[];
}

const MOST_BYTES = 2 * 1024 * 1024;
/** Values that a person would have had to give, which nobody asks for here. */
const OPTION = /\$\{user_config\./;

/** What `hooks/hooks.json` and the manifest say together. */
export async function hooksOf(plugin: OpenedPlugin): Promise<{
  readonly hooks: readonly PluginHooks[];
  readonly problems: readonly ConfigProblem[];
}> {
  const { parts, problems } = await partsOf('hooks', join('hooks', 'hooks.json'), plugin);
  const found: ConfigProblem[] = [...problems];
  const hooks: PluginHooks[] = [];
  for (const { value, file, line } of parts) {
    const inner = own(value, 'hooks');
    // `{ "description": …, "hooks": { … } }` in a file; the events themselves in a manifest.
    const events = inner === undefined ? value : inner;
    if (OPTION.test(JSON.stringify(events))) found.push(needsOption('a hook', { file, line }));
    found.push(...oddEvents(events, { file, line }));
    hooks.push({ hooks: events, file, ...(line === undefined ? {} : { line }) });
  }
  return { hooks, problems: found };
}

/** Beside the events, for people. */
const WORDS: ReadonlySet<string> = new Set(['description', '$schema']);

/** Names that are no events. fail-closed: a guard that is never asked guards nothing. */
function oddEvents(events: unknown, { file, line }: Place): readonly ConfigProblem[] {
  if (!isRecord(events)) return [];
  return Object.entries(events).flatMap(([name, groups]): ConfigProblem[] => {
    const odd = WORDS.has(name) && typeof groups === 'string' ? undefined : oddHookEvent(name);
    if (odd === undefined) return [];
    const place = { file, ...(line === undefined ? {} : { line }) };
    const lost = `the hooks at "${visible(name)}" never run`;
    const remedy = 'docs/reference/settings.md lists the events.';
    if (odd.kind === 'foreign') {
      const message = `${lost}: it is an event of another program.`;
      return [{ severity: 'warning', ...place, message, remedy }];
    }
    return [
      {
        severity: 'fatal',
        ...place,
        message: `${lost}: there is no such event.`,
        remedy: odd.near === undefined ? remedy : `Did you mean ${odd.near}?`,
      },
    ];
  });
}

/** What `.mcp.json` and the manifest say together, under their full names. */
export async function serversOf(plugin: OpenedPlugin): Promise<{
  readonly servers: readonly PluginServers[];
  readonly problems: readonly ConfigProblem[];
}> {
  const { parts, problems } = await partsOf('mcpServers', '.mcp.json', plugin);
  const found: ConfigProblem[] = [...problems];
  const servers: PluginServers[] = [];
  const taken = new Set<string>();
  for (const { value, file, line } of parts) {
    const table = own(value, 'mcpServers') ?? value;
    if (!isRecord(table)) {
      found.push({
        severity: 'fatal',
        file,
        message: '`mcpServers` is no table of servers.',
        remedy: 'Write { "mcpServers": { "name": { … } } }.',
      });
      continue;
    }
    const entries: [string, unknown][] = [];
    for (const [name, entry] of Object.entries(table)) {
      if (OPTION.test(JSON.stringify(entry))) {
        found.push(needsOption(`the server "${visible(name)}"`, { file, line }));
      }
      if (taken.has(name)) {
        const message = `the plugin has two servers called "${visible(name)}".`;
        found.push({ severity: 'fatal', file, message, remedy: 'Rename one of them.' });
      }
      taken.add(name);
      entries.push([`plugin:${plugin.manifest.name}:${name}`, withPaths(entry, plugin)]);
    }
    servers.push({ servers: Object.fromEntries(entries), file });
  }
  return { servers, problems: found };
}

/** fail-closed: a program that is started with a part of its command missing is another program. */
function needsOption(what: string, { file, line }: Place): ConfigProblem {
  return {
    severity: 'fatal',
    file,
    ...(line === undefined ? {} : { line }),
    message: `${what} needs an option of the plugin (\${user_config.…}), and options are not read here.`,
    remedy: 'Write the value in its place.',
  };
}

/** The usual file, where it is there, and what the manifest names or holds itself. */
async function partsOf(
  field: 'hooks' | 'mcpServers',
  usual: string,
  plugin: OpenedPlugin,
): Promise<Parts> {
  const { manifest, directory, fs } = plugin;
  const named = await componentPaths(field, plugin);
  const problems: ConfigProblem[] = [...named.problems];
  const parts: Part[] = [];
  const file = join(directory, usual);
  const isThere = (await fs.stat(file).catch(() => undefined)) !== undefined;
  const files = new Set([...(isThere ? [await fs.realPath(file)] : []), ...(named.paths ?? [])]);
  for (const one of files) {
    const read = await tableIn(one, fs);
    if (read.ok) parts.push({ value: read.value, file: one });
    else problems.push(read.error);
  }
  const said = manifest.field(field);
  for (const inline of Array.isArray(said) ? said : [said]) {
    if (!isRecord(inline)) continue;
    const line = manifest.lineOf(field);
    parts.push({ value: inline, file: manifest.file, ...(line === undefined ? {} : { line }) });
  }
  return { parts, problems };
}

async function tableIn(
  file: string,
  fs: PluginFiles,
): Promise<Result<Readonly<Record<string, unknown>>, ConfigProblem>> {
  // fail-closed: there may have been a guard in what cannot be read.
  const broken = (message: string, line?: number) =>
    err<ConfigProblem>({
      severity: 'fatal',
      file,
      ...(line === undefined ? {} : { line }),
      message,
      remedy: 'Correct it, or leave the plugin out.',
    });
  try {
    const json = parseLocatedJson(await fs.readText(file, { maxBytes: MOST_BYTES }));
    if (!json.ok) return broken(`it is not valid JSON: ${json.message}.`, json.line);
    return isRecord(json.value) ? ok(json.value) : broken('it is not a JSON object.', 1);
  } catch (thrown) {
    return broken(`it cannot be read: ${messageOf(thrown)}.`);
  }
}
