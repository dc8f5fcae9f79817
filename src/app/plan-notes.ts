import { reminder } from '../context/prompt/reminders.js';
import type { PermissionMode } from '../protocol/permissions.js';

/** What a host wants the agent to do in plan mode: told once each time that the mode is entered. */
export function openPlanNotes(
  instructions: string | undefined,
  mode: () => PermissionMode,
): () => readonly string[] {
  let isTold = false;
  if (instructions === undefined || instructions.trim() === '') return () => [];
  return () => {
    const plans = mode() === 'plan';
    const isNew = plans && !isTold;
    isTold = plans;
    return isNew ? [reminder(`${BEFORE}\n\n${instructions}\n\n${AFTER}`)] : [];
  };
}

const BEFORE = 'Plan mode is on: explore and read, change nothing.';
const AFTER =
  'When the plan is complete, present it with ExitPlanMode; work begins after approval.';
