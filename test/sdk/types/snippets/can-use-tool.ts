import { type CanUseTool, type PermissionResult, type PermissionUpdate, query } from 'the-sdk';

const canUseTool: CanUseTool = async (toolName, input, options) => {
  if (options.signal.aborted) return { behavior: 'deny', message: 'too late', interrupt: true };
  if (toolName === 'Bash' && String(input.command).startsWith('git ')) {
    const updates: PermissionUpdate[] = [
      ...(options.suggestions ?? []),
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'git status' }],
        behavior: 'allow',
        destination: 'session',
      },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ];
    return { behavior: 'allow', updatedInput: input, updatedPermissions: updates };
  }
  const why = options.decisionReason ?? options.blockedPath ?? options.title ?? options.toolUseID;
  return { behavior: 'deny', message: `no: ${why} ${options.agentID ?? ''}` };
};

export const asked = (prompt: string) => query({ prompt, options: { canUseTool } });

export async function decide(result: Promise<PermissionResult>): Promise<boolean> {
  const answer = await result;
  return answer.behavior === 'allow'
    ? answer.updatedInput !== undefined
    : answer.interrupt === true;
}
