import type { ProjectTrust, SessionConfig } from '../harness.js';
import { openProject } from '../project/project.js';
import { trustRequestText } from '../project/trust.js';
import type { AskLine } from './terminal-input.js';

export interface TrustQuestion {
  readonly config: Pick<SessionConfig, 'cwd' | 'env' | 'trust' | 'settingSources'>;
  out(text: string): void;
  readonly ask: AskLine;
}

/**
 * Before a conversation: shows what the project would run or be allowed and asks, unless it declares
 * nothing or is trusted already. Undefined: the person said no, and nothing must be started.
 */
export async function settleTrust(question: TrustQuestion): Promise<ProjectTrust | undefined> {
  const { config, out } = question;
  const { folderTrust: trust } = openProject(config.cwd, {
    env: config.env,
    sources: config.settingSources,
  });
  const seen = await trust.check();
  const given = config.trust || config.env.PORTCULLIS_TRUST === 'once';
  if (seen.pending.length === 0 || given) return trust;
  const list = await trustRequestText(trust, seen);
  // fail-closed: anything but a clear yes is a no, and so is the end of input.
  const answer = (await question.ask(`${list}Trust this folder? [y/n] `))?.trim() ?? '';
  if (!/^(y|yes)$/i.test(answer)) {
    out('\nNot trusted; nothing was started.\n');
    return undefined;
  }
  const { stored, refusal } = await trust.accept(seen, { store: true });
  out(
    stored
      ? 'Trusted until one of these changes. `portcullis trust --revoke` takes it back.\n'
      : `Trusted for this session only: ${refusal}.\n`,
  );
  return trust;
}
