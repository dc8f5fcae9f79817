import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { compactEnvironment, mayCompact } from '../../context/compaction/trigger.js';
import { addInstruction, instructionFiles } from '../../context/instructions/notes.js';
import { styleNames } from '../../context/prompt/session-style.js';
import { orAbort } from '../../lib/abort.js';
import { err } from '../../lib/result.js';
import { createMcpPrompts } from '../../mcp/resources/prompts.js';
import { relative, toPosix } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { applySettings } from '../../settings/files/host-changes.js';
import { targetPath } from '../../tools/files/file-target.js';
import { versionOf } from '../../tools/files/read-state.js';
import { parseGlob, walk } from '../../tools/search/glob-pattern.js';
import { runRipgrep } from '../../tools/search/grep.js';
import type { CommandRow, HostRequests, TaskOutput } from './host-requests.js';
import type { JoinedParts } from './live-settings.js';
import { fileReader, type OutsideInvoke, outsideInvoke, resourceReader } from './outside-calls.js';
import { typedImage } from './typed-calls.js';

export function openHostRequests(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: JoinedParts,
): HostRequests {
  const { model, toolRuntime, skills, agents, events } = parts;
  const { shells } = toolRuntime.builtins;
  const { instructions, mcp, rules } = parts;
  const shown = { toolRuntime, instructions, shownIn: undefined };
  const judged = outsideInvoke(environment, { ...shown, as: 'host' });
  const invoke: OutsideInvoke = async (...call) => {
    // A host's call follows no model request, beside which the rules would have been refreshed.
    await rules.refreshForHost();
    return await judged(...call);
  };
  const prompts: KnownPrompts = new Map();
  return {
    commands: (how) => commandsOf(parts, prompts, how?.fresh === true),
    onCommands(listener) {
      parts.mcp?.onPrompts(() => {
        prompts.clear();
        listener();
      });
    },
    compactsByItself: () =>
      mayCompact('auto', compactEnvironment(environment.env, environment.settings.values)),
    skills: async () => (await skills.book.offered()).map(({ name }) => name),
    agents: async () =>
      (await agents.book.list()).map(({ name, description, model: wanted, source, file }) => ({
        name,
        description,
        model: wanted,
        source,
        file,
      })),
    outputStyles: () => styleNames(environment),
    setThinking: model.choices.think,
    applySettings: (changes) => applySettings(parts.rules.live, model.choices, changes),
    async updatePermissions(updates) {
      const applied = await toolRuntime.permissions.applyUpdates(updates);
      await parts.rules.refresh();
      return applied;
    },
    async stopTask(id) {
      const task = agents.runtime.roster.find(id);
      if (task === undefined) return (await shells.kill(id)) !== undefined;
      if (task.report() === undefined) agents.runtime.cancel(task, 'person', 'the host stopped it');
      return true;
    },
    stopAgents() {
      for (const task of agents.runtime.roster.running()) {
        if (!task.ref.background) continue;
        agents.runtime.cancel(task, 'person', 'the host interrupted the session');
      }
    },
    async taskOutput(id) {
      const task = agents.runtime.roster.find(id);
      const file = shells.get(id)?.outputFile ?? task?.outputFile;
      if (file === undefined) return undefined;
      const said = task === undefined ? undefined : await agents.talkOf(task);
      return endOf(said ?? (await bytesOf(environment, file)));
    },
    readFile: fileReader(environment, toolRuntime, invoke),
    async callTool({ tool: name, input }, signal) {
      const { pool } = toolRuntime.builtins;
      // A host may call before a server has listed its tools.
      if (pool.resolve(name) === undefined) await mcp?.settle(signal);
      const tool = pool.resolve(name);
      if (tool?.origin === undefined) return err(`no MCP server offers a tool named ${name}`);
      return await invoke(tool, input, { signal, unattended: false });
    },
    async seedRead(path, mtimeMs) {
      const file = targetPath(path, environment.workspace);
      const stat = await environment.fs.stat(file);
      // fail-closed: a file changed since then must be read again before it is edited.
      if (stat?.kind !== 'file' || Math.floor(stat.mtimeMs) > Math.ceil(mtimeMs)) return;
      const bytes = await environment.fs.readBytes(file, { maxBytes: MOST_SEEDED_BYTES });
      toolRuntime.calls.readState.note(await environment.fs.realPath(file), versionOf(stat, bytes));
    },
    readResource: resourceReader(environment, () => mcp?.connections() ?? [], invoke),
    readImage: typedImage(environment, parts),
    projectFiles: (signal) => projectFiles(environment, parts.processes, signal),
    instructionFiles: () => instructionFiles(environment, config.cwd),
    addInstruction: (file, text) =>
      addInstruction(
        environment,
        { book: parts.instructions.book, remind: parts.hooks.pending.remind },
        { file, text },
      ),
    rename: events.rename,
    reloadSkills: events.reloadSkills,
  };
}

const MOST_SEEDED_BYTES = 64 * 1024 * 1024;
const SHOWN_OUTPUT_BYTES = 8 * 1024;
/** How long to wait for servers to list their prompts. */
const PROMPTS_MS = 2_000;

type Prompts = Awaited<ReturnType<ReturnType<typeof createMcpPrompts>['list']>>;

/** Listed prompts, by the set of servers that were asked. */
type KnownPrompts = Map<string, Prompts>;

async function commandsOf(
  { skills, mcp }: JoinedParts,
  known: KnownPrompts,
  fresh: boolean,
): Promise<readonly CommandRow[]> {
  const typed = (await skills.book.offered()).filter(({ head }) => head.userInvocable !== false);
  const rows = typed.map(({ name, head }) => ({
    name,
    description: head.description ?? '',
    argumentHint: head.argumentHint ?? '',
  }));
  const prompts = mcp === undefined ? [] : await promptsOf(mcp, known, fresh);
  const ofServers = prompts.map(({ name, description, arguments: given }) => ({
    name,
    description,
    argumentHint: given.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`)).join(' '),
  }));
  return [...rows, ...ofServers];
}

/**
 * Lists prompts of connected servers only: a list for people starts no server, and repeated calls use
 * the cached answer.
 */
async function promptsOf(
  mcp: NonNullable<JoinedParts['mcp']>,
  known: KnownPrompts,
  fresh: boolean,
): Promise<Prompts> {
  const connected = mcp.connections().filter((one) => one.status().state === 'connected');
  if (connected.length === 0) return [];
  const key = JSON.stringify(connected.map(({ declaration }) => declaration.name));
  const told = fresh ? undefined : known.get(key);
  if (told !== undefined) return told;
  const listing = createMcpPrompts({ connections: () => connected }).list();
  // A late answer is still cached for the next call.
  void listing.then((prompts) => known.set(key, prompts)).catch(() => undefined);
  const late = AbortSignal.timeout(PROMPTS_MS);
  return await orAbort(listing, late).catch((thrown) =>
    late.aborted ? [] : Promise.reject(thrown),
  );
}

async function bytesOf({ fs }: SessionEnvironment, file: string): Promise<Uint8Array> {
  if ((await fs.stat(file)) === undefined) return new Uint8Array();
  return await fs.readBytes(file, { maxBytes: 2 * MOST_SEEDED_BYTES });
}

function endOf(output: string | Uint8Array): TaskOutput {
  const bytes = typeof output === 'string' ? new TextEncoder().encode(output) : output;
  const end = bytes.subarray(Math.max(0, bytes.length - SHOWN_OUTPUT_BYTES));
  return {
    text: new TextDecoder().decode(end),
    totalBytes: bytes.length,
    truncated: end.length < bytes.length,
  };
}

const WALK_MS = 5_000;
const SKIPPED = new Set(['.git', 'node_modules']);

/**
 * File names below the working directory as ripgrep lists them, without ignored files; without ripgrep
 * the tree is walked. They complete a person's input, so no rule is checked.
 */
async function projectFiles(
  { fs, workspace, clock, env }: Pick<SessionEnvironment, 'fs' | 'workspace' | 'clock' | 'env'>,
  processes: Pick<ProcessSupervisor, 'run'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { cwd } = workspace;
  const args = ['--files', '--null', '--hidden', '--no-require-git', '--glob', '!.git', '--', '.'];
  const { startError, stdout } = await runRipgrep(
    { fs, processes, env: { PATH: env.PATH ?? '' } },
    { args, cwd, signal },
  );
  if (startError === undefined) return stdout.split('\0').flatMap(relativeName);
  const over = clock.monotonic() + WALK_MS;
  const isOver = (): boolean => signal.aborted || clock.monotonic() > over;
  const walked = await walk(fs, parseGlob('**'), { root: cwd, skip: SKIPPED, isOver });
  return walked.paths.flatMap((file) => relativeName(relative(cwd, file)));
}

function relativeName(name: string): readonly string[] {
  return name === '' ? [] : [toPosix(name.startsWith('.') ? name.replace(/^\.[/\\]/, '') : name)];
}
