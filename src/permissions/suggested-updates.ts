import { dirname, isInside } from '../platform/fs/paths.js';
import type { PermissionUpdate } from '../protocol/permissions.js';
import type { AskRequest } from './types.js';

/** What a host can send back as `updatedPermissions` so that such a call is not asked about again. */
export function suggestedUpdates(request: AskRequest): readonly PermissionUpdate[] {
  const { call, suggestion } = request;
  // What a guard holds, no rule opens.
  if (suggestion === undefined) return [];
  if (call.tool.kind === 'edit') return editUpdates(request);
  const rule = /^([^()]+)(?:\((.*)\))?$/s.exec(suggestion);
  const toolName = rule?.[1];
  if (toolName === undefined) return [];
  const ruleContent = rule?.[2];
  const destination = call.tool.kind === 'read' ? 'session' : 'localSettings';
  return [
    {
      type: 'addRules',
      rules: [{ toolName, ruleContent }],
      behavior: 'allow',
      destination,
    },
  ];
}

/** Edits are opened by mode, as people know it: all of them, for this session. */
function editUpdates({ call, mode }: AskRequest): readonly PermissionUpdate[] {
  const updates: PermissionUpdate[] = [];
  if (mode === 'default') {
    updates.push({ type: 'setMode', mode: 'acceptEdits', destination: 'session' });
  }
  const { roots } = call.workspace;
  const outside = call.subject.paths
    .filter(({ path }) => !roots.some((root) => isInside(path, root)))
    .map(({ path }) => dirname(path));
  if (outside.length > 0) {
    const directories = [...new Set(outside)];
    updates.push({ type: 'addDirectories', directories, destination: 'session' });
  }
  return updates;
}
