import { PortcullisError } from '../../errors.js';
import { readCall } from '../../project/call-text.js';
import { receiptText } from '../../project/receipt-text.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { withJudge } from './policy-hooks.js';
import { type PolicyCase, unaskedText } from './policy-judge.js';
import { type HereOptions, settingsHere } from './settings-here.js';

export const USAGE =
  "portcullis explain 'Bash(git push)' [--agent reviewer] [--mode plan] [--settings F] [--trust] [--hooks] [--json]";

/**
 * Shows whether a call would be allowed here, and why. The call is not run and no person is asked;
 * hooks are run only with `--hooks`.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust', 'hooks'],
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
  const here: HereOptions = {
    cwd,
    env: process.env,
    trust: switches.has('trust') ? 'given' : 'as it is',
    settings: values.get('settings'),
    warn: output.warn,
  };
  const question: PolicyCase = {
    ...readCall(words.join(' ')),
    settings: {},
    inForce: settingsHere(here),
    cwd,
    ...(mode === undefined ? {} : { mode }),
    ...(agent === undefined ? {} : { agent }),
  };
  const asks = switches.has('hooks');
  const decision = await withJudge(here, { asks, output }, (judge) => judge.decide(question));
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
  output.out(unaskedText(decision.unaskedHooks ?? 0));
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
