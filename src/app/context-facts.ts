import type { SessionConfig } from '../agents/core/session-config.js';
import { systemPrompt } from '../context/prompt/system-prompt.js';
import type { SystemBlock } from '../model/client.js';
import type { SessionEnvironment } from './session-environment.js';

/** Facts about the place, as they stand before the first prompt. */
export function openingFacts(environment: SessionEnvironment, model: string) {
  return {
    cwd: environment.workspace.cwd,
    additionalDirectories: environment.additional,
    platform: environment.host.platform,
    date: new Date(environment.clock.now()).toISOString().slice(0, 10),
    gitBranch: environment.gitBranch,
    model,
  };
}

export function systemOf(config: SessionConfig): readonly SystemBlock[] {
  return systemPrompt({
    replacement: config.systemPrompt,
    appended: config.appendSystemPrompt,
    style: config.outputStyle,
  });
}
