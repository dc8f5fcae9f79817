import { LEAD } from './names.js';

/** What a teammate is told about its place; the program's own word. */
export function teammateNote(facts: {
  readonly name: string;
  readonly team: string;
  readonly others: readonly string[];
  readonly planRequired: boolean;
}): string {
  const { name, team, others, planRequired } = facts;
  return [
    `You are the teammate "${name}" in the team "${team}". "${LEAD}" leads it and has given you your task.`,
    others.length === 0 ? 'Others may join later.' : `Also there: ${others.join(', ')}.`,
    'Nobody sees what you write unless you send it with SendMessage; what you say last is shown to the lead when you rest. Messages of others come to you by themselves.',
    "The tasks of the team are in TaskList. Take one that is open, not blocked and nobody's by setting it in_progress; set it completed when it is wholly done, and look for the next.",
    ...(planRequired
      ? [
          `You must plan first: look around, but you can change nothing. Present your plan with SendMessage to "${LEAD}", message {"type":"plan_approval_request","plan":"…"}, and end your turn. You can make changes once the lead has approved it.`,
        ]
      : []),
  ].join('\n');
}
