import { nearest } from '../../lib/nearest.js';
import { isRecord, own } from '../../lib/own.js';
import type { SettingNode } from '../../protocol/setting-node.js';
import { type ConfigProblem, placeOf, type SettingsFile, type Way } from '../types.js';
import { fits, wanted } from './fits.js';

export interface ValueContext {
  readonly file: SettingsFile;
  readonly way: Way;
  /** Whether a fault here may lose a restriction. */
  readonly restricts: boolean;
  /** What an unknown key means here; absent: it is a fault like any other. */
  readonly unknownKey?: UnknownKeyCheck;
}

type ObjectNode = Extract<SettingNode, { type: 'object' }>;

export type UnknownKeyCheck = (
  node: ObjectNode,
  name: string,
  context: ValueContext,
) => ConfigProblem;

/** Every fault of a value and of what is in it. */
export function checkValue(
  node: SettingNode,
  value: unknown,
  context: ValueContext,
): readonly ConfigProblem[] {
  const here = { ...context, restricts: node.facts?.restricts ?? context.restricts };
  const variant = node.type === 'one' ? variantOf(node.of, value) : undefined;
  if (variant !== undefined) return checkValue(variant, value, here);
  if (!fits(node, value)) return [mistyped(node, value, here)];
  if (node.type === 'list' && Array.isArray(value)) return checkItems(node, value, here);
  if (!isRecord(value)) return [];
  if (node.type === 'map') {
    return Object.entries(value).flatMap(([name, inner]) =>
      checkValue(node.of, inner, { ...here, way: [...here.way, name] }),
    );
  }
  return node.type === 'object' ? checkObject(node, value, here) : [];
}

/** `a.b[0]`, as people write it. */
export function inWords(way: Way): string {
  return way
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('');
}

/** Keys that stand for comments, which JSON does not have. */
export function isComment(name: string): boolean {
  return /^(?:_|\/\/|#|\$comment$)/.test(name);
}

function checkItems(
  node: Extract<SettingNode, { type: 'list' }>,
  items: readonly unknown[],
  context: ValueContext,
): readonly ConfigProblem[] {
  if (node.of.type !== 'string') {
    return items.flatMap((item, index) =>
      checkValue(node.of, item, { ...context, way: [...context.way, index] }),
    );
  }
  return items.flatMap((item, index) =>
    typeof item === 'string'
      ? []
      : [
          problem(
            { ...context, way: [...context.way, index] },
            `\`${inWords(context.way)}\` must be a list of strings; item ${index + 1} is ${kindOf(item)}.`,
          ),
        ],
  );
}

function checkObject(
  node: ObjectNode,
  value: Readonly<Record<string, unknown>>,
  context: ValueContext,
): readonly ConfigProblem[] {
  const missing = (node.required ?? []).filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) =>
      problem(
        context,
        `\`${inWords([...context.way, name])}\` is missing.`,
        `Add "${name}": ${wanted(own(node.keys, name) ?? { type: 'any' })}.`,
      ),
    ),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const known = own(node.keys, name);
      const at = { ...context, way: [...context.way, name] };
      if (known !== undefined) return checkValue(known, inner, at);
      const check = context.unknownKey ?? unknownKey;
      return node.open === true || isComment(name) ? [] : [check(node, name, at)];
    }),
  ];
}

export function unknownKey(node: ObjectNode, name: string, context: ValueContext): ConfigProblem {
  const near = nearest(name, Object.keys(node.keys));
  const meant = near === undefined ? undefined : own(node.keys, near);
  const restricts = meant?.facts?.restricts ?? context.restricts;
  return problem(
    { ...context, restricts },
    `\`${inWords(context.way)}\` is not a setting.`,
    near === undefined
      ? `Known here: ${Object.keys(node.keys).join(', ')}.`
      : `Did you mean ${near}?`,
  );
}

/** Objects that name their own kind are judged as that kind, so that its fields can be named. */
function variantOf(choices: readonly SettingNode[], value: unknown): SettingNode | undefined {
  if (!isRecord(value)) return undefined;
  const objects = choices.filter((choice) => choice.type === 'object');
  const named = objects.find(({ keys }) => {
    const type = own(keys, 'type');
    return type !== undefined && fits(type, value.type);
  });
  const byKeys = objects.find(({ keys }) =>
    Object.keys(value).every((name) => Object.hasOwn(keys, name)),
  );
  const kinds = objects.flatMap(({ keys }) => {
    const type = own(keys, 'type');
    return type?.type === 'choice' ? type.values : [];
  });
  if (kinds.length > 0) {
    // Without a valid kind only that is wrong, for all that can be said.
    const kind: SettingNode = { type: 'choice', values: kinds };
    return named ?? { type: 'object', keys: { type: kind }, required: ['type'], open: true };
  }
  const meant = objects.find(({ keys }) =>
    Object.keys(value).some((name) => nearest(name, Object.keys(keys)) !== undefined),
  );
  return byKeys ?? meant ?? objects[0];
}

function mistyped(node: SettingNode, value: unknown, context: ValueContext): ConfigProblem {
  const choices = node.type === 'choice' ? node.values.map(String) : [];
  const near = typeof value === 'string' ? nearest(value, choices) : undefined;
  return problem(
    context,
    `\`${inWords(context.way)}\` must be ${wanted(node)}; it is ${kindOf(value)}.`,
    near === undefined ? 'Correct the value.' : `Did you mean "${near}"?`,
  );
}

export function problem(
  { file, way, restricts }: ValueContext,
  message: string,
  remedy = 'Correct the value.',
): ConfigProblem {
  return { severity: restricts ? 'fatal' : 'warning', ...placeOf(file, way), message, remedy };
}

/** The same place for something that loses no restriction. */
export function milder(context: ValueContext): ValueContext {
  return { ...context, restricts: false };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' ? 'an object' : String(value);
}
