import { PortcullisError } from '../../errors.js';
import { editedText, type SettingsList } from '../../permissions/grants/settings-file.js';
import { displayPath, isInside, join } from '../../platform/fs/paths.js';
import { openProjectPolicy } from '../policy/policy.js';
import { parseCall } from '../policy/policy-call.js';
import { POLICY_TEST_NAMES } from '../policy/policy-tests.js';
import { openProject, type Project, type ProjectPlaces } from '../project.js';
import { firstInstructions, policyTestTable } from './first-files.js';
import { firstPolicy, type PolicyCase } from './first-policy.js';
import { detectRepository, type Repository } from './repository.js';

/** A file that init would write. */
export interface PlannedFile {
  readonly file: string;
  /** What is there now; undefined: nothing. */
  readonly before?: string | undefined;
  readonly text: string;
}

/** What init would write, and what it leaves alone. */
export interface InitPlan {
  readonly repository: Repository;
  readonly files: readonly PlannedFile[];
  /** Rules that init adds to the settings. */
  readonly rules: readonly { readonly list: SettingsList; readonly rule: string }[];
  /** Files and rules that are left as they are, and why, a sentence each. */
  readonly kept: readonly string[];
}

/** Plans a first instruction file and a first policy for a directory. Writes nothing. */
export async function planInit(project: Project): Promise<InitPlan> {
  const { places, cwd } = project;
  const repository = await detectRepository(places.fs, cwd);
  const kept: string[] = [];
  const instructions = await planInstructions(places, repository, kept);
  const policy = await planPolicy(project, repository, kept);
  return { repository, files: [...instructions, ...policy.files], rules: policy.rules, kept };
}

/** Writes the planned files. A file that appeared or changed since is left alone, with an error. */
export async function writePlan({ fs, cwd }: ProjectPlaces, plan: InitPlan): Promise<void> {
  for (const { file, before, text } of plan.files) {
    const now = await currentText({ fs, cwd }, file);
    if (now.kind === 'other' || now.text !== before) {
      throw new PortcullisError('io', `${displayPath(file, cwd)} has changed meanwhile`, {
        remedy: 'run portcullis init again',
      });
    }
    await fs.writeAtomic(file, text, { mode: 0o644 });
  }
}

type Current =
  | { readonly kind: 'file'; readonly text: string | undefined }
  | { readonly kind: 'other'; readonly why: string; readonly text?: undefined };

/** fail-closed: what is no plain file inside the directory could lead a write elsewhere. */
async function currentText(
  { fs, cwd }: Pick<ProjectPlaces, 'fs' | 'cwd'>,
  file: string,
): Promise<Current> {
  const real = await fs.realPath(file);
  if (!isInside(real, await fs.realPath(cwd))) return { kind: 'other', why: `it leads to ${real}` };
  const stat = await fs.lstat(file);
  if (stat === undefined) return { kind: 'file', text: undefined };
  if (stat.kind !== 'file') return { kind: 'other', why: `it is a ${stat.kind}` };
  return { kind: 'file', text: await fs.readText(file) };
}

async function planInstructions(
  places: ProjectPlaces,
  repository: Repository,
  kept: string[],
): Promise<readonly PlannedFile[]> {
  const { cwd, fs } = places;
  const isThere = async (name: string): Promise<boolean> =>
    (await fs.lstat(join(cwd, name))) !== undefined;
  for (const name of ['CLAUDE.md', '.claude/CLAUDE.md']) {
    if (!(await isThere(name))) continue;
    kept.push(`${name} exists and is left as it is.`);
    return [];
  }
  const include = { file: join(cwd, 'CLAUDE.md'), text: '@AGENTS.md\n' };
  if (await isThere('AGENTS.md')) {
    kept.push('AGENTS.md exists and is left as it is.');
    return [include];
  }
  return [{ file: join(cwd, 'AGENTS.md'), text: firstInstructions(repository) }, include];
}

async function planPolicy(
  project: Project,
  repository: Repository,
  kept: string[],
): Promise<Pick<InitPlan, 'files' | 'rules'>> {
  const { places, cwd } = project;
  const nothing = { files: [], rules: [] };
  const file = join(cwd, '.claude', 'settings.json');
  const current = await currentText(places, file);
  if (current.kind === 'other') {
    kept.push(`.claude/settings.json is left as it is: ${current.why}.`);
    return nothing;
  }
  const before = current.text;
  const wanted = firstPolicy(repository);
  const proposed = withRules(before, wanted);
  if (typeof proposed !== 'string') {
    kept.push(`.claude/settings.json is left as it is: ${proposed.error}.`);
    return nothing;
  }
  const conflictOf = await conflictFinder(project, wanted);
  const cases: PolicyCase[] = [];
  for (const one of wanted) {
    const conflict = await conflictOf(one);
    if (conflict === undefined) cases.push(one);
    else if (one.rule !== undefined)
      kept.push(`Not added: ${one.list} ${one.rule}, because ${conflict}.`);
  }
  const text = withRules(before, cases);
  if (typeof text !== 'string') return nothing;
  const old = before ?? '';
  const rules = cases.flatMap(({ list, rule }) =>
    rule === undefined || old.includes(JSON.stringify(rule)) ? [] : [{ list, rule }],
  );
  const files: PlannedFile[] = text === before ? [] : [{ file, before, text }];
  const names = await Promise.all(
    POLICY_TEST_NAMES.map(async (name) => ({
      name,
      stat: await places.fs.lstat(join(cwd, '.claude', name)),
    })),
  );
  const tests = names.find(({ stat }) => stat !== undefined);
  if (tests !== undefined) kept.push(`.claude/${tests.name} exists and is left as it is.`);
  else
    files.push({ file: join(cwd, '.claude', POLICY_TEST_NAMES[0]), text: policyTestTable(cases) });
  return { files, rules };
}

const LISTS = ['allow', 'ask', 'deny'] as const;

function rulesOf(cases: readonly PolicyCase[], list: PolicyCase['list']): readonly string[] {
  return [...new Set(cases.flatMap((one) => (one.list === list ? (one.rule ?? []) : [])))];
}

/** The settings with the rules added, every other byte as it was. */
function withRules(
  before: string | undefined,
  cases: readonly PolicyCase[],
): string | { readonly error: string } {
  let text = before === undefined || before.trim() === '' ? '{}\n' : before;
  for (const list of LISTS) {
    const edited = editedText(text, { kind: 'add', list, items: rulesOf(cases, list) });
    if (!edited.ok) return edited;
    text = edited.value;
  }
  return text;
}

/** Tells what decides a case differently from what its rule is for, with the wanted rules on top. */
async function conflictFinder(
  { cwd, places }: Project,
  wanted: readonly PolicyCase[],
): Promise<(one: PolicyCase) => Promise<string | undefined>> {
  const permissions = Object.fromEntries(LISTS.map((list) => [list, rulesOf(wanted, list)]));
  const settings = JSON.stringify({ permissions });
  const project = openProject(cwd, { env: places.env, settings, trust: 'given' });
  const evaluate = await openProjectPolicy(project, { hooks: false, warn: () => undefined });
  return async ({ calls, list }) => {
    for (const call of calls) {
      const { decision, rule, reason } = await evaluate({ ...parseCall(call), cwd });
      if (decision === list) continue;
      return `${call} is ${DECIDED[decision]}: ${(rule ?? reason).replaceAll(`${cwd}/`, '')}`;
    }
    return undefined;
  };
}

const DECIDED = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;
