import { head } from '../../lib/text/truncate.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, dirname, displayPath } from '../../platform/fs/paths.js';
import type { ProcessResult, ProcessSupervisor } from '../../platform/process/process.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { missingFile, targetPath } from '../files/file-target.js';
import { boundText, failure, failureFrom, spillInto } from '../output.js';
import type { Tool, ToolContext, ToolOutput } from '../tool.js';
import description from './grep.md';
import { excludingGlobs } from './grep-hidden.js';
import { fileArguments, type GrepReport, grepReport, searchArguments } from './grep-report.js';

type GrepInput = ToolInputs['Grep'];

export function grepTool(deps: RipgrepDeps): Tool<GrepInput> {
  return defineTool({
    name: 'Grep',
    kind: 'read',
    description,
    subject: (input, workspace) => {
      const path = targetPath(input.path ?? '.', workspace);
      return {
        paths: [{ path, access: 'read' }],
        summary: `Grep ${input.pattern} in ${displayPath(path, workspace.cwd)}`,
      };
    },
    concurrencySafe: () => true,
    run: (input, context) => grep(deps, input, context).catch(failureFrom),
  });
}

const ERROR_CHARS = 2000;

async function grep(
  deps: RipgrepDeps,
  input: GrepInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const path = targetPath(input.path ?? '.', context.workspace);
  const stat = await deps.fs.stat(path);
  if (stat === undefined) return failure(await missingFile(deps.fs, path));
  const isDirectory = stat.kind === 'directory';
  if (!isDirectory && stat.kind !== 'file') {
    return failure(`${path} is a device, pipe or socket, not a file or a directory.`);
  }
  const isHidden = context.hiding?.();
  if (!isDirectory && (await isHidden?.(path)) === true) {
    return failure(`A rule keeps ${path} from being searched.`);
  }
  // Started where it searches: that is what the globs are relative to.
  const searched = isDirectory ? path : dirname(path);
  const call = { cwd: searched, signal: context.signal };
  const which = fileArguments(input, path);
  const target = ['--', isDirectory ? '.' : `./${basename(path)}`];
  if (isDirectory && isHidden !== undefined) {
    const listed = await runRipgrep(deps, { ...call, args: [...which, '--files', ...target] });
    context.signal.throwIfAborted();
    const isPart = listed.timedOut || listed.truncated;
    const trouble = isPart ? undefined : whatWentWrong(listed);
    if (trouble !== undefined) return failure(trouble);
    const files = listed.stdout.split('\0').filter((file) => file !== '');
    const names = files.map((file) => file.replace(/^\.[/\\]/, ''));
    const globs = isPart
      ? undefined
      : await excludingGlobs({ files: names, directory: path, isHidden, signal: context.signal });
    // fail-closed: a file that could not be checked against the rules may be one that they deny.
    if (globs === undefined) {
      return failure(
        'There are too many files to check against the permission rules. Narrow the search with path, glob or type.',
      );
    }
    which.push(...globs);
  }
  const result = await runRipgrep(deps, {
    ...call,
    args: [...which, ...searchArguments(input), ...target],
  });
  context.signal.throwIfAborted();
  const trouble = whatWentWrong(result);
  if (trouble !== undefined) return failure(trouble);
  const report = await grepReport(deps.fs, {
    input,
    searched,
    cwd: context.workspace.cwd,
    output: result.stdout,
    isCut: result.truncated || result.timedOut,
  });
  return answer(deps, context, { report, result });
}

/** Exit code 1 means that nothing matched. 2 comes also when only some files could not be read. */
function whatWentWrong(result: ProcessResult): string | undefined {
  if (result.startError !== undefined) {
    return `ripgrep could not be started: ${result.startError}. Reinstall the package with its optional dependencies, or install \`rg\`.`;
  }
  if (result.timedOut) {
    return result.stdout === ''
      ? 'The search took over 20 s and found nothing so far. Narrow it with path, glob or type.'
      : undefined;
  }
  if (result.exitCode === 0 || result.exitCode === 1) return undefined;
  if (result.exitCode === 2 && result.stdout !== '') return undefined;
  const reason = result.stderr.trim() || `it ended by signal ${result.signal}`;
  return `ripgrep failed: ${head(reason, ERROR_CHARS)}`;
}

async function answer(
  deps: RipgrepDeps,
  context: ToolContext,
  found: { report: GrepReport; result: ProcessResult },
): Promise<ToolOutput> {
  const { report, result } = found;
  const notes = [
    ...report.notes,
    ...(result.timedOut ? ['Stopped after 20 s; there may be more matches.'] : []),
    ...(result.truncated ? ['Too many matches; the search was cut. Narrow it.'] : []),
    ...(result.exitCode === 2 ? [`Not all was searched: ${head(result.stderr.trim(), 500)}`] : []),
  ];
  const text = [report.text, ...notes.map((note) => `[${note}]`)].join('\n');
  const files: string[] = [];
  const where = { directory: context.spillDirectory, name: `grep-${context.toolUseId}` };
  return {
    content: await boundText(text, { spill: spillInto(deps.fs, where, files) }),
    files: files.length === 0 ? undefined : files,
    structured: { ...report.structured, ...(result.timedOut ? { timedOut: true } : {}) },
  };
}

interface RipgrepDeps {
  readonly fs: FileSystem;
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  /** Environment of the child; `PATH` finds an installed `rg` when none came with the package. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs ripgrep without a shell, its configuration file or a way to write. */
export async function runRipgrep(
  deps: RipgrepDeps,
  call: { args: readonly string[]; cwd: string; signal: AbortSignal },
): Promise<ProcessResult> {
  return deps.processes.run({
    command: await ripgrepProgram(deps.fs),
    args: ['--no-config', '--color=never', ...call.args],
    cwd: call.cwd,
    env: deps.env ?? {},
    timeoutMs: DEADLINE_MS,
    signal: call.signal,
    maxOutputBytes: OUTPUT_BYTES,
    label: 'rg',
  });
}

const DEADLINE_MS = 20_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;

/** The program that came with the package, else whatever `rg` the path finds. */
export async function ripgrepProgram(fs: FileSystem): Promise<string> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    if ((await fs.stat(rgPath)) !== undefined) return rgPath;
  } catch {
    // The package has no program for this platform; an installed one will do.
  }
  return 'rg';
}
