import { head, sliceWhole } from '../../lib/text/truncate.js';
import type { Permit } from '../../permissions/gate/permit.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import type {
  ChildOwner,
  ProcessResult,
  ProcessSupervisor,
} from '../../platform/process/process.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { WriteLedger } from '../files/write-ledger.js';
import type { Tool, ToolContext, ToolOutput, Workspace } from '../tool.js';
import description from './bash.md';
import { bashResult, presentBash, type SavedOutput } from './bash-result.js';
import { type BackgroundShells, shellProgram } from './shells.js';

export interface BashLimits {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Characters of output that are shown whole. */
  readonly inlineCharacters: number;
}

export interface BashDeps {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly shells: BackgroundShells;
  readonly fs: Pick<FileSystem, 'stat' | 'realPath' | 'writeAtomic'>;
  /** The shell's whole environment; see `shellEnvironment`. Asked for each command. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly limits?: BashLimits;
  /** Where it is written down whose command ran when. */
  readonly ledger?: WriteLedger;
  /** Why this very call runs outside of the sandbox; undefined: inside, where there is one. */
  outside?(toolUseId: string, input: BashInput): string | undefined;
}

type BashInput = ToolInputs['Bash'];

const MAX_SPILL_BYTES = 64 * 1024 * 1024;
const PROGRESS_EVERY_MS = 1000;

export function bashTool(deps: BashDeps): Tool<BashInput> {
  const runner = new BashRunner(deps);
  return defineTool({
    name: 'Bash',
    kind: 'execute',
    description,
    subject: (input) => ({
      paths: [],
      command: input.command,
      summary: sliceWhole(input.command, 0, 80),
    }),
    concurrencySafe: (input) => (input.run_in_background === true ? false : 'if-read-only'),
    run: (input, context, permit) => runner.run(input, context, permit),
    present: presentBash,
  });
}

/** Limits with what the environment says about them; a value that is not a positive number is passed over. */
export function bashLimits(env: Readonly<Record<string, string | undefined>>): BashLimits {
  const defaultTimeoutMs = positive(env.BASH_DEFAULT_TIMEOUT_MS) ?? 120_000;
  return {
    defaultTimeoutMs,
    maxTimeoutMs: Math.max(defaultTimeoutMs, positive(env.BASH_MAX_TIMEOUT_MS) ?? 600_000),
    inlineCharacters: Math.min(positive(env.BASH_MAX_OUTPUT_LENGTH) ?? 30_000, 150_000),
  };
}

class BashRunner {
  readonly #deps: BashDeps;
  readonly #limits: BashLimits;
  /** `sh` once it turned out that there is no bash. */
  #shell: 'bash' | 'sh' = 'bash';

  constructor(deps: BashDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? bashLimits({});
  }

  async run(input: BashInput, context: ToolContext, permit: Permit): Promise<ToolOutput> {
    if (input.command.includes('\0')) {
      return failure('The command contains a NUL character, which no shell can be given.');
    }
    if (input.command.trim() === '') return failure('The command is empty.');
    const { command: runs } = permit;
    // fail-closed: without a text that the gate let through nothing runs.
    if (runs === undefined) return failure('The permit names no command.');
    if (input.run_in_background) return this.#startInBackground(input, runs, context);
    const { workspace } = context;
    const { defaultTimeoutMs, maxTimeoutMs, inlineCharacters } = this.#limits;
    const timeoutMs = Math.min(input.timeout || defaultTimeoutMs, maxTimeoutMs);
    const ended = this.#noteRun(context);
    const result = await this.#execute(input, { runs, timeoutMs }, context).finally(ended);
    if (result.startError !== undefined) return this.#notStarted(result.startError, context);
    const notes: string[] = [];
    if (this.#shell === 'sh') notes.push('(run by sh: there is no bash here)');
    if (result.leftRunning)
      notes.push('(processes it started are still running in the background)');
    if (result.fenced !== undefined) notes.push(result.fenced);
    const reset = await followCwd(result.control, workspace, this.#deps.fs);
    if (reset !== undefined) notes.push(reset);
    return bashResult({
      command: input.command,
      result,
      timeoutMs,
      maxTimeoutMs,
      inlineCap: inlineCharacters,
      notes,
      save: (text) => this.#save(text, result, context),
    });
  }

  #noteRun({ agent, toolUseId }: ToolContext): () => void {
    const run = { agent: agent.path, toolUseId };
    return this.#deps.ledger?.commandStarted(run) ?? (() => undefined);
  }

  #ownerOf(input: BashInput, { agent, workspace, toolUseId }: ToolContext): ChildOwner {
    const outside = this.#deps.outside?.(toolUseId, input);
    return { agent, roots: workspace.roots, outside };
  }

  /** `runs`: the command as the gate let it through. */
  async #execute(
    input: BashInput,
    run: { readonly runs: string; readonly timeoutMs: number },
    context: ToolContext,
  ): Promise<ProcessResult> {
    const result = await this.#deps.processes.run({
      ...shellProgram(this.#shell, run.runs, { reportCwd: true }),
      cwd: context.workspace.cwd,
      env: this.#environment(context),
      timeoutMs: run.timeoutMs,
      signal: context.signal,
      mergeStderr: true,
      controlPipe: true,
      // A character takes at most four bytes.
      maxOutputBytes: this.#limits.inlineCharacters * 4,
      spillFile: () => outputFile(context),
      maxSpillBytes: MAX_SPILL_BYTES,
      label: `Bash: ${sliceWhole(input.command, 0, 80)}`,
      onOutput: progressReporter(context),
      owner: this.#ownerOf(input, context),
    });
    if (result.startErrorKind !== 'program-missing' || this.#shell === 'sh') return result;
    this.#shell = 'sh';
    return this.#execute(input, run, context);
  }

  /** `PWD` makes the shell use our name of the directory, even where it is a symbolic link. */
  #environment({ workspace, idempotencyKey }: ToolContext): Record<string, string> {
    return {
      ...this.#deps.environment(),
      PWD: workspace.cwd,
      ...(idempotencyKey !== undefined && { PORTCULLIS_CALL_ID: idempotencyKey }),
    };
  }

  async #notStarted(reason: string, context: ToolContext): Promise<ToolOutput> {
    return failure((await leaveDeletedCwd(context.workspace, this.#deps.fs)) ?? reason);
  }

  async #startInBackground(
    input: BashInput,
    runs: string,
    context: ToolContext,
  ): Promise<ToolOutput> {
    const { cwd } = context.workspace;
    // Never noted as ended: what it changes later is its doing too.
    this.#noteRun(context);
    const started = await this.#deps.shells.start({
      command: input.command,
      runs,
      description: input.description,
      cwd,
      env: this.#environment(context),
      directory: context.spillDirectory(),
      timeoutMs: input.timeout,
      agentId: context.agent.id,
      toolUseId: context.toolUseId,
      owner: this.#ownerOf(input, context),
    });
    if (!started.ok) return this.#notStarted(started.error, context);
    const { id, outputFile: file } = started.value;
    return {
      content: `Running in the background as ${id}. Its output goes to ${file}. You will be told when it ends.`,
      structured: {
        stdout: '',
        stderr: '',
        interrupted: false,
        isImage: false,
        backgroundTaskId: id,
      },
    };
  }

  async #save(
    text: string,
    result: ProcessResult,
    context: ToolContext,
  ): Promise<SavedOutput | undefined> {
    if (result.spilledTo !== undefined) {
      return { path: result.spilledTo, bytes: Math.min(result.outputBytes, MAX_SPILL_BYTES) };
    }
    if (result.truncated) return undefined;
    try {
      const path = outputFile(context);
      await this.#deps.fs.writeAtomic(path, text, { mode: 0o600 });
      return { path, bytes: result.outputBytes };
    } catch {
      // Disk full or not writable: the head and the tail are shown instead.
      return undefined;
    }
  }
}

function failure(content: string): ToolOutput {
  return {
    content,
    isError: true,
    structured: { stdout: '', stderr: content, interrupted: false, isImage: false },
  };
}

/** The id comes from outside; only harmless characters of it become part of a path. */
function outputFile(context: ToolContext): string {
  const name = context.toolUseId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  return join(context.spillDirectory(), `${name}.txt`);
}

/** The latest line of a command that takes a while, once a second. */
function progressReporter(context: ToolContext): (chunk: string) => void {
  let last = performance.now();
  return (chunk) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS) return;
    last = now;
    const line = chunk.trimEnd().split('\n').at(-1)?.trim() ?? '';
    if (line !== '') context.progress(head(line, 200));
  };
}

function positive(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

type Directories = Pick<FileSystem, 'stat' | 'realPath'>;

/**
 * Moves the workspace to the directory that a command ended in (as `pwd -P` wrote it). Stays where it
 * was when that is outside the roots or gone, and returns the sentence that says so.
 */
async function followCwd(
  reported: string,
  workspace: Workspace,
  fs: Directories,
): Promise<string | undefined> {
  const directory = reported.replace(/\n$/, '');
  if (directory === '' || directory === workspace.cwd) return undefined;
  if (directory === (await fs.realPath(workspace.cwd))) return undefined;
  const inside = await spelledInside(directory, workspace.roots, fs);
  const kind = inside === undefined ? undefined : (await fs.stat(inside))?.kind;
  // fail-closed: a directory that is not certainly inside and there is not moved to.
  if (inside === undefined || kind !== 'directory')
    return `Shell cwd was reset to ${workspace.cwd}`;
  workspace.setCwd(inside);
  return undefined;
}

/** For a working directory that has been deleted: moves to the first root that is still there. */
async function leaveDeletedCwd(workspace: Workspace, fs: Directories): Promise<string | undefined> {
  const { cwd } = workspace;
  if ((await fs.stat(cwd))?.kind === 'directory') return undefined;
  for (const root of workspace.roots) {
    if ((await fs.stat(root))?.kind !== 'directory') continue;
    workspace.setCwd(root);
    return `The working directory ${cwd} no longer exists, so the command was not run. Shell cwd was reset to ${root}; run the command again if it makes sense there.`;
  }
  return `The working directory ${cwd} no longer exists, nor does any other directory of the workspace. The command was not run.`;
}

/** The directory by the name its root is known by, which may lead through a symbolic link. */
async function spelledInside(
  directory: string,
  roots: readonly string[],
  fs: Directories,
): Promise<string | undefined> {
  for (const root of roots) {
    const real = await fs.realPath(root);
    if (isInside(directory, real)) return join(root, relative(real, directory));
  }
  return undefined;
}
