import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../../../src/lib/own.js';
import type { RecordedRequest } from '../../../src/testing/fake-model-server.js';
import type { Frame, Played } from './play.js';
import type { World } from './world.js';

/** What a frame is, in one word: `system/init`, `assistant`, `result/success`. */
export function kindOf(frame: Frame): string {
  return [frame.type, frame.subtype].filter((part) => part !== undefined).join('/');
}

export function kinds({ frames }: Pick<Played, 'frames'>): readonly string[] {
  return frames.map(kindOf);
}

export function ofKind({ frames }: Pick<Played, 'frames'>, kind: string): readonly Frame[] {
  return frames.filter((frame) => kindOf(frame) === kind || frame.type === kind);
}

/** The only frame of its kind. */
export function theOne(played: Pick<Played, 'frames'>, kind: string): Frame {
  const found = ofKind(played, kind);
  const [only] = found;
  if (only === undefined || found.length !== 1) {
    throw new Error(`${found.length} frames of kind ${kind} in ${kinds(played).join(' ')}`);
  }
  return only;
}

/** The last result. */
export function resultOf(played: Pick<Played, 'frames' | 'error'>): Frame {
  const result = played.frames.findLast((frame) => frame.type === 'result');
  if (result === undefined) throw new Error(`no result: ${played.error?.message ?? 'no error'}`);
  return result;
}

export function blocksIn(frame: Frame): readonly Frame[] {
  const message = isRecord(frame.message) ? frame.message : {};
  return Array.isArray(message.content) ? message.content.filter(isRecord) : [];
}

/** Texts of the assistant on the main thread. */
export function texts(played: Pick<Played, 'frames'>): readonly unknown[] {
  return ofKind(played, 'assistant').flatMap((frame) =>
    blocksIn(frame).flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
}

export interface SeenToolResult {
  readonly id: unknown;
  readonly text: string;
  readonly isError: boolean;
  readonly structured: unknown;
  readonly parent: unknown;
}

/** Results of tools, as the client sees them. */
export function toolResults(played: Pick<Played, 'frames'>): readonly SeenToolResult[] {
  return ofKind(played, 'user').flatMap((frame) =>
    blocksIn(frame).flatMap((block) =>
      block.type === 'tool_result'
        ? [
            {
              id: block.tool_use_id,
              text: textOf(block.content),
              isError: block.is_error === true,
              structured: frame.tool_use_result,
              parent: frame.parent_tool_use_id,
            },
          ]
        : [],
    ),
  );
}

export function toolResult(played: Pick<Played, 'frames'>, index = 0): SeenToolResult {
  const found = toolResults(played)[index];
  if (found === undefined) throw new Error(`no tool result ${index}: ${kinds(played).join(' ')}`);
  return found;
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (isRecord(block) ? String(block.text ?? '') : '')).join('\n');
}

/** The requests that the model got, without those that ask for its catalogue. */
export function asked(world: World): readonly RecordedRequest[] {
  return world.model.requests.filter((request) => request.flavour !== undefined);
}

/** Everything in the messages of the n-th request, as text. */
export function shown(world: World, index: number): string {
  const body = asked(world)[index]?.body;
  return isRecord(body) ? JSON.stringify(body.messages) : '';
}

export function systemOf(world: World, index = 0): string {
  const body = asked(world)[index]?.body;
  return isRecord(body) ? textOf(body.system) : '';
}

/** Names of the tools that the model was offered. */
export function offered(world: World, index = 0): readonly string[] {
  const body = asked(world)[index]?.body;
  const tools: unknown[] = isRecord(body) && Array.isArray(body.tools) ? body.tools : [];
  return tools.flatMap((tool) => (isRecord(tool) ? [String(tool.name)] : []));
}

export interface TranscriptOnDisk {
  readonly path: string;
  readonly id: string;
  readonly lines: readonly Frame[];
}

/** All transcripts of a world. A line that is no JSON throws. */
export function transcripts(world: World): readonly TranscriptOnDisk[] {
  const projects = path.join(world.project.home, '.claude/projects');
  return namesIn(projects).flatMap((key) =>
    namesIn(path.join(projects, key))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readTranscript(path.join(projects, key, name))),
  );
}

function readTranscript(file: string): TranscriptOnDisk {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return {
    path: file,
    id: path.basename(file, '.jsonl'),
    lines: lines.map((line) => JSON.parse(line) as Frame),
  };
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // No session was ever written.
    return [];
  }
}
