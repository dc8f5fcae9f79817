import type { Hook } from '../../hooks/registry/hook.js';
import { type CommandLaunch, commandLaunch } from '../../hooks/runners/command.js';
import { displayPath, findRepositoryRoot } from '../../platform/fs/paths.js';
import { hostFacts } from '../../platform/host.js';
import { findProgram } from '../find-program.js';
import { openHookTestHost, type ProbedHook, probeFailed } from '../hooks/hook-test.js';
import { listProjectHooks, type SkippedHook } from '../hooks/hooks-list.js';
import type { Project } from '../project.js';
import { type AreaCheck, type DoctorCheck, ok, problem, warning } from './report.js';
import { configChecks, counted } from './settings.js';

/** Checks that the program of each hook exists; with `run`, that each guard answers. */
export const checkHooks: AreaCheck = async (project, { run, signal }) => {
  const { cwd } = project;
  const { skipped, problems } = await listProjectHooks(project);
  const found = await programChecks(project);
  const checks = [
    ...configChecks(
      problems.filter(({ topic }) => topic === 'hooks'),
      cwd,
    ),
    ...skippedChecks(skipped, cwd),
    ...found,
  ];
  if (checks.length === 0) return [ok('No hooks.')];
  if (!run) return checks;
  const host = await openHookTestHost(project, () => undefined);
  const { probed } = await host.probe({ all: false, signal });
  return [...checks, ...probed.map(probeCheck)];
};

/** One check for each reason, as a whole folder may be held back by one. */
function skippedChecks(skipped: readonly SkippedHook[], cwd: string): readonly DoctorCheck[] {
  return [...new Set(skipped.map(({ why }) => why))].map((reason) => {
    const some = skipped.filter(({ why }) => why === reason);
    const places = [...new Set(some.map(({ origin }) => displayPath(origin, cwd)))];
    const more = places.length > MAX_PLACES ? ', …' : '';
    const where = `${places.slice(0, MAX_PLACES).join(', ')}${more}`;
    return warning(`${counted(some.length, 'hook')} not asked: ${reason} (${where})`, LIST);
  });
}

const MAX_PLACES = 3;
const LIST = 'portcullis hooks list shows every hook.';

function probeCheck(probed: ProbedHook): DoctorCheck {
  const { hook, ms, failure, complaint } = probed;
  const name = `${hook.event} ${hook.label}`;
  if (!probeFailed(probed)) return ok(`${name} answered in ${Math.round(ms)} ms.`);
  const why = failure?.message ?? complaint ?? 'it gave no verdict';
  return problem(
    `${name} gave no verdict: ${why}`,
    `Try it with: portcullis hooks test ${hook.event}`,
  );
}

async function programChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const { cwd } = project;
  const { env } = await project.settings();
  const set = await project.hooks();
  const context = {
    env,
    projectDir: findRepositoryRoot(cwd) ?? cwd,
    sessionId: 'doctor',
    platform: hostFacts().os,
  };
  const checks: DoctorCheck[] = [];
  for (const { hook, broken } of Object.values(set.hooks).flat()) {
    const { handler, event } = hook;
    const name = `${event} ${hook.label}`;
    if (broken !== undefined) {
      checks.push(problem(`${name} can only fail: ${broken.message}`, LIST));
      continue;
    }
    const started =
      handler.type === 'command' ? commandLaunch(context, handler, { cwd }) : undefined;
    if (started?.ok === false) checks.push(problem(`${name}: ${started.error}`, LIST));
    else if (started === undefined) checks.push(ok(name));
    else checks.push(await programCheck(project, hook, { name, started: started.value }));
  }
  return checks;
}

async function programCheck(
  { cwd, places }: Project,
  hook: Hook,
  { name, started }: { readonly name: string; readonly started: CommandLaunch },
): Promise<DoctorCheck> {
  const { handler } = hook;
  const isShell = handler.type === 'command' && handler.args === undefined;
  const host = { fs: places.fs, isWindows: hostFacts().os === 'win32' };
  const where = { path: started.env.PATH, cwd };
  const words = isShell
    ? shellWords(handler.command, started.env)
    : [started.command, ...started.args];
  const [program = '', script] = words;
  if (isShell && (program === '' || SHELL_WORDS.has(program))) return ok(name);
  const found = await findProgram(host, program, where);
  if (found.kind === 'missing') {
    return problem(`${name}: ${program} was not found.`, 'Install it, or correct the command.');
  }
  if (found.kind === 'not executable') {
    return problem(`${name}: ${program} is not executable.`, `Run: chmod +x ${found.file}`);
  }
  if (script === undefined || !INTERPRETERS.test(program) || !/[./]/.test(script)) return ok(name);
  const file = await findProgram(host, script.includes('/') ? script : `./${script}`, where);
  return file.kind === 'missing' && !script.startsWith('-')
    ? problem(`${name}: ${script} was not found.`, 'Correct the command, or add the file.')
    : ok(name);
}

const INTERPRETERS =
  /(?:^|\/)(?:ba|z|da|k)?sh$|(?:^|\/)(?:node|bun|deno|ruby|perl|php|python[\d.]*)$/;

/** Words that a shell runs itself. */
const SHELL_WORDS: ReadonlySet<string> = new Set(
  `! . : [ [[ alias break case cd command continue declare echo eval exec exit export false for function
  getopts hash if let local printf pwd read readonly return set shift source test time times trap true type
  ulimit umask unset until wait while {`.split(/\s+/),
);

/**
 * The first two words of a shell command, with its variables filled in. Empty where it begins with
 * something else than a plain word: only a shell could tell what that runs.
 */
function shellWords(command: string, env: Readonly<Record<string, string>>): readonly string[] {
  const words: string[] = [];
  const word = /^\s*((?:"[^"]*"|'[^']*'|[^\s;|&<>()"'])+)/;
  let rest = command;
  for (let match = word.exec(rest); match !== null && words.length < 2; match = word.exec(rest)) {
    const text = (match[1] ?? '')
      .replace(/["']/g, '')
      .replace(/\$\{?(\w+)\}?/g, (whole, name: string) => env[name] ?? whole);
    if (/[$`=*?\\]/.test(text) || text.startsWith('~')) break;
    words.push(text);
    rest = rest.slice(match[0].length);
  }
  return words;
}
