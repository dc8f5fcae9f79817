import type { PermissionMode } from '../../protocol/permissions.js';
import type { TeammateWay } from './records.js';

/** Who a process is that was started as a teammate. */
export interface MemberIdentity {
  readonly team: string;
  readonly name: string;
  readonly agentId: string;
  /** The session of the lead. */
  readonly leadSessionId: string;
}

/** What a session is to a team. */
export type TeamRole =
  | {
      readonly kind: 'lead';
      /** Where teammates run; goes before the setting `teammateMode`. */
      readonly way?: TeammateWay | 'auto' | undefined;
      /** How to start this program once more, for those with a process of their own. */
      readonly program: readonly string[];
    }
  | {
      readonly kind: 'member';
      readonly identity: MemberIdentity;
      readonly planRequired: boolean;
      /** The mode of the lead when this one was started. */
      readonly leadMode: PermissionMode;
    };
