import { readFileSync } from 'node:fs';
import { configDirectory, join, resolve } from '../../env/paths.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { callText, type DescribedCall, readCall } from '../../project/call-text.js';
import { parseJson } from '../../util/json.js';
import { isRecord } from '../../util/own.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { CORPUS } from './policy-corpus.js';
import {
  openPolicyJudge,
  type PolicyDecision,
  type PolicyJudge,
  unaskedText,
} from './policy-judge.js';
import { recordedCalls } from './recorded-calls.js';

export const USAGE = 'portcullis policy diff A.json B.json [--json]';

type Settings = Readonly<Record<string, unknown>>;

interface Changed {
  readonly call: string;
  readonly from: PolicyDecision;
  readonly to: PolicyDecision;
  /** How often it was called in recorded sessions; 0: only in the built-in list. */
  readonly recorded: number;
}

/** Which rules two settings files differ in, and which calls they decide differently. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  const [a, b, ...more] = words;
  if (a === undefined || b === undefined || more.length > 0) {
    throw new PortcullisError('usage', 'policy diff compares two settings files', {
      remedy: `usage: ${USAGE}`,
    });
  }
  const [before, after] = [settingsIn(a), settingsIn(b)];
  const judge = await openPolicyJudge(process.env);
  const changed: Changed[] = [];
  let judged = 0;
  let unasked = 0;
  for (const { call, recorded } of await calls()) {
    const from = await decide(judge, before, { call, file: a });
    const to = await decide(judge, after, { call, file: b });
    if (from === undefined || to === undefined) continue;
    judged++;
    unasked = Math.max(unasked, from.unaskedHooks ?? 0, to.unaskedHooks ?? 0);
    if (from.decision !== to.decision) changed.push({ call: callText(call), from, to, recorded });
  }
  const rules = ruleChanges(before, after);
  if (switches.has('json'))
    output.out(`${JSON.stringify({ rules, judged, calls: changed.map(asData) })}\n`);
  else {
    report({ rules, changed, judged }, output);
    output.out(unaskedText(unasked, 'files are compared by their rules alone'));
  }
  return rules.length === 0 && changed.length === 0 ? EXIT.done : EXIT.error;
}

/** The built-in list, and what was called here before, each once. */
async function calls(): Promise<readonly { call: DescribedCall; recorded: number }[]> {
  const all = new Map<string, { call: DescribedCall; recorded: number }>();
  for (const text of CORPUS) all.set(text, { call: readCall(text), recorded: 0 });
  for (const { call } of await recordedCalls({ cwd: process.cwd(), env: process.env })) {
    const text = callText(call);
    const known = all.get(text);
    all.set(text, { call, recorded: (known?.recorded ?? 0) + 1 });
  }
  return [...all.values()];
}

async function decide(
  judge: PolicyJudge,
  settings: Settings,
  { call, file }: { call: DescribedCall; file: string },
): Promise<PolicyDecision | undefined> {
  let decision: PolicyDecision;
  try {
    decision = await judge.decide({ ...call, settings, cwd: process.cwd() });
  } catch (thrown) {
    // A recorded call of a tool that is not there any more has nothing to compare.
    if (thrown instanceof PortcullisError && thrown.code === 'usage') return undefined;
    throw thrown;
  }
  if (decision.receipt !== undefined) return inFile(decision, file);
  throw new PortcullisError('config', `${file}: ${inFile(decision, file).reason}`);
}

/** The judge takes settings for those of the user; people know them by the name they gave. */
function inFile(decision: PolicyDecision, file: string): PolicyDecision {
  const stated = join(configDirectory(process.env), 'settings.json');
  const named = (text: string): string =>
    text
      .split(`(${stated}:`)
      .map((part, index) => (index === 0 ? part : part.replace(/^\d+/, '')))
      .join(`(${file}`);
  return {
    ...decision,
    reason: named(decision.reason),
    ...(decision.rule === undefined ? {} : { rule: named(decision.rule) }),
  };
}

function settingsIn(name: string): Settings {
  const file = resolve(process.cwd(), name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new PortcullisError('usage', `cannot read ${name}: ${messageOf(thrown)}`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) {
    const why = parsed.ok ? 'it is not a JSON object' : parsed.error;
    throw new PortcullisError('config', `${name} cannot be read: ${why}`);
  }
  return parsed.value;
}

interface RuleChange {
  readonly change: 'added' | 'removed';
  readonly list: string;
  readonly rule: string;
}

function ruleChanges(before: Settings, after: Settings): readonly RuleChange[] {
  return ['deny', 'ask', 'allow'].flatMap((list) => {
    const [old, young] = [rulesIn(before, list), rulesIn(after, list)];
    return [
      ...old
        .filter((rule) => !young.includes(rule))
        .map((rule) => ({ change: 'removed' as const, list, rule })),
      ...young
        .filter((rule) => !old.includes(rule))
        .map((rule) => ({ change: 'added' as const, list, rule })),
    ];
  });
}

function rulesIn({ permissions }: Settings, list: string): readonly string[] {
  const rules = isRecord(permissions) ? permissions[list] : undefined;
  return Array.isArray(rules) ? rules.map(String) : [];
}

function report(
  {
    rules,
    changed,
    judged,
  }: { rules: readonly RuleChange[]; changed: readonly Changed[]; judged: number },
  output: Output,
): void {
  for (const { change, list, rule } of rules) {
    output.out(`${change === 'added' ? '+' : '-'} ${list} ${visible(rule)}\n`);
  }
  for (const { call, from, to, recorded } of changed) {
    const times =
      recorded === 0 ? '' : ` (called ${recorded} ${recorded === 1 ? 'time' : 'times'} here)`;
    output.out(`${from.decision} → ${to.decision}  ${visible(call)}${times}\n`);
    output.out(`  ${visible(to.rule ?? to.reason)}\n`);
  }
  output.out(`${changed.length} of ${judged} calls are decided differently\n`);
}

function asData({ call, from, to, recorded }: Changed): Readonly<Record<string, unknown>> {
  return { call, from: from.decision, to: to.decision, rule: to.rule, reason: to.reason, recorded };
}
