import { lowerMode } from '../../permissions/gate/modes.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Mail } from './mail.js';
import { LEAD } from './records.js';

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

/** What a teammate is held to, and what it has been asked and allowed. Kept where the teammate runs. */
export class Duty {
  readonly name: string;
  readonly planRequired: boolean;
  /** The plan that waits for an answer, by its request. */
  planRequest: string | undefined;
  /** The wish of the lead that it stops, by its request. */
  shutdownRequest: string | undefined;
  /** It has agreed to stop: it ends with its turn. */
  isOver = false;
  readonly #parts: DutyParts;
  #mode: PermissionMode;

  constructor(parts: DutyParts) {
    this.name = parts.name;
    this.planRequired = parts.planRequired;
    this.#parts = parts;
    this.#mode = modesFor(parts.leadMode, parts.planRequired).first;
  }

  /** Its mode now. */
  mode(): PermissionMode {
    return this.#mode;
  }

  /** The program's own part in a message. False: the message does not count. */
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
      // fail-closed: what was taken back from the lead since, its teammate does not get.
      this.#mode = lowerMode(after, mail.mode ?? 'default');
      this.#parts.approved?.(this.#mode);
    }
    return true;
  }

  /** fail-closed: only the lead asks and approves, and only the plan that was put to it. */
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
