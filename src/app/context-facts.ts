import type { SessionConfig } from '../agents/core/session-config.js';
import { systemPrompt } from '../context/prompt/system-prompt.js';
import type { SystemBlock } from '../model/client.js';
import type { Ground } from './ground.js';

/** Facts about the place, as they stand before the first prompt. */
export function openingFacts(ground: Ground, model: string) {
  return {
    cwd: ground.workspace.cwd,
    additionalDirectories: ground.additional,
    platform: ground.host.platform,
    date: new Date(ground.clock.now()).toISOString().slice(0, 10),
    gitBranch: ground.gitBranch,
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
