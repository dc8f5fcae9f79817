import type { PermissionMode } from '../protocol/permissions.js';
import type { ToolKind } from '../tools/tool.js';

/**
 * What a mode says about a kind of tool, once no guard objects. `allow`: runs. `inside`: runs where
 * everything it touches lies in the working directories. `open`: the mode says nothing. `hold`: a
 * person must agree, whatever the rules allow.
 */
export type Stance = 'allow' | 'inside' | 'open' | 'hold';

const ASKING: Readonly<Record<ToolKind, Stance>> = {
  read: 'inside',
  edit: 'open',
  execute: 'open',
  network: 'open',
  control: 'allow',
};

const EVERYTHING: Readonly<Record<ToolKind, Stance>> = {
  read: 'allow',
  edit: 'allow',
  execute: 'allow',
  network: 'allow',
  control: 'allow',
};

export const STANCES: Readonly<Record<PermissionMode, Readonly<Record<ToolKind, Stance>>>> = {
  default: ASKING,
  // Simple file commands of a shell are edits too.
  acceptEdits: { ...ASKING, edit: 'inside', execute: 'inside' },
  plan: { ...ASKING, edit: 'hold' },
  // As default; what would be asked is refused.
  dontAsk: ASKING,
  bypassPermissions: EVERYTHING,
};
