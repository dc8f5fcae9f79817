import { readFileSync } from 'node:fs';
import { messageOf, PortcullisError } from '../../errors.js';
import type { HookEventName } from '../../hooks/hook.js';
import { parseJson } from '../../util/json.js';
import { isRecord } from '../../util/own.js';
import { visible } from '../../util/visible.js';
import { readPiped } from '../stdin.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Input fields that somebody gives, from a file or from standard input (`-`). */
export async function readPayload(
  place: string,
  event: HookEventName,
  warn: (text: string) => void,
): Promise<Fields> {
  const text = place === '-' ? await readPiped({ optional: false, warn }) : readFile(place);
  const parsed = parseJson(text ?? '');
  if (!parsed.ok) throw wrong(`${shown(place)} is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) throw wrong(`${shown(place)} is not a JSON object`);
  const named = parsed.value.hook_event_name;
  if (named !== undefined && named !== event) {
    throw wrong(`${shown(place)} was recorded for ${visible(String(named))}, not for ${event}`);
  }
  return parsed.value;
}

function readFile(place: string): string {
  try {
    return readFileSync(place, 'utf8');
  } catch (thrown) {
    throw wrong(`${shown(place)} cannot be read: ${messageOf(thrown)}`);
  }
}

function shown(place: string): string {
  return place === '-' ? 'standard input' : visible(place);
}

function wrong(message: string): PortcullisError {
  return new PortcullisError('usage', `--payload: ${message}`, {
    remedy: 'give a JSON object of input fields, as docs/reference/hooks.md lists them',
  });
}
