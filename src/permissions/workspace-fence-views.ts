import { basename } from '../platform/fs/paths.js';
import { type ShellWord, type SimpleCommand, UNKNOWN_WORD } from './shell/model.js';
import { disguisesOf, unwrapForGrant } from './shell/runners.js';
import { looksOf } from './workspace-fence-words.js';

type Words = readonly ShellWord[];

export function unreadable(why: string): string {
  return `it cannot be told that the command stays in the workspace: ${why}. Write it in simple commands with plain words`;
}

/** Whether it may do more than look. */
export function canWrite(command: SimpleCommand): boolean {
  return (
    command.redirections.some(({ access }) => access === 'write') ||
    viewsOf(command).some((view) => looksOf(view) === undefined)
  );
}

/** What runs, behind wrappers that are fully understood; else whatever any word may stand for. */
export function viewsOf(command: SimpleCommand): readonly Words[] {
  const { words, fed } = unwrapForGrant(command.words);
  if (words === command.words) return command.views;
  const own = new Set<ShellWord>([UNKNOWN_WORD, ...command.words]);
  const isPart = (view: Words): boolean => view.every((word) => own.has(word));
  const inner = disguisesOf(words).views.map((view) => (fed ? [...view, UNKNOWN_WORD] : view));
  return [...inner, ...command.views.filter((view) => !isPart(view))];
}

/** For a message. */
export function short(raw: string): string {
  const line = raw.split('\n')[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 80)}…` : line === '' ? basename(raw) : line;
}
