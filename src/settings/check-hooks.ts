import { FOREIGN_HOOK_EVENTS, HOOK_EVENTS, type HookEventFacts } from '../protocol/hook-events.js';
import type { SettingNode } from '../protocol/setting-node.js';
import { linearPattern } from '../util/linear-pattern.js';
import { nearest } from '../util/nearest.js';
import { isRecord, own } from '../util/own.js';
import { TOOL_ALIASES } from '../util/tool-names.js';
import { checkValue, inWords, isComment, problem, type ValueContext } from './check-values.js';
import type { ConfigProblem, SettingsFile } from './types.js';

export interface HookCheck {
  readonly node: SettingNode;
  readonly knownTools?: readonly string[];
}

/**
 * Faults of a `hooks` object. A hook that may hold something back and cannot work stops the start;
 * one that only watches is lost with a warning. What an untrusted folder has is not in force, so
 * nothing is lost by its faults.
 */
export function checkHooks(
  file: SettingsFile,
  value: unknown,
  check: HookCheck,
): readonly ConfigProblem[] {
  const base: ValueContext = { file, way: ['hooks'], restricts: file.trusted };
  if (!isRecord(value)) {
    return [
      problem(
        base,
        '`hooks` must be an object of events.',
        'Write "hooks": {"PreToolUse": [ … ]}.',
      ),
    ];
  }
  return Object.entries(value).flatMap(([event, groups]) => {
    const at = { ...base, way: ['hooks', event] };
    if (isComment(event)) return [];
    const facts = own(HOOK_EVENTS, event);
    if (facts === undefined) return [unknownEvent(event, at)];
    return checkEvent(
      groups,
      { ...at, restricts: file.trusted && facts.role !== 'observe' },
      {
        ...check,
        facts,
      },
    );
  });
}

function unknownEvent(event: string, context: ValueContext): ConfigProblem {
  const near = nearest(event, Object.keys(HOOK_EVENTS));
  if (near === undefined && FOREIGN_HOOK_EVENTS.includes(event)) {
    return problem(
      { ...context, restricts: false },
      `\`${inWords(context.way)}\` never runs: ${event} is an event of another program.`,
      'docs/reference/settings.md lists the events.',
    );
  }
  return problem(
    context,
    `\`${inWords(context.way)}\` never runs: there is no event ${event}.`,
    near === undefined ? 'docs/reference/settings.md lists the events.' : `Did you mean ${near}?`,
  );
}

function checkEvent(
  groups: unknown,
  context: ValueContext,
  { node, facts, knownTools }: HookCheck & { readonly facts: HookEventFacts },
): readonly ConfigProblem[] {
  const loose = Array.isArray(groups) ? groups.findIndex(isLooseHandler) : -1;
  if (loose !== -1) {
    return [
      problem(
        { ...context, way: [...context.way, loose] },
        `\`${inWords([...context.way, loose])}\` is a hook without its group.`,
        'Write {"matcher": "…", "hooks": [ … ]} around it.',
      ),
    ];
  }
  const shape = node.type === 'map' ? checkValue(node.of, groups, context) : [];
  if (shape.length > 0 || !Array.isArray(groups)) return shape;
  return groups.flatMap((group: Readonly<Record<string, unknown>>, index) => {
    const at = { ...context, way: [...context.way, index] };
    const { matcher } = group;
    return [
      ...(typeof matcher === 'string' && facts.matches !== 'nothing'
        ? checkMatcher(
            matcher,
            { ...at, way: [...at.way, 'matcher'] },
            facts.matches === 'tool' ? knownTools : undefined,
          )
        : []),
      ...checkHandlers(group.hooks, { ...at, way: [...at.way, 'hooks'] }, facts),
    ];
  });
}

function isLooseHandler(group: unknown): boolean {
  return isRecord(group) && !Object.hasOwn(group, 'hooks') && Object.hasOwn(group, 'type');
}

const PLAIN_NAMES = /^[\w\-, |]+$/;

/** In whatever case a name stands, it means its tool. A name that is nearly a tool's means nothing. */
function checkMatcher(
  matcher: string,
  context: ValueContext,
  knownTools: readonly string[] | undefined,
): readonly ConfigProblem[] {
  if (!PLAIN_NAMES.test(matcher)) {
    // The very engine that the gate uses: what it cannot search for would guard nothing that was meant.
    const pattern = matcher === '*' ? undefined : linearPattern(matcher, { ignoreCase: true });
    if (pattern === undefined || pattern.ok) return [];
    const remedy = 'Write tool names joined by |, or correct the expression.';
    const message = `the matcher "${matcher}" is not a regular expression that can be used here: ${pattern.error}.`;
    return [problem(context, message, remedy)];
  }
  if (knownTools === undefined) return [];
  const names = [...knownTools, ...Object.keys(TOOL_ALIASES)];
  const known = new Set(names.map((name) => name.toLowerCase()));
  const strange = matcher
    .split(/[|,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('mcp__') && !known.has(name.toLowerCase()));
  return strange.map((name) => {
    const near = nearest(name, names);
    return near === undefined
      ? problem(
          { ...context, restricts: false },
          `the matcher "${matcher}" names ${name}, and there is no such tool now.`,
          'It matches nothing until there is.',
        )
      : problem(
          context,
          `the matcher "${matcher}" names ${name}, and there is no such tool.`,
          `Did you mean ${near}?`,
        );
  });
}

function checkHandlers(
  handlers: unknown,
  context: ValueContext,
  facts: HookEventFacts,
): readonly ConfigProblem[] {
  if (!Array.isArray(handlers)) return [];
  return handlers.flatMap((handler: Readonly<Record<string, unknown>>, index) => {
    const way = [...context.way, index];
    const empty = ['command', 'url', 'prompt', 'server', 'tool'].find(
      (name) => handler[name] === '',
    );
    return [
      ...(empty === undefined
        ? []
        : [
            problem(
              { ...context, way: [...way, empty] },
              `\`${inWords([...way, empty])}\` is empty.`,
            ),
          ]),
      ...(handler.if === undefined || facts.matches === 'tool'
        ? []
        : [
            problem(
              { ...context, way: [...way, 'if'] },
              `\`${inWords([...way, 'if'])}\` is for tool calls; at this event the hook would never run.`,
              'Remove it.',
            ),
          ]),
    ];
  });
}
