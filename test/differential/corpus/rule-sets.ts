import type { PermissionMode } from '../../../src/protocol/permissions.js';

/** Permissions under which the frozen command lines are judged, one column of decisions each. */
export interface FrozenRuleSet {
  readonly name: string;
  readonly mode: PermissionMode;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** Judged as the call of an agent with a worktree of its own. */
  readonly fenced?: true;
}

export const FROZEN_RULE_SETS: readonly FrozenRuleSet[] = [
  { name: 'no rules', mode: 'default' },
  {
    name: 'prefixes',
    mode: 'default',
    allow: [
      'Bash(git status:*)',
      'Bash(git diff *)',
      'Bash(git commit:*)',
      'Bash(npm test:*)',
      'Bash(npm run *)',
      'Bash(echo:*)',
      'Bash(find:*)',
      'Bash(sort *)',
      'Bash(cp *)',
      'Bash(sed:*)',
      'Bash(make *)',
      'Bash(python3 *)',
      'Bash(tool *)',
    ],
  },
  { name: 'acceptEdits', mode: 'acceptEdits' },
  {
    name: 'denied commands',
    mode: 'default',
    allow: ['Bash'],
    deny: ['Bash(rm:*)', 'Bash(touch *)', 'Bash(git push:*)'],
    ask: ['Bash(curl:*)'],
  },
  {
    name: 'denied paths',
    mode: 'default',
    allow: ['Bash'],
    deny: ['Read(./.env)', 'Edit(./sub/**)'],
    ask: ['Read(**/*.pem)'],
  },
  { name: 'bypass', mode: 'bypassPermissions' },
  {
    name: 'effects',
    mode: 'default',
    allow: ['Bash'],
    deny: ['Effect(deletes)'],
    ask: ['Effect(writes:outside)'],
  },
  { name: 'worktree', mode: 'bypassPermissions', fenced: true },
];
