import { type ConfigProblem, placeOf } from '../types.js';
import { contributionsOf, inForce, type Merged } from './merge.js';

/** What a person should know about the hooks of all files together. */
export function hookProblems(merged: Merged): readonly ConfigProblem[] {
  return [...openFailure(merged), ...offInProject(merged)];
}

/** Said at every start: guards are weaker than they look. */
function openFailure(merged: Merged): readonly ConfigProblem[] {
  const [failure] = inForce(merged, 'portcullis.hookFailure');
  if (failure?.value !== 'open') return [];
  return [
    {
      severity: 'warning',
      topic: 'hooks',
      ...placeOf(failure.owner, failure.way),
      message: 'a hook that fails refuses nothing, because `portcullis.hookFailure` is "open".',
      remedy: 'Set it to "closed" to refuse instead.',
    },
  ];
}

function offInProject(merged: Merged): readonly ConfigProblem[] {
  return contributionsOf(merged, 'disableAllHooks')
    .filter(({ source, value, standing }) => {
      const ofProject = source === 'project' || source === 'local';
      return ofProject && value === true && standing !== 'untrusted';
    })
    .map(({ owner, way }) => ({
      severity: 'note',
      ...placeOf(owner, way),
      message: "`disableAllHooks` of a project switches off the project's own hooks only.",
      remedy: 'Set it in your own settings or on the command line to switch off yours.',
    }));
}
