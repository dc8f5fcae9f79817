import { readFileSync } from 'node:fs';
import { messageOf, PortcullisError } from '../../../errors.js';
import { parseJson } from '../../../lib/json.js';
import { isRecord } from '../../../lib/own.js';
import { visible } from '../../../lib/text/visible.js';
import {
  createPolicyEvaluator,
  openProjectPolicy,
  settingsFromText,
} from '../../../project/policy/policy.js';
import { formatCall, parseCall, type ToolCall } from '../../../project/policy/policy-call.js';
import { recordedCalls } from '../../../project/policy/recorded-calls.js';
import { decideOrSkip, type ReplayedCall, replayCalls } from '../../../project/policy/replay.js';
import type { Project } from '../../../project/project.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { HOOKS_OPTION, skippedHooksText } from '../explain.js';
import {
  JSON_OPTION,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  textOption,
  withProject,
} from '../project-call.js';
import corpus from './policy-corpus.md';

export const diff: CommandSpec = {
  summary: 'Show which calls two settings files decide differently.',
  arguments: [
    { name: '<before>', description: 'A settings file.' },
    { name: '<after>', description: 'The settings file to compare it with.' },
  ],
  options: [JSON_OPTION],
  notes:
    'Compares a built-in list of calls and the calls of recorded sessions here.\nExit code 1: the files differ.',
  run: (call) =>
    withProject(call, async (project) => {
      const { cwd, places } = project;
      const evaluator = await createPolicyEvaluator(places.env);
      const open = async (file: string) => {
        const { text, rules } = readSettings(file);
        const settings = await settingsFromText(text, { file, cwd, env: places.env });
        const evaluate = (one: ToolCall) => evaluator.evaluate({ ...one, cwd }, settings);
        return { rules, decide: (one: ToolCall) => decideOrSkip(() => evaluate(one)) };
      };
      const [a = '', b = ''] = call.args;
      const [before, after] = [await open(a), await open(b)];
      const calls: object[] = [];
      const lines: string[] = [];
      let judged = 0;
      let unasked = 0;
      for (const { call: one, recorded } of await knownCalls(project)) {
        const from = await before.decide(one);
        const to = await after.decide(one);
        if (from === undefined || to === undefined) continue;
        judged++;
        unasked = Math.max(unasked, from.unaskedHooks ?? 0, to.unaskedHooks ?? 0);
        if (from.decision === to.decision) continue;
        const { rule, reason } = to;
        const change = { call: formatCall(one), from: from.decision, to: to.decision };
        calls.push({ ...change, rule, reason, recorded });
        const times = recorded === 1 ? '1 time' : `${recorded} times`;
        const called = recorded === 0 ? '' : ` (called ${times} here)`;
        lines.push(`${change.from} → ${change.to}  ${visible(change.call)}${called}`);
        lines.push(`  ${visible(rule ?? reason)}`);
      }
      const rules = [
        ...missing(before.rules, after.rules).map((rule) => ({ change: 'removed', ...rule })),
        ...missing(after.rules, before.rules).map((rule) => ({ change: 'added', ...rule })),
      ];
      if (call.options.json === true) printJson(call, { rules, judged, calls });
      else {
        const changes = rules.map(
          ({ change, list, rule }) => `${change === 'added' ? '+' : '-'} ${list} ${visible(rule)}`,
        );
        const end = `${calls.length} of ${judged} calls are decided differently`;
        call.output.out(`${[...changes, ...lines, end].join('\n')}\n`);
        call.output.out(skippedHooksText(unasked, 'files are compared by their rules alone'));
      }
      return rules.length === 0 && calls.length === 0 ? EXIT.done : EXIT.error;
    }),
};

export const replay: CommandSpec = {
  summary: 'Decide the calls of recorded sessions again, by the settings in force now.',
  options: [
    { flags: '--last <time>', description: 'Only calls of the last 30d, 12h, 90m or 2w.' },
    { flags: '--session <id>', description: 'Only calls of this session; its beginning will do.' },
    HOOKS_OPTION,
    SETTINGS_OPTION,
    TRUST_OPTION,
    JSON_OPTION,
  ],
  run: (call) =>
    withProject(call, async (project) => {
      const { options, output } = call;
      const since = parseSince(textOption(options, 'last'));
      const session = textOption(options, 'session');
      const calls = await recordedCalls(project, { session, since });
      const evaluate = await openProjectPolicy(project, {
        hooks: options.hooks === true,
        warn: output.warn,
      });
      const replayed = await replayCalls(calls, evaluate);
      const { changed, skipped, callsWithUnaskedHooks: unasked } = replayed;
      if (options.json === true) {
        printJson(call, replayed);
        return EXIT.done;
      }
      const total = changed.reduce((sum, { count }) => sum + count, 0);
      const left = skipped === 0 ? '' : `; ${skipped} could not be decided again`;
      output.out(changesText(changed));
      output.out(
        `${total} of ${calls.length} recorded calls would be decided differently${left}\n`,
      );
      if (unasked > 0) {
        const which = unasked === 1 ? '1 call has' : `${unasked} calls have`;
        output.out(`${which} PreToolUse hooks that were not asked; --hooks runs and asks them\n`);
      }
      return EXIT.done;
    }),
};

/** The built-in list, and what was called here before, each once. */
async function knownCalls(project: Project) {
  const all = new Map<string, { call: ToolCall; recorded: number }>();
  for (const text of corpus.trim().split('\n'))
    all.set(text, { call: parseCall(text), recorded: 0 });
  for (const { call } of await recordedCalls(project)) {
    const text = formatCall(call);
    all.set(text, { call, recorded: (all.get(text)?.recorded ?? 0) + 1 });
  }
  return all.values();
}

function readSettings(file: string) {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new PortcullisError('usage', `cannot read ${file}: ${messageOf(thrown)}`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) {
    const why = parsed.ok ? 'it is not a JSON object' : parsed.error;
    throw new PortcullisError('config', `${file} cannot be read: ${why}`);
  }
  const { permissions } = parsed.value;
  const rules = ['deny', 'ask', 'allow'].flatMap((list) => {
    const listed = isRecord(permissions) ? permissions[list] : undefined;
    return Array.isArray(listed) ? listed.map((rule) => ({ list, rule: String(rule) })) : [];
  });
  return { text, rules };
}

interface ListedRule {
  readonly list: string;
  readonly rule: string;
}

function missing(rules: readonly ListedRule[], from: readonly ListedRule[]): readonly ListedRule[] {
  return rules.filter(
    ({ list, rule }) => !from.some((one) => one.list === list && one.rule === rule),
  );
}

/** The ISO time that `30d`, `12h`, `90m` or `2w` ago was. */
function parseSince(last: string | undefined): string {
  if (last === undefined) return '';
  const [, count, letter = ''] = /^(\d+)\s*([dhmw])$/.exec(last.trim()) ?? [];
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[letter];
  if (unit !== undefined) return new Date(Date.now() - Number(count) * unit).toISOString();
  throw new PortcullisError('usage', `--last: "${last}" is not a span of time`, {
    remedy: 'write 30d, 12h, 90m or 2w',
  });
}

const VERBS = { deny: 'blocked', ask: 'asked about', allow: 'let through' } as const;

/** What each rule would have done, then each call. */
function changesText(changed: readonly ReplayedCall[]): string {
  if (changed.length === 0) return '';
  const totals = new Map<string, number>();
  for (const { to, by, count } of changed) {
    const text = `${visible(by)} would have ${VERBS[to]}`;
    totals.set(text, (totals.get(text) ?? 0) + count);
  }
  return [
    ...[...totals].map(([text, count]) => `${text} ${count} ${count === 1 ? 'call' : 'calls'}\n`),
    '\n',
    ...changed.map(
      ({ call, from, to, by, count }) =>
        `${String(count).padStart(4)} × ${from} → ${to}  ${visible(call)}\n       ${visible(by)}\n`,
    ),
  ].join('');
}
