import { configReport } from '../project/config.js';
import { openProjectPolicy, type PolicyDecision } from '../project/policy/policy.js';
import { parseCall } from '../project/policy/policy-call.js';
import { recordedCalls } from '../project/policy/recorded-calls.js';
import { type Replay, replayCalls } from '../project/policy/replay.js';
import type { Project } from '../project/project.js';
import { PERMISSION_MODES } from '../protocol/permissions.js';
import { type Environment, withProject } from './project.js';

/** A rule of a settings file, and whether it has an effect. */
export interface RuleRow {
  readonly list: 'deny' | 'ask' | 'allow';
  readonly rule: string;
  readonly source: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly state: 'in force' | 'shadowed' | 'dead' | 'not in force';
  readonly why?: string | undefined;
}

const MOST_CALLS = 5_000;

/** Decides a call as a session in the folder would. Nothing runs, and no question is asked. */
export async function explainCall(
  env: Environment,
  asked: {
    readonly cwd: string;
    readonly call: string | Readonly<Record<string, unknown>>;
    readonly agent?: string | undefined;
    readonly mode?: string | undefined;
  },
): Promise<PolicyDecision> {
  const text = typeof asked.call === 'string' ? asked.call : JSON.stringify(asked.call);
  return await withProject(env, asked.cwd, async (project) => {
    const evaluate = await openProjectPolicy(project, { hooks: false, warn: () => undefined });
    return await evaluate({
      ...parseCall(text),
      cwd: project.cwd,
      mode: PERMISSION_MODES.find((one) => one === asked.mode),
      agent: asked.agent === '' ? undefined : asked.agent,
    });
  });
}

export async function listRules(env: Environment, cwd: string) {
  return await withProject(env, cwd, async (project) => {
    const { settings, problems, starts } = await configReport(project);
    const rows = (['deny', 'ask', 'allow'] as const).flatMap((list) => {
      const key = settings.find((one) => one.key === `permissions.${list}`);
      return (key?.values ?? []).map(({ value, source, file, line, standing, why }): RuleRow => {
        const problem = problems.find(
          (one) => one.file === file && one.message.includes(String(value)),
        );
        const state =
          standing === 'in force' ? (problem === undefined ? 'in force' : 'dead') : 'not in force';
        const reason =
          problem?.message ??
          why ??
          (standing === 'untrusted'
            ? 'the folder is not trusted'
            : standing === 'in force'
              ? undefined
              : standing);
        return { list, rule: String(value), source, file, line, state, why: reason };
      });
    });
    return { rules: rows.map((row) => shadowed(row, rows)), starts };
  });
}

/** Marks a rule that never decides because a stricter one covers the same calls, or all calls of its tool. */
function shadowed(row: RuleRow, all: readonly RuleRow[]): RuleRow {
  const rank = { deny: 2, ask: 1, allow: 0 } as const;
  const tool = row.rule.split('(')[0];
  const by = all.find(
    (other) =>
      other.state === 'in force' &&
      rank[other.list] > rank[row.list] &&
      (other.rule === row.rule || other.rule === tool),
  );
  if (row.state !== 'in force' || by === undefined) return row;
  const place = by.file === undefined ? by.source : `${by.file}:${by.line ?? 1}`;
  return { ...row, state: 'shadowed', why: `${by.list} ${by.rule} (${place}) comes first` };
}

/** Evaluates recorded calls again, with `settings` on top of those in force. */
export async function replayPolicy(
  env: Environment,
  asked: {
    readonly cwd: string;
    /** JSON of a settings file. */
    readonly settings?: string | undefined;
  },
): Promise<Replay> {
  const { cwd, settings } = asked;
  const replay = async (project: Project): Promise<Replay> => {
    const calls = await recordedCalls(project);
    const evaluate = await openProjectPolicy(project, { hooks: false, warn: () => undefined });
    return await replayCalls(calls.slice(-MOST_CALLS), evaluate);
  };
  return await withProject(env, cwd, replay, settings?.trim() || undefined);
}
