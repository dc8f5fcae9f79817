import { lowerMode } from '../../permissions/gate/modes.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Mail } from './mail.js';
import { LEAD } from './records.js';

export interface DutyParts {
  readonly name: string;
  readonly planRequired: boolean;
  /** The lead's mode when the teammate was started. */
  readonly leadMode: PermissionMode;
  /** Called with the new mode when the teammate's plan is approved. */
  approved?(mode: PermissionMode): void;
  warn(text: string): void;
}

/**
 * A teammate's first mode, and its most permissive one after plan approval. fail-closed: a teammate that
 * must plan first never bypasses permissions, even if the lead does.
 */
export function modesFor(
  leadMode: PermissionMode,
  planRequired: boolean,
): { readonly first: PermissionMode; readonly after: PermissionMode } {
  if (!planRequired) return { first: leadMode, after: leadMode };
  return { first: 'plan', after: leadMode === 'bypassPermissions' ? 'default' : leadMode };
}

/** A teammate's obligations to its lead; kept in the process that runs the teammate. */
export class Duty {
  readonly name: string;
  readonly planRequired: boolean;
  /** The request id of the plan that waits for approval. */
  planRequest: string | undefined;
  shutdownRequest: string | undefined;
  /** It has agreed to stop and ends with its turn. */
  isOver = false;
  readonly #parts: DutyParts;
  #mode: PermissionMode;

  constructor(parts: DutyParts) {
    this.name = parts.name;
    this.planRequired = parts.planRequired;
    this.#parts = parts;
    this.#mode = modesFor(parts.leadMode, parts.planRequired).first;
  }

  mode(): PermissionMode {
    return this.#mode;
  }

  /** Handles the program's part of a message; false when the message is invalid. */
  onMail(mail: Mail): boolean {
    const problem = this.#problem(mail);
    if (problem !== undefined) {
      this.#parts.warn(`a message of ${mail.from} for ${this.name} does not count: ${problem}`);
      return false;
    }
    if (mail.kind === 'shutdown_request') this.shutdownRequest = mail.requestId;
    if (mail.kind !== 'plan_approval_response') return true;
    this.planRequest = undefined;
    if (mail.approve === true) {
      const { after } = modesFor(this.#parts.leadMode, this.planRequired);
      // fail-closed: the mode is also limited by the lead's current one.
      this.#mode = lowerMode(after, mail.mode ?? 'default');
      this.#parts.approved?.(this.#mode);
    }
    return true;
  }

  /** fail-closed: only the lead may request and approve, and only the plan that it was sent. */
  #problem({ kind, from, requestId }: Mail): string | undefined {
    if (kind === 'shutdown_request') {
      return from === LEAD ? undefined : 'only the lead asks others to stop';
    }
    if (kind !== 'plan_approval_response') return undefined;
    if (from !== LEAD) return 'only the lead approves plans';
    const isMeant = this.planRequest !== undefined && requestId === this.planRequest;
    return isMeant ? undefined : 'no plan waits for this answer';
  }
}
