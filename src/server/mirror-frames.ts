import type { SessionNews } from '../app.js';
import { isRecord } from '../lib/own.js';
import { type Frame, shortened, tooLong, UNLIMITED } from './wire.js';

export interface MirrorOptions {
  readonly frameLimit?: number;
  readonly sessionId: () => string;
  uuid(): string;
}

/**
 * New lines of a transcript for a host that keeps a copy. Lines that are too long together go one by one.
 * What was said stays whole: only a tool's raw output beside its result is cut, and says so. A line that
 * is still too long is reported as missing from the copy.
 */
export function mirrorFrames(
  { path, lines }: Extract<SessionNews, { type: 'transcript' }>,
  options: MirrorOptions,
): readonly Frame[] {
  const { frameLimit: limit = UNLIMITED } = options;
  const frameOf = (entries: readonly unknown[]): Frame => ({
    type: 'transcript_mirror',
    filePath: path,
    entries,
  });
  const whole = frameOf(lines);
  if (tooLong(whole, limit) === undefined) return [whole];
  return lines.map((line) => {
    const one = frameOf([line]);
    if (tooLong(one, limit) === undefined) return one;
    const cut = frameOf([withoutRawOutput(line)]);
    const problem = tooLong(cut, limit);
    return problem === undefined ? cut : missing(problem, options);
  });
}

function withoutRawOutput(line: unknown): unknown {
  if (!isRecord(line) || line.toolUseResult === undefined) return line;
  return { ...line, toolUseResult: shortened(line.toolUseResult), toolUseResultTruncated: true };
}

function missing(problem: string, { sessionId, uuid }: MirrorOptions): Frame {
  return {
    type: 'system',
    subtype: 'mirror_error',
    error: `a line of the transcript is missing from the copy: ${problem}`,
    key: null,
    uuid: uuid(),
    session_id: sessionId(),
  };
}
