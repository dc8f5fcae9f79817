import type { Finding } from './guard.js';

export interface UnansweredQuestion {
  readonly reason: string;
  readonly suggestion: string | undefined;
  readonly dontAsk: boolean;
}

/** What the model reads when a call is refused: the reason, and what would help. */
export function refusalText(
  tool: string,
  finding: Finding | undefined,
  question?: UnansweredQuestion,
): string {
  if (finding?.refusal === 'rule' && finding.detail !== undefined) {
    return `Permission to use ${tool} has been denied by permission rule ${finding.source}: ${finding.detail}. Do not look for another way to that file.`;
  }
  if (finding?.refusal === 'rule') {
    return `Permission to use ${tool} has been denied by permission rule ${finding.source}. Do not look for another way to the same effect; go on without it or tell the user.`;
  }
  if (finding?.refusal === 'guard-failed') {
    return `${tool} was refused because ${finding.reason}. A guard that cannot answer refuses; tell the user.`;
  }
  if (question === undefined)
    return `${tool} was refused: ${finding?.reasonForModel ?? finding?.reason ?? 'no reason was given'}.`;
  const { suggestion, dontAsk } = question;
  const reason = finding?.reasonForModel ?? question.reason;
  const help =
    suggestion === undefined
      ? 'Do not try another way to the same effect: go on without it, or end and tell the user.'
      : `What is missing is the rule ${suggestion}. Do not try another way to the same effect: go on without it, or end and tell the user.`;
  if (dontAsk) {
    return `Permission to use ${tool} has been denied: ${reason}, and nobody is asked in don't ask mode. ${help}`;
  }
  if (finding?.refusal === 'shell-text') {
    return `${tool} was not run: ${reason}. Write the command in plainer shell syntax.`;
  }
  if (finding?.refusal === 'plan') {
    return `${tool} cannot be used while in plan mode. Finish the plan and have it approved first.`;
  }
  return `${tool} requires approval, and nobody is here to give it: ${reason}. ${help}`;
}
