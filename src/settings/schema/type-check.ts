import { isRecord, own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { HookEventFacts } from '../../protocol/hooks/hook-event-facts.js';
import type { SettingNode } from '../../protocol/settings/setting-node.js';
import type { JsonPath } from '../files/json.js';
import { type ConfigProblem, placeOf, type SettingsFile } from '../types.js';

export interface ValueContext {
  readonly file: SettingsFile;
  readonly path: JsonPath;
  /** Whether a fault here may lose a restriction. */
  readonly restricts: boolean;
  /** How to report an unknown key; by default as an ordinary fault. */
  readonly unknownKey?: UnknownKeyCheck;
}

type ObjectNode = Extract<SettingNode, { type: 'object' }>;

type UnknownKeyCheck = (node: ObjectNode, name: string, context: ValueContext) => ConfigProblem;

/** Checks a value recursively. */
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
      checkValue(node.of, inner, { ...here, path: [...here.path, name] }),
    );
  }
  return node.type === 'object' ? checkObject(node, value, here) : [];
}

/** Formats a path as `a.b[0]`. */
export function formatPath(path: JsonPath): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('');
}

/** Assigns the same value to several names. */
export function forEachName<T>(names: string, meaning: T): Readonly<Record<string, T>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, meaning]));
}

/** Whether a key serves as a comment, which JSON lacks. */
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
      checkValue(node.of, item, { ...context, path: [...context.path, index] }),
    );
  }
  return items.flatMap((item, index) => {
    // fail-closed: an empty entry of a restriction, such as an unset variable, protects nothing.
    const isLost = node.facts?.restricts === true && item === '';
    if (typeof item === 'string' && !isLost) return [];
    const what = typeof item === 'string' ? 'empty' : kindOf(item);
    const message = `\`${formatPath(context.path)}\` must be a list of strings; item ${index + 1} is ${what}.`;
    return [problem({ ...context, path: [...context.path, index] }, message)];
  });
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
        `\`${formatPath([...context.path, name])}\` is missing.`,
        `Add "${name}": ${describeType(own(node.keys, name) ?? { type: 'any' })}.`,
      ),
    ),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const known = own(node.keys, name);
      const at = { ...context, path: [...context.path, name] };
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
    `\`${formatPath(context.path)}\` is not a setting.`,
    near === undefined
      ? `Known here: ${Object.keys(node.keys).join(', ')}.`
      : `Did you mean ${near}?`,
  );
}

/** Chooses the alternative by the object's own type, so that messages can name its fields. */
function variantOf(choices: readonly SettingNode[], value: unknown): SettingNode | undefined {
  if (Array.isArray(value)) return choices.find((choice) => choice.type === 'list');
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
    // With an invalid type only the type can be reported.
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
    `\`${formatPath(context.path)}\` must be ${describeType(node)}; it is ${kindOf(value)}.`,
    near === undefined ? 'Correct the value.' : `Did you mean "${near}"?`,
  );
}

export function problem(
  { file, path, restricts }: ValueContext,
  message: string,
  remedy = 'Correct the value.',
): ConfigProblem {
  return { severity: restricts ? 'fatal' : 'warning', ...placeOf(file, path), message, remedy };
}

/** A fault beyond a value's type. */
export interface Fault {
  /** Relative to where it was found. */
  readonly at: JsonPath;
  /** The rest of the sentence after the path, without a full stop. */
  readonly says: string;
  readonly remedy?: string;
  /** By default fatal when it may lose a restriction; `fatal` applies to any trusted file. */
  readonly severity?: ConfigProblem['severity'];
  /** The text already ends with a sentence. */
  readonly unended?: true;
}

/** Converts faults at a place to problems. */
export function faultProblem(context: ValueContext): (fault: Fault) => ConfigProblem {
  return ({ at, says, remedy, severity, unended }) => {
    const path = [...context.path, ...at];
    const restricts = severity === 'fatal' ? context.file.trusted : context.restricts;
    const message = `\`${formatPath(path)}\` ${says}${unended === true ? '' : '.'}`;
    const told = problem({ ...context, path, restricts }, message, remedy);
    return severity === undefined || severity === 'fatal' ? told : { ...told, severity };
  };
}

/** The same place for a fault that loses no restriction. */
export function asWarning(context: ValueContext): ValueContext {
  return { ...context, restricts: false };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return JSON.stringify(sliceWhole(value, 0, 60));
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Checks a value's type without its contents. */
export function fits(node: SettingNode, value: unknown): boolean {
  switch (node.type) {
    case 'any':
      return true;
    case 'string':
      return (
        typeof value === 'string' &&
        (node.pattern === undefined || new RegExp(node.pattern).test(value))
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
    case 'integer':
      return (
        typeof value === 'number' &&
        Number.isFinite(value) &&
        (node.type === 'number' || Number.isInteger(value)) &&
        value >= (node.least ?? Number.NEGATIVE_INFINITY) &&
        value > (node.above ?? Number.NEGATIVE_INFINITY) &&
        value <= (node.most ?? Number.POSITIVE_INFINITY)
      );
    case 'choice':
      return node.values.some((one) => one === value);
    case 'list':
      return Array.isArray(value);
    case 'map':
    case 'object':
      return isRecord(value);
    case 'one':
      return node.of.some((choice) => fits(choice, value));
  }
}

/** Describes the expected value for people: `a list of strings`, `one of "a", "b"`. */
function describeType(node: SettingNode): string {
  switch (node.type) {
    case 'any':
      return 'anything';
    case 'string':
      return 'a string';
    case 'boolean':
      return 'true or false';
    case 'number':
    case 'integer': {
      const kind = node.type === 'integer' ? 'a whole number' : 'a number';
      const least = node.least === undefined ? '' : ` of at least ${node.least}`;
      const above = node.above === undefined ? '' : ` above ${node.above}`;
      return `${kind}${least}${above}${node.most === undefined ? '' : ` and at most ${node.most}`}`;
    }
    case 'choice': {
      const values = node.values.map((one) => JSON.stringify(one)).join(', ');
      return node.values.length === 1 ? values : `one of ${values}`;
    }
    case 'list':
      return node.of.type === 'string' ? 'a list of strings' : 'a list';
    case 'map':
    case 'object':
      return 'an object';
    case 'one':
      return [...new Set(node.of.map(describeType))].join(' or ');
  }
}

/** A placeholder for hooks of skills and agents, whose readers know the line. */
export const DETACHED_FILE: SettingsFile = {
  source: 'project',
  file: '',
  root: '',
  trusted: true,
  content: {},
  duplicates: [],
  lineOf: () => undefined,
};

/** Functions and names that the checks need from other parts. */
export interface CheckOptions {
  /** Known tool names; without them matchers are not compared. */
  readonly knownTools?: readonly string[];
  /** Why a text is not a valid permission rule; undefined when it is. */
  checkRule?(text: string): string | undefined;
  /** Why a pattern cannot name an agent; undefined when it can. */
  checkAgents?(pattern: string): string | undefined;
}

/** The event whose hooks are checked. */
export interface EventCheck extends CheckOptions {
  readonly event: string;
  readonly facts: HookEventFacts;
}
