import { findRepositoryRoot, homeDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { BackgroundResult } from '../../hooks/dispatch.js';
import { requestFor } from '../../hooks/dispatch-input.js';
import { orAbort } from '../../util/abort.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { type HookBench, openBench } from './hooks-bench.js';
import { eventNamed } from './hooks-event.js';
import { outcomeOf } from './hooks-outcome.js';
import { readPayload } from './hooks-payload.js';
import { asking, type Stage } from './hooks-stage.js';
import { notAsked, type TestedHook, type TestReport, testedHooks } from './hooks-test-report.js';
import { reportText } from './hooks-test-text.js';
import { type Trial, type TrialWishes, trialOf } from './hooks-trial.js';

export const USAGE =
  'portcullis hooks test <event> [--payload file|-] [--tool NAME] [--agent A] [--trust] [--settings F] [--json]';

/**
 * Asks the hooks of an event really, as a session does, about a sample or a recorded input. What they
 * do they do; what they decide is only shown. Exit code 0: every hook that was asked gave a verdict.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['payload', 'tool', 'agent', 'settings'],
  });
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    const message = name === undefined ? 'there is no event to test' : 'one event at a time';
    throw new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
  }
  const event = eventNamed(name);
  const place = values.get('payload');
  const payload = place === undefined ? {} : await readPayload(place, event, output.warn);
  const wishes = { event, payload, tool: values.get('tool'), agent: values.get('agent') };
  const options = { cwd: process.cwd(), env: process.env, trust: switches.has('trust') };
  const bench = await openBench({ ...options, settings: values.get('settings') }, output);
  const over = new AbortController();
  const interrupt = (): void => over.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  try {
    const { report, about } = await tryOut(bench, wishes, over.signal);
    const text = switches.has('json')
      ? `${JSON.stringify(report, null, 2)}\n`
      : reportText(report, about);
    output.out(text);
    if (over.signal.aborted) return EXIT.interrupted;
    return report.worked ? EXIT.done : EXIT.error;
  } finally {
    process.off('SIGINT', interrupt);
    await bench.close();
  }
}

/** Tags of what is told about hooks that failed or reported an error. */
const FAILED: ReadonlySet<string> = new Set(['hook_failed', 'hook_error']);

async function tryOut(bench: HookBench, wishes: TrialWishes, signal: AbortSignal) {
  const { hooks, hands, ground } = bench;
  const results: BackgroundResult[] = [];
  hooks.onBackground((result) => results.push(result));
  const told: string[] = [];
  const trial = await trialOf(wishes, {
    pool: hands.builtins.pool,
    workspace: ground.workspace,
    mode: hands.permissions.mode(),
    signal,
    fits: hooks.fits,
  });
  const { ask, rounds } = asking(hooks.dispatch, trial);
  const outcome = await outcomeOf(stageOf(bench, trial, ask), (text) => told.push(text));
  // Who interrupts does not wait for what runs beside.
  await orAbort(bench.settled(), signal).catch(() => undefined);
  const tool = trial.call?.tool.name;
  const asked = testedHooks(rounds, { tool, beside: { results, stats: hooks.stats() } });
  const { event, occasion, notes } = trial;
  const notices = bench.notices();
  const inForce = hooks.snapshot().hooks[event] ?? [];
  const report: TestReport = {
    event,
    input: inputOf(bench, trial),
    asked,
    notAsked: notAsked(inForce, occasion, rounds),
    outcome,
    variables: Object.keys(hooks.variables.current()),
    told: [...told, ...otherNotices(notices, asked)],
    notes,
    worked:
      asked.length > 0 &&
      asked.every(({ failure, error }) => failure === undefined && error === undefined) &&
      notices.every(({ tag = '' }) => !FAILED.has(tag)),
  };
  const [matched] = occasion.matched;
  return { report, about: matched === undefined ? event : `${event}, ${matched}` };
}

function stageOf(bench: HookBench, trial: Trial, ask: Stage['ask']): Stage {
  const { ground, hooks } = bench;
  const { event, occasion, mode, call } = trial;
  const { agent, cwd, signal, fields } = occasion;
  return {
    event,
    fields,
    scene: { agent, cwd, signal, mode: occasion.mode },
    mode,
    signal,
    fs: ground.fs,
    home: homeDirectory(ground.env),
    projectDir: findRepositoryRoot(ground.workspace.cwd) ?? ground.workspace.cwd,
    ask,
    fits: hooks.fits,
    ...(call === undefined ? {} : { call }),
  };
}

/** As the hooks read it. */
function inputOf(bench: HookBench, { event, occasion }: Trial): unknown {
  const made = requestFor(event, occasion, { facts: bench.facts });
  return made.ok ? made.value.input : occasion.fields;
}

/** What is told besides what stands with the hooks that said it. */
function otherNotices(
  notices: ReturnType<HookBench['notices']>,
  asked: readonly TestedHook[],
): readonly string[] {
  const isShown = ({ tag, level, text }: (typeof notices)[number]): boolean =>
    asked.some(({ hook, beside, passages }) =>
      tag === undefined
        ? level === 'notice' && passages.some((one) => text.endsWith(one.text))
        : FAILED.has(tag) && beside !== true && text.includes(hook),
    );
  return notices.filter((notice) => !isShown(notice)).map(({ text }) => text);
}
