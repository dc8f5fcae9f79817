import { isRecord } from '../../lib/own.js';
import type { Draft } from './types.js';

/** One draft for each handler; what has not the shape of hooks is one draft as a whole. */
export function hookDrafts(value: unknown, way: readonly string[]): readonly Draft[] {
  if (!isRecord(value)) return [whole(value, way, 'hooks')];
  return Object.entries(value).flatMap(([event, groups]) => {
    const eventWay = [...way, event];
    if (!Array.isArray(groups)) return [whole(groups, eventWay, event)];
    return groups.flatMap((group: unknown, index) => {
      const groupWay = [...eventWay, index];
      if (!isRecord(group) || !Array.isArray(group.hooks)) return [whole(group, groupWay, event)];
      const { hooks, ...matching } = group;
      const on = typeof group.matcher === 'string' && group.matcher !== '' ? group.matcher : '*';
      return hooks.map((handler: unknown, at) => ({
        kind: 'hook' as const,
        name: on === '*' ? event : `${event} on ${on}`,
        text: `${textOfHandler(handler)}${sentBy(handler)}`,
        way: [...groupWay, 'hooks', at],
        value: { event, matching, handler },
        runs: commandsOf(handler),
      }));
    });
  });
}

function whole(value: unknown, way: readonly (string | number)[], name: string): Draft {
  const text = JSON.stringify(value) ?? '';
  return { kind: 'hook', name, text, way, value, runs: [text] };
}

function textOfHandler(handler: unknown): string {
  if (!isRecord(handler)) return JSON.stringify(handler) ?? '';
  const { command, args, url, prompt, type } = handler;
  if (typeof command === 'string') {
    return Array.isArray(args) ? [command, ...args.map(String)].join(' ') : command;
  }
  if (typeof url === 'string') return `POST ${url}`;
  if (typeof prompt === 'string') return `${String(type)}: ${prompt}`;
  return JSON.stringify(handler);
}

/** What a person would hand over by saying yes: variables, and headers by their names. */
function sentBy(handler: unknown): string {
  if (!isRecord(handler)) return '';
  const { allowedEnvVars: variables, headers } = handler;
  const names = isRecord(headers) ? Object.keys(headers) : [];
  const listed = Array.isArray(variables) ? variables.map(String) : [];
  return [
    ...(listed.length === 0 ? [] : [`; allowedEnvVars: ${listed.join(', ')}`]),
    ...(names.length === 0 ? [] : [`; headers: ${names.join(', ')}`]),
  ].join('');
}

function commandsOf(handler: unknown): readonly string[] {
  if (!isRecord(handler)) return [];
  const words = [handler.command, ...(Array.isArray(handler.args) ? handler.args : [])];
  return words.filter((word): word is string => typeof word === 'string');
}
