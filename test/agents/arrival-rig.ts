import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../../src/lib/own.js';
import type { Reply } from '../../src/model/scripted/format.js';
import type { ScenarioRun } from '../../src/testing/scenario.js';

/** Starts an agent whose prompt is this word. */
export const agent = (prompt: string, more: Record<string, unknown> = {}): Reply => ({
  tool: 'Agent',
  input: { description: `do ${prompt}`, prompt, ...more },
});

export const inBackground = { run_in_background: true };

export const call = (tool: string, input: Record<string, unknown>): Reply => ({ tool, input });

/** The messages of a request, as one text a message. */
export function messagesOf(body: unknown): readonly string[] {
  const messages = isRecord(body) && Array.isArray(body.messages) ? body.messages : [];
  return messages.map((message) => JSON.stringify(isRecord(message) ? message.content : message));
}

/** How often a text occurs in the last request that the main agent sent. */
export function timesIn(text: string, word: string): number {
  return text.split(word).length - 1;
}

export function sessionOf(run: Pick<ScenarioRun, 'frames'>): string {
  const init = run.frames.find((frame) => frame.subtype === 'init');
  return String(init?.session_id);
}

/** The journal of completions of a run's session. */
export function journalOf(run: Pick<ScenarioRun, 'frames' | 'project'>): readonly string[] {
  const slug = run.project.directory.replace(/[^A-Za-z0-9]/g, '-');
  const file = path.join(
    run.project.home,
    '.claude/projects',
    slug,
    sessionOf(run),
    'deliveries.jsonl',
  );
  return readFileSync(file, 'utf8').trim().split('\n');
}
