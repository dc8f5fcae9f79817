import { createModelChoices } from '../../agents/model-choice.js';
import type { ModelLayer } from '../../agents/model-layer.js';
import type { SessionConfig } from '../../agents/session-config.js';
import type { ContextReport } from '../../context/context-report.js';
import { type IncludeAnswers, openIncludeApprovals } from '../../context/include-approvals.js';
import { projectPlace } from '../../context/instruction-places.js';
import { homeDirectory, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { contextAtStart } from '../../harness/context-view.js';
import { type Ground, openGround } from '../../harness/ground.js';
import { asMainAgent } from '../../harness/main-agent.js';
import { openParts } from '../../harness.js';
import { chooseProvider } from '../../model/provider.js';
import { UsageLedger } from '../../model/usage.js';
import { visible } from '../../util/visible.js';
import type { SessionFields } from '../options.js';

export interface ContextWishes {
  readonly session: SessionFields;
  readonly cwd: string;
  /** As `-p` would be shown it: without the tools that need a person. */
  readonly headless: boolean;
  warn(text: string): void;
}

export interface ContextHere {
  readonly report: ContextReport;
  /** What a person has said about files from outside the project. */
  readonly approvals: IncludeAnswers;
}

/** What a session that is started here now would show its model. */
export async function contextHere(wishes: ContextWishes): Promise<ContextHere> {
  const asked: SessionConfig = {
    ...wishes.session,
    cwd: wishes.cwd,
    env: process.env,
    entrypoint: 'portcullis-context',
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: false,
    startServers: false,
    emit: (news) => {
      if (news.type === 'notice' && news.level === 'warning') wishes.warn(news.text);
    },
    ...(wishes.headless ? {} : { asker: nobody }),
  };
  const ground = await openGround(asked);
  // A session that runs as an agent has that one's words, tools and model.
  const config = await asMainAgent(asked, ground, undefined);
  const given = config.runsAs?.skills ?? [];
  if (given.length > 0) {
    const names = visible(given.join(', '));
    wishes.warn(`skills whose texts the agent is given at the start are not counted: ${names}`);
  }
  const parts = await openParts(config, ground, silentModel(config, ground));
  try {
    const { realRoot } = await projectPlace(ground.fs, config.cwd, homeDirectory(ground.env));
    const { env, fs } = ground;
    const store = openIncludeApprovals({ fs, stateDirectory: stateDirectory(env) });
    return {
      report: await contextAtStart(config, ground, parts),
      approvals: await store.answers(realRoot),
    };
  } finally {
    await parts.skills.close();
    await parts.hooks.close();
    await parts.processes.killAll();
  }
}

const nobody: NonNullable<SessionConfig['asker']> = () =>
  Promise.reject(new PortcullisError('usage', 'nobody is asked here'));

/** The name and the limits of the model that would be asked. Asking it is a mistake. */
export function silentModel(config: SessionConfig, ground: Ground): ModelLayer {
  const { env } = ground;
  const choice = chooseProvider(env, { model: config.model ?? ground.settings.model?.value });
  const provider = choice.kind === 'openai' ? 'openai-compatible' : choice.kind;
  const named = choice.kind === 'none' ? config.model : choice.model;
  const name = named ?? (choice.kind === 'openai' ? env.OPENAI_MODEL : undefined);
  return {
    client: {
      provider,
      // biome-ignore lint/correctness/useYield: it is never asked.
      async *stream() {
        throw new PortcullisError('usage', 'no model is asked here');
      },
      elapsedMs: () => 0,
    },
    clientFor() {
      return this.client;
    },
    ledger: new UsageLedger(),
    choices: createModelChoices({ ...config, name, env, provider, maxBudgetUsd: undefined }),
  };
}
