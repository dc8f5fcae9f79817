import type { PermissionMode } from '../../src/protocol/permissions.js';

/** Permissions under which scripts are judged. */
export interface RuleSet {
  readonly name: string;
  readonly mode: PermissionMode;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const RULE_SETS: readonly RuleSet[] = [
  { name: 'read-only', mode: 'default', allow: [], deny: [] },
  {
    name: 'prefixes',
    mode: 'default',
    allow: [
      'Bash(git status:*)',
      'Bash(git diff *)',
      'Bash(npm test:*)',
      'Bash(npm run *)',
      'Bash(echo:*)',
      'Bash(find:*)',
      'Bash(sort *)',
    ],
    deny: [],
  },
  { name: 'acceptEdits', mode: 'acceptEdits', allow: [], deny: [] },
  {
    name: 'deny rules',
    mode: 'default',
    allow: ['Bash'],
    deny: ['Bash(rm:*)', 'Bash(touch *)', 'Bash(git push:*)', 'Read(./.env)'],
  },
];
