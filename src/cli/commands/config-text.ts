import { PortcullisError } from '../../errors.js';
import { CORE_SETTINGS } from '../../generated/settings-core.js';
import { OTHER_SETTINGS } from '../../generated/settings-table.js';
import { type KeyFacts, type SettingNode, strictValues } from '../../protocol/setting-node.js';
import { describeProblem } from '../../settings/types.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';
import type { ConfigReport, ReportedKey, ReportedValue } from './config-report.js';

/** The report for people. */
export function reportText(report: ConfigReport): string {
  const problems = report.problems.map(
    (problem) => `  ${LEVELS[problem.severity]}: ${visible(describeProblem(problem))}`,
  );
  const files = report.files.map(({ path, source, state, trusted }) => {
    const note = trusted === false ? ', not trusted: what grants or executes is not in force' : '';
    return `  ${source.padEnd(8)} ${visible(path)}: ${state}${note}`;
  });
  return [
    section('Settings', report.settings.flatMap(keyLines), 'none'),
    section('Files, strongest first', files, 'none'),
    section('Problems', problems, 'none'),
    report.starts ? '' : 'A session would not start with these settings.\n',
    report.strict ? '' : 'portcullis.strict is false: unusable restrictions only warn.\n',
  ].join('');
}

const LEVELS = { fatal: 'refuses', warning: 'warns', note: 'note' } as const;

function section(title: string, lines: readonly string[], none: string): string {
  return `${title}\n${lines.length === 0 ? `  ${none}` : lines.join('\n')}\n\n`;
}

function keyLines(entry: ReportedKey): readonly string[] {
  const later = entry.state === 'in use' ? '' : ' (no effect in this version)';
  return [`  ${visible(entry.key)}${later}`, ...entry.values.map(valueLine)];
}

function valueLine(one: ReportedValue): string {
  const place =
    one.file === undefined
      ? one.source
      : `${one.file}${one.line === undefined ? '' : `:${one.line}`}`;
  const standing = one.standing === 'in force' ? '' : `, ${STANDINGS[one.standing]}`;
  const why = one.why === undefined ? '' : `: ${one.why}`;
  return `    ${visible(JSON.stringify(one.value))}  (${one.source}, ${visible(place)}${standing}${why})`;
}

const STANDINGS = {
  shadowed: 'shadowed by a stronger or stricter one',
  untrusted: 'not in force: the folder is not trusted',
  'not here': 'not in force: it may not stand in this file',
  'managed only': 'not in force: only managed rules grant',
  dropped: 'not in force',
} as const;

/** One key and what is below it: every value, and how the sources are joined. */
export function explainKey(
  report: ConfigReport,
  key: string,
): { readonly lines: string; readonly data: unknown } {
  const found = report.settings.filter((one) => one.key === key || one.key.startsWith(`${key}.`));
  const facts = factsOf(key);
  if (found.length === 0 && facts === undefined) {
    const near = nearest(key, knownKeys());
    throw new PortcullisError('usage', `there is no setting ${visible(key)}`, {
      remedy: near === undefined ? 'portcullis config lists what is set' : `did you mean ${near}?`,
    });
  }
  const meaning = facts === undefined ? [] : meaningOf(facts);
  const values = found.flatMap(keyLines);
  const lines = [
    visible(key),
    ...meaning.map((line) => `  ${line}`),
    ...(values.length === 0 ? ['  not set in any file'] : values),
  ];
  return { lines: `${lines.join('\n')}\n`, data: { key, meaning, settings: found } };
}

type Facts = KeyFacts & { readonly type: SettingNode['type'] };

function factsOf(key: string): Facts | undefined {
  let node: SettingNode | undefined = {
    type: 'object',
    keys: { ...CORE_SETTINGS, ...OTHER_SETTINGS },
  };
  let facts: KeyFacts = {};
  for (const name of key.split('.')) {
    node = node === undefined ? undefined : insideOf(node, name);
    facts = { ...facts, ...node?.facts };
  }
  return node === undefined ? undefined : { ...facts, type: node.type };
}

function insideOf(node: SettingNode, name: string): SettingNode | undefined {
  if (node.type === 'object') return Object.hasOwn(node.keys, name) ? node.keys[name] : undefined;
  return node.type === 'map' ? node.of : undefined;
}

function meaningOf(facts: Facts): readonly string[] {
  const strict = strictValues(facts)
    .map((value) => JSON.stringify(value))
    .join(', then ');
  return [
    facts.type === 'list'
      ? 'the lists of all sources add up'
      : facts.strictest === true
        ? `${strict} wins wherever it stands`
        : 'the strongest source decides',
    ...(facts.needsTrust === true
      ? [
          `from a project only once the folder is trusted${facts.strict === undefined ? '' : `, except ${strict}`}`,
        ]
      : []),
    ...(facts.scope === 'managed' ? ['only an administrator can set it'] : []),
    ...(facts.scope === 'user' ? ["a project's files cannot set it"] : []),
    facts.restricts === true ? 'a fault in it stops the start' : 'a fault in it only warns',
    ...(facts.unenforced === true
      ? ['this version cannot enforce it, and refuses to start with it']
      : []),
    ...(facts.status === undefined ? [] : ['accepted, without effect in this version']),
  ];
}

function knownKeys(): readonly string[] {
  const tables = { ...CORE_SETTINGS, ...OTHER_SETTINGS };
  return Object.entries(tables).flatMap(([name, node]) => [name, ...below(name, node)]);
}

function below(path: string, node: SettingNode): readonly string[] {
  if (node.type !== 'object') return [];
  return Object.entries(node.keys).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    return [at, ...below(at, inner)];
  });
}
