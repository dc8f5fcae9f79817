import type { SessionInfo } from '../harness.js';
import { CAPABILITIES, CONTRACT_VERSION } from './frames.js';

/** What a host is told when it initialises a session, and each time it does so again. */
export function initializeAnswer(info: SessionInfo): Readonly<Record<string, unknown>> {
  return {
    commands: [],
    agents: [],
    models: info.models,
    account: { apiKeySource: info.keySource, apiProvider: info.provider },
    output_style: 'default',
    available_output_styles: ['default'],
    claude_code_version: CONTRACT_VERSION,
    current_permission_mode: info.mode,
    capabilities: CAPABILITIES,
    hook_on_failure_supported: true,
    hooks_applied: true,
  };
}
