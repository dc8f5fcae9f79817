import { freezeJson } from '../lib/frozen-json.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { readAnswerScope, readPermissionUpdates } from '../protocol/permission-updates.js';
import type { AskAnswer } from './types.js';

/** Reads allow or deny as `can_use_tool` and PermissionRequest hooks give it. */
export function readAskAnswer(answer: unknown): Result<AskAnswer, string> {
  if (!isRecord(answer)) return err('the answer is no object');
  const { behavior, message, interrupt } = answer;
  if (behavior === 'deny') {
    const text = typeof message === 'string' && message !== '' ? message : 'The user said no';
    return ok({ behavior: 'deny', message: text, interrupt: interrupt === true });
  }
  if (behavior !== 'allow') return err(`unknown behavior ${JSON.stringify(behavior)}`);
  const wanted = answer.updatedInput ?? undefined;
  if (wanted !== undefined && !isRecord(wanted)) return err('updatedInput is no object');
  const updatedInput = wanted === undefined ? undefined : freezeJson(wanted);
  if (updatedInput?.ok === false) return err(`updatedInput is not plain: ${updatedInput.error}`);
  const updates = readPermissionUpdates(answer.updatedPermissions);
  if (!updates.ok) return updates;
  const scope = readAnswerScope(answer.scope);
  if (!scope.ok) return scope;
  return ok({
    behavior: 'allow',
    scope: scope.value,
    updatedInput: updatedInput?.value,
    ...(updates.value.length === 0 ? {} : { updatedPermissions: updates.value }),
  });
}
