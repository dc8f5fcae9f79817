import { PortcullisError } from '../../errors.js';
import { callText } from '../../project/call-text.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { withJudge } from './policy-hooks.js';
import type { PolicyDecision, PolicyJudge, SettingsInForce } from './policy-judge.js';
import { type RecordedCall, recordedCalls } from './recorded-calls.js';
import { type HereOptions, settingsHere } from './settings-here.js';

export const USAGE =
  'portcullis policy replay [--settings F] [--last 30d] [--session id] [--trust] [--hooks] [--json]';

interface Replayed {
  readonly call: string;
  readonly from: RecordedCall['decision'];
  readonly to: PolicyDecision['decision'];
  /** What decides now. */
  readonly by: string;
  readonly count: number;
  readonly last: string;
}

/**
 * Judges the recorded calls of this project again, by the settings here, with those of `--settings` on
 * top: what a rule would have done, had it been there.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust', 'hooks'],
    values: ['settings', 'last', 'session'],
  });
  if (words.length > 0) {
    throw new PortcullisError('usage', `policy replay does not know ${words[0]}`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const here: HereOptions = {
    cwd: process.cwd(),
    env: process.env,
    trust: switches.has('trust') ? 'given' : 'as it is',
    settings: values.get('settings'),
    warn: output.warn,
  };
  const since = sinceFrom(values.get('last'));
  const calls = await recordedCalls({
    ...here,
    session: values.get('session'),
    ...(since === undefined ? {} : { since }),
  });
  const asks = switches.has('hooks');
  const { changed, skipped, unasked } = await withJudge(here, { asks, output }, (judge) =>
    replay(calls, settingsHere(here), judge),
  );
  if (switches.has('json')) {
    const report = { calls: calls.length, skipped, callsWithUnaskedHooks: unasked, changed };
    output.out(`${JSON.stringify(report)}\n`);
  } else {
    report({ calls: calls.length, skipped, changed }, output);
    if (unasked > 0) {
      const which = unasked === 1 ? '1 call has' : `${unasked} calls have`;
      output.out(`${which} PreToolUse hooks that were not asked; --hooks runs and asks them\n`);
    }
  }
  return EXIT.done;
}

async function replay(
  calls: readonly RecordedCall[],
  inForce: SettingsInForce,
  judge: PolicyJudge,
): Promise<{ changed: readonly Replayed[]; skipped: number; unasked: number }> {
  const changed = new Map<string, Replayed>();
  let skipped = 0;
  let unasked = 0;
  for (const recorded of calls) {
    const now = await decide(judge, recorded, inForce);
    if (now?.unaskedHooks !== undefined) unasked++;
    if (now === undefined) skipped++;
    else if (now.decision !== recorded.decision) {
      const call = callText(recorded.call);
      const by = now.rule ?? now.reason;
      const key = JSON.stringify([call, recorded.decision, now.decision, by]);
      const count = (changed.get(key)?.count ?? 0) + 1;
      const { time: last } = recorded.entry;
      changed.set(key, { call, from: recorded.decision, to: now.decision, by, count, last });
    }
  }
  return { changed: [...changed.values()].sort((a, b) => b.count - a.count), skipped, unasked };
}

/** Undefined for a call that cannot be judged again. */
async function decide(
  judge: PolicyJudge,
  { call, entry }: RecordedCall,
  inForce: SettingsInForce,
): Promise<PolicyDecision | undefined> {
  // A command that was not kept whole may have done anything in the rest.
  if (entry.cut === true && typeof call.input.command === 'string') return undefined;
  const { mode, agent } = entry.receipt;
  let decision: PolicyDecision;
  try {
    decision = await judge.decide({
      ...call,
      settings: {},
      inForce,
      cwd: entry.cwd,
      mode,
      agent,
    });
  } catch (thrown) {
    // A tool that is not there any more, or whose input was cut.
    if (thrown instanceof PortcullisError && thrown.code === 'usage') return undefined;
    throw thrown;
  }
  if (decision.receipt === undefined) throw new PortcullisError('config', decision.reason);
  return decision;
}

/** `30d`, `12h`, `90m`: the ISO time that long ago. */
function sinceFrom(last: string | undefined): string | undefined {
  if (last === undefined) return undefined;
  const found = /^(\d+)\s*([dhmw])$/.exec(last.trim());
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[found?.[2] ?? ''];
  if (found === null || unit === undefined) {
    throw new PortcullisError('usage', `--last: "${last}" is not a span of time`, {
      remedy: 'write 30d, 12h, 90m or 2w',
    });
  }
  return new Date(Date.now() - Number(found[1]) * unit).toISOString();
}

function report(
  { calls, skipped, changed }: { calls: number; skipped: number; changed: readonly Replayed[] },
  output: Output,
): void {
  for (const line of summary(changed)) output.out(`${line}\n`);
  if (changed.length > 0) output.out('\n');
  for (const { call, from, to, by, count } of changed) {
    output.out(
      `${String(count).padStart(4)} × ${from} → ${to}  ${visible(call)}\n       ${visible(by)}\n`,
    );
  }
  const total = changed.reduce((sum, { count }) => sum + count, 0);
  const left = skipped === 0 ? '' : `; ${skipped} could not be judged again`;
  output.out(`${total} of ${calls} recorded calls would be decided differently${left}\n`);
}

/** What each rule would have done. */
function summary(changed: readonly Replayed[]): readonly string[] {
  const totals = new Map<string, number>();
  for (const { to, by, count } of changed) {
    const text = `${visible(by)} would have ${VERBS[to]}`;
    totals.set(text, (totals.get(text) ?? 0) + count);
  }
  return [...totals].map(([text, count]) => `${text} ${count} ${count === 1 ? 'call' : 'calls'}`);
}

const VERBS = { deny: 'blocked', ask: 'asked about', allow: 'let through' } as const;
