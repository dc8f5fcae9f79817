import { PortcullisError } from '../../errors.js';
import { table } from '../../lib/table.js';
import { nearest } from '../../lib/text/nearest.js';
import { visible } from '../../lib/text/visible.js';
import {
  openHookTestHost,
  type ProbedHook,
  type ProbeReport,
  probeFailed,
  seconds,
} from '../../project/hooks/hook-test.js';
import { listProjectHooks } from '../../project/hooks/hooks-list.js';
import { listText } from '../../project/hooks/hooks-report.js';
import { describeProblem } from '../../project/settings.js';
import { HOOK_EVENTS, type HookEventName } from '../../protocol/hooks/hook-events.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { hookTestText, readPayload } from './hooks-test.js';
import { interruptible } from './person.js';
import {
  commandGroup,
  JSON_OPTION,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  textOption,
  withProject,
} from './project-call.js';

const COMMON = [TRUST_OPTION, SETTINGS_OPTION, JSON_OPTION];

const list: CommandSpec = {
  summary: 'List the hooks in force, and those that are skipped and why. Runs nothing.',
  options: [{ flags: '--event <event>', description: 'Only hooks of this event.' }, ...COMMON],
  run: (call) =>
    withProject(
      call,
      async (project) => {
        const named = textOption(call.options, 'event');
        const only = named === undefined ? undefined : parseEvent(named);
        const { hooks, skipped, ...all } = await listProjectHooks(project);
        const isWanted = ({ event = only }: { readonly event?: HookEventName }): boolean =>
          only === undefined || event === only;
        const list = { ...all, hooks: hooks.filter(isWanted), skipped: skipped.filter(isWanted) };
        if (call.options.json === true) printJson(call, { cwd: project.cwd, ...list });
        else {
          const problems = list.problems.map(
            (one) =>
              `  ${one.severity === 'fatal' ? 'refuses' : 'warns'}: ${visible(describeProblem(one))}\n`,
          );
          call.output.out(listText(list, project.cwd));
          if (problems.length > 0) call.output.out(`\nProblems\n${problems.join('')}`);
          if (!list.starts) call.output.out('A session would not start with these settings.\n');
        }
        return list.starts ? EXIT.done : EXIT.config;
      },
      { trustNotice: 'silent' },
    ),
};

const test: CommandSpec = {
  summary: 'Run the hooks of an event and show what would follow.',
  arguments: [{ name: '<event>', description: 'Such as PreToolUse or Stop.' }],
  options: [
    {
      flags: '--payload <file>',
      description: 'JSON fields that replace those of the sample input; - reads standard input.',
    },
    { flags: '--tool <name>', description: 'The tool that the call is for.' },
    { flags: '--agent <agent>', description: 'The agent that acts: a type or a path.' },
    ...COMMON,
  ],
  notes: 'The hooks are really run.\nExit code 0: every hook that was asked gave a verdict.',
  async run(call) {
    const { args, options, output } = call;
    const event = parseEvent(args[0] ?? '');
    const payload = await readPayload(textOption(options, 'payload'), event, output.warn);
    const tool = textOption(options, 'tool');
    const agent = textOption(options, 'agent');
    return await withProject(call, (project) =>
      interruptible(async (signal) => {
        const host = await openHookTestHost(project, output.warn);
        const report = await host.run({ event, payload, tool, agent }, signal);
        if (options.json === true) printJson(call, report);
        else output.out(hookTestText(report));
        return report.worked ? EXIT.done : EXIT.error;
      }),
    );
  },
};

const probe: CommandSpec = {
  summary: 'Ask every guard once, and check that it answers in time.',
  options: [
    { flags: '--all', description: 'Also guards that ask a model, a server or an address.' },
    ...COMMON,
  ],
  notes: 'Hooks read "probe": true in their input.\nExit code 1: a guard gave no verdict.',
  run: (call) =>
    withProject(call, (project) =>
      interruptible(async (signal) => {
        const host = await openHookTestHost(project, call.output.warn);
        const report = await host.probe({ signal, all: call.options.all === true });
        if (call.options.json === true) printJson(call, probeData(report));
        else call.output.out(probeText(report));
        return report.probed.some(probeFailed) ? EXIT.error : EXIT.done;
      }),
    ),
};

export const command = commandGroup('List, test and time hooks.', { list, test, probe });

function parseEvent(name: string): HookEventName {
  const events = Object.keys(HOOK_EVENTS) as HookEventName[];
  const event = events.find((one) => one === name);
  if (event !== undefined) return event;
  const meant = nearest(name, events);
  throw new PortcullisError('usage', `there is no event ${visible(name)}`, {
    remedy:
      meant === undefined ? 'docs/reference/hooks.md lists the events' : `did you mean ${meant}?`,
  });
}

function probeData({ probed, skipped }: ProbeReport) {
  return {
    answered: !probed.some(probeFailed),
    probed: probed.map(({ hook, ms, limitMs, decision, failure, complaint }) => ({
      event: hook.event,
      hook: hook.label,
      kind: hook.handler.type,
      ms: Math.round(ms),
      limitMs,
      verdict: failure === undefined ? decision : null,
      failure,
      error: complaint,
    })),
    skipped: skipped.map(({ hook, why }) => ({ event: hook.event, hook: hook.label, why })),
  };
}

function probeText({ probed, skipped }: ProbeReport): string {
  if (probed.length === 0 && skipped.length === 0) return 'There is no guard to probe.\n';
  const failed = probed.filter(probeFailed).length;
  const rows = probed.map((one) => [
    `${Math.round(one.ms)} ms`,
    `of ${seconds(one.limitMs)}`,
    verdictText(one),
    `${one.hook.event}: ${visible(one.hook.label)}${failureText(one)}`,
  ]);
  const left = skipped.map(
    ({ hook, why }) => `  ${hook.event}: ${visible(hook.label)}: ${visible(why)}\n`,
  );
  return [
    rows.length === 0 ? '' : `${table(rows)}\n`,
    `${probed.length} probed, ${probed.length - failed} answered, ${failed} failed\n`,
    left.length === 0 ? '' : `Not probed (--all probes those that ask others)\n${left.join('')}`,
  ].join('');
}

function verdictText({ decision, failure, complaint }: ProbedHook): string {
  if (failure !== undefined) return `FAILED (${failure.cause})`;
  if (complaint !== undefined) return 'FAILED (error)';
  return decision === 'none' ? 'no opinion' : decision;
}

function failureText({ failure, complaint }: ProbedHook): string {
  if (failure !== undefined) return `: ${visible(failure.message)}`;
  if (complaint === undefined) return '';
  return `: exit code 1, which blocks nothing: ${visible(complaint)}`;
}
