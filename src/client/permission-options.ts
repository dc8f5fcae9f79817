import { type AskRequest, describeRule, suggestedUpdates } from '../app.js';
import { visible } from '../lib/text/visible.js';
import type { AnswerOption } from './questions.js';

/** The settings file that an answer for the whole project goes to. */
const PROJECT_FILE = '.claude/settings.local.json';

const NO: AnswerOption = {
  key: 'n',
  label: 'No (add a reason to tell the model what to do instead)',
  answer: { behavior: 'deny', interrupt: true },
};

/** The ways to answer a permission question, with the exact rule that each would save. The refusal is last. */
export function permissionOptions(request: AskRequest): readonly AnswerOption[] {
  const once: AnswerOption = {
    key: 'y',
    label: 'Yes, this once',
    answer: { behavior: 'allow' },
  };
  return [once, ...widerOptions(request), NO];
}

/** The ways to answer a plan. The refusal is last. */
export function planOptions(): readonly AnswerOption[] {
  const leaveTo = (mode: 'acceptEdits' | 'default'): AnswerOption['answer'] => ({
    behavior: 'allow',
    updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }],
  });
  return [
    {
      key: 'e',
      label: 'Yes, and allow all edits this session',
      answer: leaveTo('acceptEdits'),
    },
    { key: 'y', label: 'Yes, and ask before each edit', answer: leaveTo('default') },
    {
      key: 'n',
      label: 'No, keep planning (add what to change)',
      answer: { behavior: 'deny', interrupt: true },
    },
  ];
}

/** Answers that cover more than this call; none where a guard would ask again anyway. */
function widerOptions(request: AskRequest): readonly AnswerOption[] {
  const { suggestions } = request;
  if (suggestions === undefined) return [];
  const options: AnswerOption[] = [
    {
      key: 'a',
      label: "Yes, and don't ask again for this exact call this session",
      answer: { behavior: 'allow', scope: { what: 'exact', until: 'session' } },
    },
  ];
  const edits = suggestedUpdates(request).filter(
    (update) => update.type === 'setMode' && update.mode === 'acceptEdits',
  );
  if (edits.length > 0) {
    options.push({
      key: 'e',
      label: 'Yes, and allow all edits this session',
      answer: { behavior: 'allow', updatedPermissions: edits },
    });
  }
  const rule =
    suggestions.prefix ?? (suggestions.exact === undefined ? suggestions.tool : undefined);
  if (rule !== undefined) {
    const what = suggestions.prefix === undefined ? 'tool' : 'prefix';
    const calls = visible(describeRule(rule));
    options.push(
      {
        key: 's',
        label: `Yes, and allow ${calls} this session`,
        rule,
        answer: { behavior: 'allow', scope: { what, until: 'session' } },
      },
      {
        key: 'p',
        label: `Yes, and always allow ${calls} in this project`,
        rule,
        savedIn: PROJECT_FILE,
        answer: { behavior: 'allow', scope: { what, until: 'project' } },
      },
    );
  }
  return options;
}
