import { PortcullisError } from '../../errors.js';
import { originOf } from '../../lib/sourced.js';
import { displayPath } from '../../platform/fs/paths.js';
import { summary } from '../../settings/trust/messages.js';
import { configReport } from '../config.js';
import { modelStatus, tryConfiguredModel } from '../model-setup.js';
import { createPolicyEvaluator } from '../policy/policy.js';
import { parseCall, type ToolCall } from '../policy/policy-call.js';
import type { Project } from '../project.js';
import type { ConfigProblem } from '../settings.js';
import { type AreaCheck, type DoctorCheck, ok, problem, warning } from './report.js';

const TRY_MS = 60_000;

/** Checks that a model is configured, and with `online` that it answers. Never prints a key. */
export const checkModel: AreaCheck = async (project, { online, signal }) => {
  const { env, settings } = await project.settings();
  const asked = settings.model?.value;
  const status = modelStatus(env, asked);
  if (!status.configured) {
    const remedy = status.remedy ?? 'Run portcullis setup.';
    return [problem('No model is configured, so no session can start.', remedy)];
  }
  const { provider, model, source, method, baseUrl } = status;
  const from = source === 'stored' ? 'stored by portcullis setup' : 'from the environment';
  const at = baseUrl === undefined ? provider : `${provider} at ${baseUrl}`;
  const parts = [at, model ?? 'default model', METHODS[method]].filter((one) => one !== undefined);
  const configured = ok(`${parts.join(', ')} (${from})`);
  if (!online || provider === 'scripted') return [configured];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]);
  const tried = await tryConfiguredModel(env, limit, asked);
  if (tried.ok) return [configured, ok(`${tried.value.model} answered.`)];
  const [why, remedy = 'Run portcullis setup.'] = tried.error.split(' · ');
  return [configured, problem(`The model does not answer: ${why}`, remedy)];
};

const METHODS = { api_key: 'with a key', auth_token: 'with a token', none: undefined } as const;

/** Checks the settings files of every level, and the permission rules in them. */
export const checkSettings: AreaCheck = async (project) => {
  const { cwd } = project;
  const { files, problems, starts } = await configReport(project);
  const read = files.filter(({ state }) => state === 'read');
  const isOfSettings = ({ topic }: ConfigProblem): boolean => topic === undefined;
  const notes = problems.filter((one) => one.severity === 'note').length;
  return [
    ...read.map(({ source, path }) => ok(`${source} settings: ${displayPath(path, cwd)}`)),
    ...(files.every(({ state }) => state === 'not there' || state === 'directory')
      ? [ok('No settings files; the defaults apply.')]
      : []),
    ...configChecks(problems.filter(isOfSettings), cwd),
    ...(starts ? await ruleChecks(project) : []),
    ...(notes === 0 ? [] : [ok(`${counted(notes, 'note')} (portcullis config shows them)`)]),
  ];
};

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Problems of configuration as checks; notes describe what works as designed and are left out. */
export function configChecks(
  problems: readonly ConfigProblem[],
  cwd: string,
): readonly DoctorCheck[] {
  return problems.flatMap(({ severity, file, line, message, remedy }) => {
    if (severity === 'note') return [];
    const where = file === undefined ? '' : `${displayPath(file, cwd)}${line ? `:${line}` : ''}: `;
    return [(severity === 'fatal' ? problem : warning)(`${where}${message}`, remedy)];
  });
}

/** Rules that never decide, because a stricter rule decides first whatever they match. */
async function ruleChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const { cwd, places } = project;
  const loaded = await project.settings();
  const { allow, ask } = loaded.settings.permissions;
  const evaluator = await createPolicyEvaluator(places.env);
  const checks: DoctorCheck[] = [];
  for (const [list, rules] of Object.entries({ allow, ask })) {
    for (const rule of rules) {
      const call = exampleCall(rule.value.text);
      if (call === undefined) continue;
      const decided = await evaluator.evaluate({ ...call, cwd }, loaded).catch(ignoreUsage);
      const stricter = list === 'allow' ? ['ask', 'deny'] : ['deny'];
      const isShadowed = decided !== undefined && stricter.includes(decided.decision);
      if (!isShadowed || decided.rule === undefined) continue;
      const place = displayPath(originOf(rule), cwd);
      checks.push(
        warning(
          `${place}: the ${list} rule ${rule.value.text} has no effect: ${decided.rule.replaceAll(`${cwd}/`, '')} comes first.`,
          'Remove one of the two rules.',
        ),
      );
    }
  }
  return checks;
}

/** A call that a rule matches: its wildcards are filled in. Undefined: the rule is not about one call. */
function exampleCall(rule: string): ToolCall | undefined {
  const text = rule.replace(/:\*\)$/, ' x)').replace(/\*+/g, 'x');
  try {
    return /\(.+\)$/.test(text) ? parseCall(text) : undefined;
  } catch (thrown) {
    return ignoreUsage(thrown);
  }
}

/** A rule that names no call here is judged by the check of the settings. */
function ignoreUsage(thrown: unknown): undefined {
  if (thrown instanceof PortcullisError && thrown.code === 'usage') return undefined;
  throw thrown;
}

/** Checks whether a person trusts this folder, and what is new or changed since. */
export const checkTrust: AreaCheck = async ({ folderTrust }) => {
  const { verdict, pending, declarations, root } = await folderTrust.check();
  switch (verdict) {
    case 'nothing':
      return [ok('Nothing in this folder needs trust.')];
    case 'trusted':
      return [ok(`This folder is trusted: ${summary({ declarations, root })}`)];
    case 'never':
      return [
        warning(`This folder is not trusted. Off: ${summary({ declarations, root })}`, REVIEW),
      ];
    case 'changed': {
      const was = (what: 'new' | 'changed'): readonly DoctorCheck[] => {
        const some = pending.flatMap((one) => (one.was === what ? one.declaration : []));
        const text = `${what} since the folder was trusted: ${summary({ declarations: some, root })}`;
        return some.length === 0 ? [] : [warning(`Off, because ${text}`, REVIEW)];
      };
      return [...was('new'), ...was('changed')];
    }
  }
};

const REVIEW = 'Review and approve them with: portcullis trust';
