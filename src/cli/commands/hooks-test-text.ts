import { seconds } from '../../hooks/hook-limit.js';
import { sliceWhole } from '../../util/truncate.js';
import { visible } from '../../util/visible.js';
import type { Passage } from './hooks-channels.js';
import type { TestedHook, TestReport } from './hooks-test-report.js';

/** The report for people. */
export function reportText(report: TestReport, about: string): string {
  const { asked, notAsked, outcome, told, notes, variables } = report;
  const count = asked.filter(({ round }) => round === 1).length;
  const lines = [
    `${about}: ${count === 0 ? 'no hook is asked' : `${count} ${count === 1 ? 'hook' : 'hooks'} asked`}`,
    ...notes.map((note) => `note: ${note}`),
    ...asked.flatMap((hook) => ['', ...hookLines(hook)]),
    ...section(
      'Not asked',
      notAsked.map(({ hook, why }) => `${visible(hook)}: ${visible(why)}`),
    ),
    ...section('Also told to the person', told.map(visible)),
    ...section('Variables left for shell commands', variables),
    ...(count === 0 ? [] : ['', `Outcome: ${block(outcome.text, '  ')}`]),
    ...(outcome.input === undefined
      ? []
      : [`  with the input ${block(JSON.stringify(outcome.input), '  ')}`]),
    ...outcome.forModel.map((text) => `  the model reads: ${block(text, '    ')}`),
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function hookLines(hook: TestedHook): readonly string[] {
  const again = hook.round === 1 ? '' : ', asked again about the new input';
  const facts = [
    `${hook.ms} ms of ${seconds(hook.limitMs)}`,
    ...(typeof hook.exitCode === 'number' ? [`exit code ${hook.exitCode}`] : []),
  ];
  return [
    `  ${visible(hook.hook)}${again}`,
    `    ${verdictText(hook)} (${facts.join(', ')})`,
    ...hook.passages.map(passageLine),
    ...(hook.updatedInput === undefined
      ? []
      : [`    new input: ${block(JSON.stringify(hook.updatedInput), '      ')}`]),
    ...(hook.ignored.length === 0
      ? []
      : [`    without effect at this event: ${hook.ignored.map(visible).join(', ')}`]),
  ];
}

const VERDICTS = {
  none: 'no opinion',
  allow: 'allow',
  ask: 'ask',
  defer: 'defer',
  deny: 'deny',
} as const;

function verdictText({ verdict, failure, failureMeans, beside, error }: TestedHook): string {
  if (failure !== undefined) {
    const then =
      failureMeans === 'refuses' ? 'its failure refuses' : 'its failure lets things pass';
    return `FAILED, ${failure.cause}: ${visible(failure.message)}; ${then}`;
  }
  if (beside === true) return 'runs beside the session and decides nothing';
  const said = VERDICTS[verdict ?? 'none'];
  return error === undefined ? said : `${said}, and it reports an error`;
}

function passageLine({ what, to, how, text }: Passage): string {
  return `    ${what} → ${to}, ${how}: ${block(text, '      ')}`;
}

const LONGEST = 500;

/** Further lines are indented. The whole text is in the JSON. */
function block(text: string, indent: string): string {
  const trimmed = text.trim();
  const cut = trimmed.length <= LONGEST ? trimmed : `${sliceWhole(trimmed, 0, LONGEST)}…`;
  return cut.split('\n').map(visible).join(`\n${indent}`);
}
