import { nearest } from '../../lib/nearest.js';
import { own } from '../../lib/own.js';
import type { SettingNode } from '../../protocol/setting-node.js';
import type { ConfigProblem } from '../types.js';
import { asWarning, formatPath, problem, unknownKey, type ValueContext } from './type-check.js';

/** Fields that describe a hook file; they change nothing. */
const DESCRIPTIVE: ReadonlySet<string> = new Set(
  'author authors category continueonerror description enabled homepage id keywords license name priority repository tags title version $schema'.split(
    ' ',
  ),
);

export function isDescriptive(name: string): boolean {
  return DESCRIPTIVE.has(name.toLowerCase());
}

/** What people expect of a key that nothing reads here, and what to write in its place. */
interface Expectation {
  readonly message: string;
  readonly remedy: string;
}

const LIMITS: Expectation = {
  message: 'limits nothing here: the hook is asked about all that its matcher fits.',
  remedy: 'Write tools into "matcher", paths and commands into "if" ("if": "Edit(src/**)").',
};
const FAILURES: Expectation = {
  message: 'does not change here what a failure means.',
  remedy: 'Write "onFailure": "block" or "onFailure": "continue" on the hook.',
};
const SURROUNDINGS: Expectation = {
  message: "has no effect here: the hook runs in the session's directory and environment.",
  remedy: 'Set it in the command itself.',
};

const EXPECTATIONS: Readonly<Record<string, Expectation>> = {
  ...words(
    'filepattern filepatterns filematcher filetypes file files path paths pathpattern glob globs pattern patterns condition conditions when unless where filter filters tools toolname toolnames toolpattern commands include includes exclude excludes except extensions branches projects',
    LIMITS,
  ),
  ...words('blocking failclosed failonerror failopen required mandatory onerror', FAILURES),
  ...words('env environment cwd workingdirectory workdir directory', SURROUNDINGS),
};

function words(names: string, expectation: Expectation): Readonly<Record<string, Expectation>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, expectation]));
}

/** Short for a key that is too far away to be found by its letters. */
const SHORT_FORMS: Readonly<Record<string, string>> = { match: 'matcher', matches: 'matcher' };

/**
 * A key of a group or hook that nothing reads. One that is nearly a known key stops the start; one
 * that people take for a limit warns; any other describes, and is noted.
 */
export function unknownHookKey(
  node: Extract<SettingNode, { type: 'object' }>,
  name: string,
  context: ValueContext,
): ConfigProblem {
  const folded = name.toLowerCase().replaceAll(/[_-]/g, '');
  const where = formatPath(context.path);
  const expected = own(EXPECTATIONS, folded);
  if (expected !== undefined) {
    return problem(asWarning(context), `\`${where}\` ${expected.message}`, expected.remedy);
  }
  const meant = own(SHORT_FORMS, folded);
  if (meant !== undefined && own(node.keys, meant) !== undefined) {
    // fail-closed: what the hook is for would be lost.
    return problem(context, `\`${where}\` is not a setting.`, `Did you mean ${meant}?`);
  }
  if (nearest(name, Object.keys(node.keys)) !== undefined) return unknownKey(node, name, context);
  const message = `\`${where}\` is not known here and has no effect.`;
  return {
    ...problem(asWarning(context), message, 'Remove it, or leave it for people.'),
    severity: 'note',
  };
}

/** A field that is known and does not mean here what it means elsewhere. */
export function checkMetadata(
  { continueOnError }: Readonly<Record<string, unknown>>,
  context: ValueContext,
  role: 'gate' | 'block' | 'observe',
): readonly ConfigProblem[] {
  if (typeof continueOnError !== 'boolean' || role !== 'gate') return [];
  const at = asWarning({ ...context, path: [...context.path, 'continueOnError'] });
  const word = continueOnError ? 'continue' : 'block';
  return [
    problem(
      at,
      `\`${formatPath(at.path)}\` has no effect: a guard that fails refuses.`,
      `Write "onFailure": "${word}" on the hook to say what its failure means.`,
    ),
  ];
}
