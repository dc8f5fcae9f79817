import { mkdirSync } from 'node:fs';
import path from 'node:path';
import * as parser from 'unbash';
import { Budget } from '../../src/permissions/gate/budget.js';
import { renderShell } from '../../src/permissions/shell/render/render.js';
import { unreadable } from '../../src/permissions/shell/syntax/read.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { generateScript } from './generator.js';
import { openJail } from './jail.js';
import { createScratch } from './scratch.js';

/** Messages of the shell quote the text and count its lines, and `time` prints times. */
const UNSTEADY_LINE = /^((\/jail\/)?bash: |environment: line \d+: |(real|user|sys)\s|$)/;
/** A message of the shell that the text has put into a file. */
const LINE_NUMBER = /\b((?:bash|environment): line )\d+/g;
/** This message quotes a function of the text with all its lines. */
const LONG_MESSAGE = /^bash: line \d+: [\s\S]*?: ambiguous redirect$/gm;
/** A list of all variables, which have the text itself among them. */
const VARIABLES = /^BASH_EXECUTION_STRING=/m;
/** How often a text and its canonical form are run before they count as different: some race with themselves. */
const TRIES = 4;

/**
 * Texts that may do something else in their canonical form, each with its cause. `histexpand`: `!` is quoted, so
 * history is not expanded even where the text switches that on. `PS4`: traces may print `$_`, which is the whole text.
 */
const KNOWN_DIFFERENCE = /histexpand|PS4/;

export interface EquivalenceFigures {
  scripts: number;
  rendered: number;
  same: number;
  /** The same programs in another order, by pipes and background jobs. */
  reordered: number;
  /** The text itself does not do the same twice, or was ended after a time-out. */
  unsteady: number;
  /** Bash rejects the text, which the parser repaired, or the difference is a listed one. */
  rejected: number;
  readonly differ: string[];
}

export interface Equivalence {
  compare(script: string, figures: EquivalenceFigures): Promise<void>;
  close(): void;
}

export function noFigures(): EquivalenceFigures {
  return { scripts: 0, rendered: 0, same: 0, reordered: 0, unsteady: 0, rejected: 0, differ: [] };
}

/** Runs texts and their canonical forms in real bash and compares programs, files, output and exit codes. */
export function openEquivalence(): Equivalence {
  const root = makeTempProject();
  const place = path.join(root.root, 'jail');
  mkdirSync(place);
  const scratch = createScratch(path.join(root.root, 'scratch'));
  const { project, home, watched } = scratch;
  const jail = openJail({ scratch: scratch.root, project, home, watched, place });

  const observe = async (script: string): Promise<Observation> => {
    const { started, hung, exitCode, output } = await jail.run(script);
    const files = JSON.stringify(scratch.contents()).replace(LINE_NUMBER, '$1');
    scratch.restore();
    const programs = started.map((one) => JSON.stringify(one));
    const lines = VARIABLES.test(output)
      ? []
      : output
          .replace(LONG_MESSAGE, '')
          .split('\n')
          .filter((line) => !UNSTEADY_LINE.test(line));
    const isRejected =
      /syntax error|unexpected (EOF|end of file|argument|token)|bad substitution/.test(output);
    return { programs, files, exitCode, lines, hung, isRejected };
  };

  /** Whether both do the same in some of several runs. */
  const meet = async (
    ones: Observation[],
    others: Observation[],
    { script, rendering }: { readonly script: string; readonly rendering: string },
  ): Promise<boolean> => {
    for (let tries = 1; tries < TRIES; tries++) {
      ones.push(await observe(script));
      others.push(await observe(rendering));
      if (ones.some((one) => others.some((other) => isSame(sorted(one), sorted(other)))))
        return true;
    }
    return false;
  };

  return {
    async compare(script, figures) {
      figures.scripts++;
      const rendering = render(script);
      if (rendering === undefined) return;
      figures.rendered++;
      const first = await observe(script);
      const form = await observe(rendering);
      if (isSame(first, form)) figures.same++;
      else if (first.isRejected || KNOWN_DIFFERENCE.test(script)) figures.rejected++;
      else if (first.hung || !isSame(first, await observe(script))) figures.unsteady++;
      else if (isSame(sorted(first), sorted(form))) figures.reordered++;
      else if (await meet([first], [form], { script, rendering })) figures.unsteady++;
      else figures.differ.push(`${JSON.stringify(script)}\n  ${JSON.stringify(rendering)}`);
    },
    close() {
      jail.close();
      root.remove();
    },
  };
}

/** Compares generated scripts of a seed. */
export async function compareGenerated(
  equivalence: Equivalence,
  { seed, from = 0, scripts }: { seed: number; from?: number; scripts: number },
): Promise<EquivalenceFigures> {
  const figures = noFigures();
  for (let index = from; index < from + scripts; index++) {
    await equivalence.compare(generateScript(seed, index), figures);
  }
  return figures;
}

export function render(script: string): string | undefined {
  if (unreadable(script) !== undefined) return undefined;
  const rendering = renderShell(script, parser.parse(script), parser, new Budget());
  return rendering.ok ? rendering.text : undefined;
}

interface Observation {
  readonly programs: readonly string[];
  readonly files: string;
  readonly exitCode: number | undefined;
  readonly lines: readonly string[];
  readonly hung: boolean;
  readonly isRejected: boolean;
}

function sorted(one: Observation): Observation {
  return { ...one, programs: one.programs.toSorted(), lines: one.lines.toSorted() };
}

function isSame(one: Observation, other: Observation): boolean {
  const key = ({ programs, files, exitCode, lines }: Observation): string =>
    JSON.stringify([programs, files, exitCode, lines]);
  return key(one) === key(other);
}
