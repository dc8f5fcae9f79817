import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { Duplicate } from '../types.js';
import { JsonScan } from './json-scan.js';

export type LocatedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly duplicates: readonly Duplicate[];
      lineOf(way: readonly (string | number)[]): number | undefined;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Parses JSON and can say on which line each value stands, or where the text stops being JSON. */
export function parseLocatedJson(text: string): LocatedJson {
  if (last?.text === text) return last.json;
  const json = located(text);
  last = { text, json };
  return json;
}

/** Trust and the settings look at the same file, one after the other. Nobody changes what he is given. */
let last: { readonly text: string; readonly json: LocatedJson } | undefined;

function located(text: string): LocatedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const scan = new JsonScan(source);
  // fail-closed: what only the parser takes (`__proto__`, however it is written, endless nesting) is
  // refused by the scan. What it lets pass needs no more than the bare parser.
  const parsed: Result<unknown, FailedScan> =
    scan.failure === undefined ? parse(source) : err(scan.failure);
  if (!parsed.ok) {
    const { offset, message } = parsed.error;
    return { ok: false, line: lineAt(lineStarts(source), offset), message };
  }
  let starts: readonly number[] | undefined;
  let last = 0;
  const line = (offset: number): number => {
    starts ??= lineStarts(source);
    // Mostly the next one is asked for.
    last = isOnLine(starts, last + 1, offset) ? last + 1 : lineAt(starts, offset);
    return last;
  };
  return {
    ok: true,
    value: parsed.value,
    duplicates: scan.duplicates.map(({ way, offset }) => ({ way, line: line(offset) })),
    lineOf(way) {
      const offset = scan.offsetOf(way);
      return offset === undefined ? undefined : line(offset);
    },
  };
}

type FailedScan = NonNullable<JsonScan['failure']>;

function parse(source: string): Result<unknown, FailedScan> {
  try {
    return ok(JSON.parse(source));
  } catch (thrown) {
    return err({ offset: 0, message: messageOf(thrown) });
  }
}

function lineStarts(source: string): readonly number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

function isOnLine(starts: readonly number[], line: number, offset: number): boolean {
  const from = starts[line - 1];
  return (
    from !== undefined && from <= offset && offset < (starts[line] ?? Number.POSITIVE_INFINITY)
  );
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
