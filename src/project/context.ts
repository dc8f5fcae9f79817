import { contextAtStart } from '../agents/core/context-view.js';
import type { SessionConfig } from '../config/session-config.js';
import type { ContextReport } from '../context/compaction/context-report.js';
import {
  type IncludeAnswers,
  openIncludeApprovals,
} from '../context/instructions/include-approvals.js';
import { projectPlace } from '../context/instructions/places.js';
import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import { expandHome, isInside, resolve } from '../platform/fs/paths.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import { openSessionParts, type SessionPartsOptions } from './session-parts.js';

/** What the model of a session started here would be shown. */
export interface ProjectContext {
  readonly report: ContextReport;
  /** The answers of a person about files from outside the project. */
  readonly approvals: IncludeAnswers;
}

export interface ContextOptions
  extends Omit<SessionPartsOptions, 'entrypoint' | 'emit' | 'asksModel' | 'asAgent' | 'persist'> {
  /** As with `-p`: without the tools that need a person. */
  readonly headless: boolean;
}

export async function readProjectContext(
  places: ProjectPlaces,
  options: ProjectOptions,
  { headless, ...session }: ContextOptions,
): Promise<ProjectContext> {
  const warn = options.warn ?? (() => undefined);
  const opened = await openSessionParts(places, options, {
    ...session,
    entrypoint: 'portcullis-context',
    asksModel: false,
    asAgent: true,
    emit: (news) => {
      if (news.type === 'notice' && news.level === 'warning') warn(news.text);
    },
    ...(headless ? {} : { asker: refuseQuestion }),
  });
  try {
    const { config, environment, parts } = opened;
    const preloaded = config.runsAs?.skills ?? [];
    if (preloaded.length > 0) {
      warn(
        `skills that the agent loads at the start are not counted: ${visible(preloaded.join(', '))}`,
      );
    }
    const { realRoot } = await projectPlace(places.fs, places.cwd, places.home);
    return {
      report: await contextAtStart(config, environment, parts),
      approvals: await openIncludeApprovals(places).answers(realRoot),
    };
  } finally {
    await opened.close();
  }
}

const refuseQuestion: NonNullable<SessionConfig['asker']> = () =>
  Promise.reject(new PortcullisError('usage', 'no person can be asked here'));

/** Keeps a person's answer about files from outside the project, for exactly these files. */
export async function answerIncludes(
  places: ProjectPlaces,
  answer: 'approve' | 'decline',
  paths: readonly string[],
): Promise<{ readonly realRoot: string; readonly files: readonly string[] }> {
  const { fs, cwd, home, stateDirectory } = places;
  const { realRoot } = await projectPlace(fs, cwd, home);
  const files: string[] = [];
  for (const path of paths) {
    files.push(await realFile(places, expandHome(path, home), { answer, realRoot }));
  }
  const store = openIncludeApprovals(places);
  await store.answer(realRoot, answer, files);
  const { approved } = await store.answers(realRoot);
  for (const file of answer === 'approve' ? files : []) {
    // A state directory inside the project, or one that others may write, keeps nothing.
    if (approved.includes(file)) continue;
    throw new PortcullisError('config', `the approval of ${visible(file)} does not count`, {
      remedy: `${visible(stateDirectory)} must be outside of the project, and only you may write to it`,
    });
  }
  return { realRoot, files };
}

/** fail-closed: only an existing file can be approved, because a link may lead elsewhere later. */
async function realFile(
  { fs }: ProjectPlaces,
  named: string,
  { answer, realRoot }: { readonly answer: 'approve' | 'decline'; readonly realRoot: string },
): Promise<string> {
  const path = resolve(named);
  const stat = await fs.stat(path);
  if (stat === undefined && answer === 'decline') return path;
  if (stat?.kind !== 'file') {
    throw new PortcullisError('usage', `${visible(path)} is not a file`, {
      remedy: 'name each file; folders cannot be approved',
    });
  }
  const real = await fs.realPath(path);
  if (answer === 'approve' && isInside(real, realRoot)) {
    throw new PortcullisError('usage', `${visible(path)} is inside the project`, {
      remedy: 'it needs no approval',
    });
  }
  return real;
}
