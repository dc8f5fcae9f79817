import { systemClock } from '../env/clock.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { configDirectory, stateDirectory } from '../env/paths.js';
import { openProjectTrust, type ProjectTrust, type SessionConfig } from '../harness.js';
import { visible } from '../util/visible.js';
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
  const trust = projectTrust(config);
  const seen = await trust.check();
  const given = config.trust || config.env.PORTCULLIS_TRUST === 'once';
  if (seen.pending.length === 0 || given) return trust;
  const list = await whatIsAsked(trust, seen);
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

export function projectTrust(config: Omit<TrustQuestion['config'], 'trust'>): ProjectTrust {
  return openProjectTrust({
    fs: nodeFileSystem,
    cwd: config.cwd,
    configDir: configDirectory(config.env),
    stateDirectory: stateDirectory(config.env),
    now: systemClock.now,
    ...(config.settingSources === undefined ? {} : { sources: config.settingSources }),
  });
}

/** What a person has to know before the answer; the same here and in `portcullis trust`. */
export async function whatIsAsked(
  trust: ProjectTrust,
  seen: Awaited<ReturnType<ProjectTrust['check']>>,
): Promise<string> {
  const head =
    seen.verdict === 'changed'
      ? `What the files of ${visible(seen.root)} run or allow has changed since it was trusted (+ new, ~ changed):`
      : `Files of ${visible(seen.root)} want to run programs or to allow things without asking:`;
  return [
    '',
    head,
    ...(await trust.show(seen)),
    '',
    'Say yes only if you know who wrote them. Deny rules and instructions of the folder hold either way.',
    '',
  ].join('\n');
}
