import { visible } from '../../lib/text/visible.js';
import { openProjectPolicy } from '../../project/policy/policy.js';
import { parseCall } from '../../project/policy/policy-call.js';
import { receiptText } from '../../project/receipt-text.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import type { CommandSpec, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import {
  JSON_OPTION,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  textOption,
  withProject,
} from './project-call.js';

export const HOOKS_OPTION: OptionSpec = {
  flags: '--hooks',
  description: 'Run the PreToolUse hooks in force, and count their answers.',
};

export const command: CommandSpec = {
  summary: 'Show whether a tool call would be allowed here, and why.',
  arguments: [
    {
      name: '<call...>',
      description: `'Bash(git push)', Read src/x.ts, or JSON: '{"tool":"Write","input":{…}}'.`,
    },
  ],
  options: [
    { flags: '--agent <agent>', description: 'The agent that calls: a type or a path.' },
    {
      flags: '--mode <mode>',
      description: 'The permission mode; default: that of the settings.',
      choices: ['manual', ...PERMISSION_MODES],
    },
    HOOKS_OPTION,
    SETTINGS_OPTION,
    TRUST_OPTION,
    JSON_OPTION,
  ],
  notes: 'The call is not run, and no one is asked.',
  run: (call) =>
    withProject(call, async (project) => {
      const { args, options, output } = call;
      const mode = textOption(options, 'mode');
      const question = {
        ...parseCall(args.join(' ')),
        cwd: project.cwd,
        mode: PERMISSION_MODES.find((one) => one === (mode === 'manual' ? 'default' : mode)),
        agent: textOption(options, 'agent'),
      };
      const hooks = options.hooks === true;
      const evaluate = await openProjectPolicy(project, { hooks, warn: output.warn });
      const decided = await evaluate(question);
      if (options.json === true) {
        printJson(call, decided);
        return EXIT.done;
      }
      const { decision, decidedBy, reason, receipt } = decided;
      const trace = receipt.trace.filter(({ guard }) => guard !== 'asker');
      output.out(receiptText({ ...receipt, reason, decidedBy, trace }, VERBS[decision]));
      output.out(effectsText(decided.effects));
      output.out(skippedHooksText(decided.unaskedHooks));
      return EXIT.done;
    }),
};

const VERBS = { allow: 'allowed', ask: 'asked about', deny: 'refused' } as const;

/** What the command was seen to do; empty for calls that run none. */
function effectsText(effects: readonly string[] | undefined): string {
  if (effects === undefined) return '';
  const lines = effects.length === 0 ? ['none'] : effects.map((line) => visible(line));
  return `effects\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

/** One line on hooks that were not asked; empty when there are none. */
export function skippedHooksText(count = 0, remark = '--hooks runs and asks them'): string {
  if (count === 0) return '';
  const which = count === 1 ? '1 PreToolUse hook was' : `${count} PreToolUse hooks were`;
  return `${which} not asked and may still refuse; ${remark}\n`;
}
