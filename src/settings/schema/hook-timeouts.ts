import { isRecord } from '../../lib/own.js';
import { HOOK_EVENTS } from '../../protocol/hook-events.js';
import type { ConfigProblem, SettingsFile } from '../types.js';
import { unknownEvent } from './hooks.js';
import { inWords, isComment, milder, problem, type ValueContext } from './type-check.js';

/** Too short for any program to answer: probably meant as seconds. */
const TOO_SHORT_MS = 100;

/** What the shape of `portcullis.hookTimeouts` does not show: names of events, and the unit. */
export function checkHookTimeouts(file: SettingsFile): readonly ConfigProblem[] {
  const { portcullis } = file.content;
  const timeouts = isRecord(portcullis) ? portcullis.hookTimeouts : undefined;
  if (!isRecord(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([event, value]) => {
    if (isComment(event)) return [];
    const way = ['portcullis', 'hookTimeouts', event];
    const at: ValueContext = { file, way, restricts: file.trusted };
    if (!Object.hasOwn(HOOK_EVENTS, event)) return [unknownEvent(event, at, 'has no effect')];
    if (typeof value !== 'number' || value <= 0 || value >= TOO_SHORT_MS) return [];
    const message = `\`${inWords(way)}\` is ${value} milliseconds, in which hardly a hook answers.`;
    return [problem(milder(at), message, 'For seconds write thousands: 5000 is five seconds.')];
  });
}
