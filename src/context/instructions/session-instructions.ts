import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { visible } from '../../lib/text/visible.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import type { JudgedCall } from '../../permissions/gate/types.js';
import type { IsHidden } from '../../permissions/paths/hidden-files.js';
import { homeDirectory } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Workspace } from '../../tools/tool.js';
import {
  createHiddenFileCheck,
  enforcedCompiler,
  openEnforced,
  wasChosen,
  withoutHiddenFiles,
} from '../enforced/compiled.js';
import { nearGuard } from '../enforced/guard.js';
import { createEnforcedHold } from '../enforced/policy.js';
import { instructionWarnings } from '../prompt/first-messages.js';
import type { InstructionBook } from './book.js';
import { instructionsReminder } from './reminder.js';
import { type Fences, openInstructionBook, settleIncludes } from './session-book.js';
import { touchedFiles } from './touched-files.js';
import type { LoadedFiles, LoadedInstruction } from './types.js';

/** The instruction files of a session: what they say, and what they enforce. */
export async function openInstructions(
  config: SessionConfig,
  environment: SessionEnvironment,
  fences: Fences,
) {
  const { fs, env } = environment;
  const home = homeDirectory(env);
  const readAt = environment.clock.monotonic();
  const { book, hiding, approvals, problems } = openInstructionBook(config, environment, fences);
  /** Each agent has its own conversation, and so its own account of what was shown in it. */
  const books = new Map<string, ShownIn>();
  /** Of calls whose answers go elsewhere than to the agent for which they are judged. */
  const elsewhere = new Map<string, ShownIn>();
  const compile = enforcedCompiler(config.cwd, home);
  await settleIncludes(config, { book, approvals, fs, home });
  const inForce = await openEnforced(config, { book, compile, problems });
  if (hiding.enforce(inForce.rules)) await book.hideAgain();
  const hold = createEnforcedHold();
  const near = { book, compile, hold, fs, home };
  /** What an agent is shown of it. */
  const shownTo = async (agent: AgentRef, found: LoadedFiles): Promise<LoadedFiles> => {
    const isHidden = agent.depth === 0 ? undefined : hiding.of(agent);
    const isIncluded = found.files.some(({ parent }) => parent !== undefined);
    if (isHidden === undefined && !isIncluded) return found;
    const isHiddenNear = createHiddenFileCheck(near, environment.workspace);
    return await withoutHiddenFiles(found, async (file) => {
      if (!(await wasChosen(file, fs))) return false;
      if (file.parent !== undefined && (await isHiddenNear(file.path))) return true;
      return (await isHidden?.(file.path, { isIncluded: file.parent !== undefined })) === true;
    });
  };
  const once = new Set<string>();
  const tellOnce = (text: string): void => {
    if (once.has(text)) return;
    once.add(text);
    config.emit({ type: 'notice', level: 'warning', text });
  };
  const listeners: ((file: LoadedInstruction) => void)[] = [];
  const told = ({ files }: Pick<LoadedFiles, 'files'>): void => {
    for (const file of files.filter(({ kind }) => kind !== 'setting')) {
      for (const listener of listeners) listener(file);
    }
  };
  /** Shows an agent what came into play. */
  const toldTo = async (agent: AgentRef, brought: LoadedFiles): Promise<string | undefined> => {
    const found = await shownTo(agent, brought);
    for (const text of instructionWarnings(found)) {
      config.emit({ type: 'notice', level: 'warning', text });
    }
    told(found);
    return instructionsReminder(found.files, { occasion: 'touched' });
  };
  const extension: GateExtension = {
    guards: [nearGuard(book, compile, hold)],
    resolvers: [],
    rules: inForce.rules,
  };
  return {
    book,
    extension,
    told,
    /** What the files enforce now, once a turn. */
    refresh: inForce.refresh,
    /** Other settings hold from now on. */
    replace: hiding.replace,
    /** Whether rules keep a file from being read. */
    isHidden: hiding.isHidden,
    /** What an agent is shown at its beginning. */
    async openFor(agent: AgentRef): Promise<LoadedFiles> {
      const all = await book.open();
      const found = await shownTo(agent, all);
      // The rest was told when the session began.
      const skipped = found.skipped.filter((one) => !all.skipped.includes(one));
      for (const text of instructionWarnings({ files: [], skipped })) {
        tellOnce(`to agents of the type ${visible(agent.type)} less is shown: ${text}`);
      }
      return found;
    },
    /** The files that a search or listing leaves out: besides those of other rules, what files near them hide. */
    hidingNear(isHidden: IsHidden | undefined, place: Pick<Workspace, 'roots'>): IsHidden {
      const isHiddenNear = createHiddenFileCheck(near, place);
      return async (path) => (await isHidden?.(path)) === true || (await isHiddenNear(path));
    },
    onLoaded: (listener: (file: LoadedInstruction) => void) => void listeners.push(listener),
    /** Instructions that a call brought into play, as the text that shows them. */
    async touchedBy(view: JudgedCall, signal: AbortSignal): Promise<Touched> {
      const paths = await touchedFiles(view);
      const { agent, toolUseId } = view.call;
      const itsOwn = agent.depth === 0 ? book : books.get(agent.id);
      const own = elsewhere.has(toolUseId) ? elsewhere.get(toolUseId) : itsOwn;
      if (paths.length === 0 || own === undefined) return { paths };
      const brought = await own.touched(paths, signal);
      const isNothing = brought.files.length + brought.skipped.length === 0;
      return { paths, text: isNothing ? undefined : await toldTo(agent, brought) };
    },
    /** A call begins whose answer is shown there. The function that ends it is to be called. */
    countIn(toolUseId: string, shownIn: ShownIn): () => void {
      elsewhere.set(toolUseId, shownIn);
      return () => void elsewhere.delete(toolUseId);
    },
    /** An agent begins; one that is shown no instructions is shown none by its files either. */
    admit(agentId: string, { shown }: { readonly shown: boolean }): void {
      books.set(agentId, shown ? book.forAnother() : undefined);
    },
    release: ({ id }: AgentRef): void => void books.delete(id),
    /** Instructions that are different on disk now. `atStart`: no program of ours has run since they were read. */
    async changed({ atStart }: { readonly atStart: boolean }): Promise<string | undefined> {
      // A prompt that comes with the start: hundreds of files need not be looked at twice for it.
      if (atStart && environment.clock.monotonic() - readAt < JUST_READ_MS) return undefined;
      const files = (await book.changed()).filter(({ scope }) => scope !== 'memory');
      return instructionsReminder(files, { occasion: 'changed' });
    },
    /** What is shown again after a summary. */
    async afterCompaction(): Promise<string | undefined> {
      const found = await book.afterCompaction();
      told(found);
      return instructionsReminder(found.files, { occasion: 'compact' });
    },
  };
}

/** A prompt that was given with the start follows in less, one that is typed does not. */
const JUST_READ_MS = 100;

/** The instruction book of a conversation. Undefined: the conversation is shown no instructions. */
export type ShownIn = Pick<InstructionBook, 'touched'> | undefined;

export type OpenInstructions = Awaited<ReturnType<typeof openInstructions>>;

/** The files that a call showed or wrote, and what that brought into play. */
export interface Touched {
  readonly paths: readonly string[];
  readonly text?: string;
}
