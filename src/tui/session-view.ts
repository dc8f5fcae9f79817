import type { SessionEvent } from '../client/events.js';
import type { ReadText } from '../client/proposed-change.js';
import type { SessionSnapshot } from '../client/session-client.js';
import { Conversation } from './conversation.js';
import { QuestionQueue } from './dialogs/question-queue.js';
import { renderEntry } from './entries.js';
import { Pager } from './overlays/pager.js';
import type { Line } from './screen/line.js';
import { liveNotice, noticeOf } from './views/notices.js';
import { AgentTree } from './views/panels.js';
import type { WindowKind } from './window.js';

interface ViewOptions {
  readonly readText: ReadText;
  now(): number;
  readonly kind?: WindowKind | undefined;
}

/** Everything that the terminal knows of the session, derived from its events. */
export class SessionView {
  readonly conversation: Conversation;
  readonly questions: QuestionQueue;
  readonly agents: AgentTree;
  snapshot: SessionSnapshot | undefined;
  /** When the running turn began; undefined: none runs. */
  runningSince: number | undefined;
  isCompacting = false;
  readonly #now: () => number;
  readonly #appendOnly: boolean;

  constructor({ readText, now, kind = 'full' }: ViewOptions) {
    this.#now = now;
    this.#appendOnly = kind !== 'full';
    this.conversation = new Conversation({ now, echoes: kind === 'lines' || kind === 'dumb' });
    this.questions = new QuestionQueue({ readText, now, appendOnly: this.#appendOnly });
    this.agents = new AgentTree(now);
  }

  get activity(): string {
    if (this.isCompacting) return 'Summarising';
    if (this.conversation.isThinking) return 'Thinking';
    if (this.conversation.isWriting) return 'Writing';
    return this.conversation.cards.size > 0 ? 'Running tools' : 'Waiting for the model';
  }

  /** Everything so far, unfolded. */
  transcript(): Pager {
    const rows = (columns: number): Line[] => {
      const options = { columns, now: this.#now(), expanded: true };
      return this.conversation.entries.flatMap((entry) => renderEntry(entry, options));
    };
    return new Pager({ title: 'Transcript', fromEnd: true, rows });
  }

  update(snapshot: SessionSnapshot | undefined): void {
    this.snapshot = snapshot;
    this.agents.update(snapshot?.agents ?? []);
  }

  follow(event: SessionEvent): void {
    const isAwaited = event.type === 'task_finished' && this.agents.isAwaited(event.taskId);
    this.conversation.follow(event);
    this.agents.follow(event);
    const live = this.#appendOnly ? liveNotice(event) : undefined;
    const notice = isAwaited ? undefined : (noticeOf(event) ?? live);
    if (notice !== undefined) this.conversation.notice(notice.text, notice.level);
    switch (event.type) {
      case 'question':
        this.questions.add(event.question);
        return;
      case 'question_closed':
        this.questions.remove(event.id);
        return;
      case 'turn_started':
        this.runningSince ??= this.#now();
        return;
      case 'turn_finished':
        this.runningSince = undefined;
        this.isCompacting = false;
        return;
      case 'state':
        if (event.state === 'idle') this.runningSince = undefined;
        else if (event.state === 'running') this.runningSince ??= this.#now();
        return;
      case 'compacting':
        this.isCompacting = true;
        return;
      case 'compacted':
      case 'compaction_failed':
        this.isCompacting = false;
        return;
      case 'replacing':
        this.conversation.reset();
        this.agents.clear();
        this.runningSince = undefined;
        return;
      default:
        return;
    }
  }
}

/** Events after which numbers of the status line may be others. */
export const STATUS_EVENTS: ReadonlySet<SessionEvent['type']> = new Set([
  'opened',
  'answer',
  'turn_started',
  'turn_finished',
  'mode',
  'state',
  'compacted',
  'task_started',
  'task_progress',
  'task_finished',
  'background_tasks',
] as const);
