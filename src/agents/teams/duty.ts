import { lowerMode } from '../../permissions/gate/modes.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Mail } from './mail.js';
import { LEAD } from './records.js';

/** What a teammate is held to, and what it has been asked and allowed. Kept where the teammate runs. */
export interface Duty {
  readonly name: string;
  readonly planRequired: boolean;
  /** Its mode now. */
  mode(): PermissionMode;
  /** The plan that waits for an answer, by its request. */
  planRequest: string | undefined;
  /** The wish of the lead that it stops, by its request. */
  shutdownRequest: string | undefined;
  /** It has agreed to stop: it ends with its turn. */
  isOver: boolean;
  /** The program's own part in a message. False: the message does not count. */
  onMail(mail: Mail): boolean;
}

export interface DutyParts {
  readonly name: string;
  readonly planRequired: boolean;
  /** The mode of the lead when it was started. */
  readonly leadMode: PermissionMode;
  /** Its plan was approved: this is its mode from now on. */
  approved?(mode: PermissionMode): void;
  warn(text: string): void;
}

/**
 * The mode that a teammate starts with and the most that it has once its plan is approved.
 * fail-closed: who must plan first never works without the gate, whatever the lead does.
 */
export function modesFor(
  leadMode: PermissionMode,
  planRequired: boolean,
): { readonly first: PermissionMode; readonly after: PermissionMode } {
  if (!planRequired) return { first: leadMode, after: leadMode };
  return { first: 'plan', after: leadMode === 'bypassPermissions' ? 'default' : leadMode };
}

export function createDuty(parts: DutyParts): Duty {
  const { first, after } = modesFor(parts.leadMode, parts.planRequired);
  let mode = first;
  return {
    name: parts.name,
    planRequired: parts.planRequired,
    mode: () => mode,
    planRequest: undefined,
    shutdownRequest: undefined,
    isOver: false,
    onMail(mail) {
      if (mail.kind === 'shutdown_request') {
        if (mail.from !== LEAD) return odd(parts, mail, 'only the lead asks others to stop');
        this.shutdownRequest = mail.requestId;
      }
      if (mail.kind === 'plan_approval_response') {
        // fail-closed: only the lead approves, and only the plan that was put to it.
        if (mail.from !== LEAD) return odd(parts, mail, 'only the lead approves plans');
        if (this.planRequest === undefined || mail.requestId !== this.planRequest) {
          return odd(parts, mail, 'no plan waits for this answer');
        }
        this.planRequest = undefined;
        if (mail.approve === true) {
          // fail-closed: what was taken back from the lead since, its teammate does not get.
          mode = lowerMode(after, mail.mode ?? 'default');
          parts.approved?.(mode);
        }
      }
      return true;
    },
  };
}

function odd({ name, warn }: DutyParts, mail: Mail, why: string): false {
  warn(`a message of ${mail.from} for ${name} does not count: ${why}`);
  return false;
}
