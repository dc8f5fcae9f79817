import type { Composer } from './input/composer.js';
import type { Line } from './screen/line.js';
import type { Frame, WindowSize } from './screen/tail-renderer.js';
import type { SessionView } from './session-view.js';
import { activityRow, queueRows, taskRows, todoRows } from './views/panels.js';
import { type StatusFacts, statusRows } from './views/status-line.js';

export interface FrameFacts {
  readonly view: SessionView;
  readonly composer: Composer;
  readonly status: Omit<StatusFacts, 'snapshot' | 'questions' | 'vimMode'>;
  readonly now: number;
  readonly showTodos: boolean;
  readonly showThinking: boolean;
}

/**
 * The live region: what is going on, then the question or the prompt, then the status line. The rows below
 * come first where the window is small.
 */
export function buildFrame(facts: FrameFacts, { columns, rows }: WindowSize): Frame {
  const { view, composer } = facts;
  const room = Math.max(1, rows - 1);
  const status = statusRows(
    {
      ...facts.status,
      snapshot: view.snapshot,
      questions: view.questions.size,
      vimMode: composer.vimMode,
    },
    columns,
  ).slice(0, Math.max(0, room - 2));
  const typed = composer.lines(columns);
  const asked = view.questions.size > 0;
  // An empty prompt under a question that takes the keys only takes up room.
  const isTyping = view.questions.settlesIn !== 0 && view.questions.interruptsTyping;
  const showsPrompt = !asked || isTyping || !composer.editor.isEmpty;
  const prompt = showsPrompt ? typed.lines : [];
  const dialog = view.questions.view(columns, Math.max(4, room - status.length - prompt.length));
  const takesKeys = asked && view.questions.settlesIn === 0;
  const above = upperRows(facts, columns);
  const left = Math.max(0, room - status.length - prompt.length - (dialog?.lines.length ?? 1));
  const upper = left === 0 ? [] : above.slice(-left);
  const middle: readonly Line[] = dialog?.lines ?? (room > 2 ? [[]] : []);
  const lines = [...upper, ...middle, ...prompt, ...status];
  const dialogCaret = dialog?.caret && {
    row: upper.length + dialog.caret.row,
    offset: dialog.caret.offset,
  };
  const promptCaret = {
    row: upper.length + middle.length + typed.caret.row,
    offset: typed.caret.offset,
  };
  return { lines, caret: takesKeys ? dialogCaret : showsPrompt ? promptCaret : undefined };
}

function upperRows({ view, now, showTodos, showThinking }: FrameFacts, columns: number): Line[] {
  const { conversation, agents, runningSince } = view;
  const live = conversation.live({ columns, now, showThinking }, view.questions.calls);
  const activity =
    runningSince === undefined || view.questions.size > 0
      ? []
      : [
          [],
          activityRow(view.activity, {
            now,
            since: runningSince,
            characters: conversation.streamed,
          }),
        ];
  return [
    ...live,
    ...activity,
    ...agents.lines(view.questions.agents),
    ...taskRows(view.snapshot?.tasks ?? []),
    ...(showTodos ? todoRows(conversation.todos) : []),
    ...queueRows(conversation.queue),
  ];
}
