import { PortcullisError } from '../../errors.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { readCall } from './call-text.js';
import { openPolicyJudge } from './policy-judge.js';
import { receiptText } from './receipt-text.js';
import { settingsHere } from './settings-here.js';

export const USAGE =
  "portcullis explain 'Bash(git push)' [--agent reviewer] [--mode plan] [--settings F] [--trust] [--json]";

/** What would become of a call here and now, and why. Nothing is run and nobody is asked. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['agent', 'mode', 'settings'],
  });
  if (words.length === 0) {
    throw new PortcullisError('usage', 'there is no call to explain', {
      remedy: `usage: ${USAGE}`,
    });
  }
  const mode = modeFrom(values.get('mode'));
  const agent = values.get('agent');
  const cwd = process.cwd();
  const judge = await openPolicyJudge(process.env);
  const decision = await judge.decide({
    ...readCall(words.join(' ')),
    settings: {},
    inForce: settingsHere({
      cwd,
      env: process.env,
      trust: switches.has('trust') ? 'given' : 'as it is',
      settings: values.get('settings'),
      warn: output.warn,
    }),
    cwd,
    ...(mode === undefined ? {} : { mode }),
    ...(agent === undefined ? {} : { agent }),
  });
  if (switches.has('json')) {
    output.out(`${JSON.stringify(decision)}\n`);
    return EXIT.done;
  }
  if (decision.receipt === undefined) {
    throw new PortcullisError('config', decision.reason, {
      remedy: 'no session starts here before that is corrected',
    });
  }
  const { reason, decidedBy } = decision;
  // Who was asked in this check stands for whoever would be.
  const trace = decision.receipt.trace.filter(({ guard }) => guard !== 'asker');
  output.out(
    receiptText({ ...decision.receipt, reason, decidedBy, trace }, WORDS[decision.decision]),
  );
  return EXIT.done;
}

const WORDS = { allow: 'allowed', ask: 'asked about', deny: 'refused' } as const;

export function modeFrom(text: string | undefined): PermissionMode | undefined {
  if (text === undefined) return undefined;
  const mode = PERMISSION_MODES.find((known) => known === (text === 'manual' ? 'default' : text));
  if (mode !== undefined) return mode;
  throw new PortcullisError('usage', `"${text}" is not a mode`, {
    remedy: `one of ${PERMISSION_MODES.join(', ')}`,
  });
}
