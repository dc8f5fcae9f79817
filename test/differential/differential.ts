import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../support/gate-rig.js';
import { render } from './equivalence.js';
import { generateScript } from './generator.js';
import { openJail, quote, type StartedProgram } from './jail.js';
import { RULE_SETS, type RuleSet } from './rule-sets.js';
import { createScratch, ENV_SECRET, OUTSIDE_SECRET, SOURCED } from './scratch.js';

/** What an allowed script did that its rule set does not allow. */
export interface Finding {
  readonly ruleSet: string;
  readonly problem: string;
  readonly script: string;
  /** Which script of the seed. */
  readonly index?: number;
}

export interface Figures {
  generated: number;
  run: number;
  /** Ended because they took too long. */
  hung: number;
  readonly allowed: Record<string, number>;
  readonly findings: Finding[];
}

export interface Differential {
  /** Runs a script, whatever the gate says of it, and compares what it did with what these rule sets allow. */
  compare(
    script: string,
    allowing: readonly RuleSet[],
    figures?: Figures,
  ): Promise<readonly Omit<Finding, 'script'>[]>;
  /** Judges a script under every rule set, runs it if any allows it, and compares. */
  check(script: string, figures?: Figures): Promise<readonly Omit<Finding, 'script'>[]>;
  close(): void;
}

/** What commands find in their environment; see the jail. */
const EXPORTED = new Set(['PATH', 'HOME', 'PWD', 'LANG', 'FUNCNEST', 'SHLVL', '_']);

export function openDifferential(): Differential {
  const root = makeTempProject();
  const place = path.join(root.root, 'jail');
  mkdirSync(place);
  const scratch = createScratch(path.join(root.root, 'scratch'));
  const { project, home } = scratch;
  const jail = openJail({ scratch: scratch.root, project, home, watched: scratch.watched, place });
  const gates = new Map<string, Rig | undefined>();

  const gateFor = ({ mode, allow, deny }: Omit<RuleSet, 'name'>): Rig | undefined => {
    const key = JSON.stringify([mode, allow, deny]);
    if (!gates.has(key)) gates.set(key, openGate({ mode, allow, deny }));
    return gates.get(key);
  };
  const openGate = (rules: Omit<RuleSet, 'name'>): Rig | undefined => {
    try {
      return gateRig({ cwd: project, home, ...rules, facts: { exported: () => EXPORTED } });
    } catch {
      // A deny rule that was put together from what ran, and that is no rule.
      return undefined;
    }
  };
  const allows = async (rules: Omit<RuleSet, 'name'>, script: string): Promise<boolean> =>
    (await gateFor(rules)?.bash(script)) === 'runs';

  /** Whether the rules allow what ran, written out plainly. */
  const allowsStarted = async (rules: RuleSet, started: StartedProgram): Promise<boolean> => {
    const { name, args, cwd, input } = started;
    // In quotes a name is no word of the language.
    const words = [quote(name), ...args.map(plain)].join(' ');
    const there = cwd === project ? '' : `cd ${plain(cwd)} && `;
    return allows(rules, `${there}${words}${input === undefined ? '' : ` < ${plain(input)}`}`);
  };

  const problemsOf = async (
    rules: RuleSet,
    script: string,
    { started, changed }: Observed,
  ): Promise<string[]> => {
    const problems = changed
      .filter((file) => !mayChange(rules, file))
      .map((file) => `changed ${file}`);
    for (const one of started) {
      const text = [one.name, ...one.args].join(' ');
      if (isOfProject(one)) {
        if (rules.deny.length === 0) problems.push(`ran code of a file: ${text}`);
        continue;
      }
      const leak = leaked(rules, one);
      if (leak !== undefined) problems.push(`handed ${leak} to ${one.name}`);
      if (!(await allowsStarted(rules, one)) && !isNamedAtRunTime(rules, script, one))
        problems.push(`ran ${JSON.stringify(text)} in ${path.relative(scratch.root, one.cwd)}`);
      if (rules.deny.length === 0) continue;
      for (const rule of denyRulesFor(one)) {
        if (await allows({ ...rules, deny: [rule] }, script))
          problems.push(`ran past a rule: deny ${rule}`);
      }
    }
    return problems;
  };

  const compare: Differential['compare'] = async (script, allowing, figures) => {
    // What the gate lets run; scripts without a canonical form, which it does not, are run as they are.
    const { started, hung } = await jail.run(render(script) ?? script);
    if (hung && figures !== undefined) figures.hung++;
    const observed = { started, changed: scratch.restore() };
    const findings: Omit<Finding, 'script'>[] = [];
    for (const rules of allowing) {
      const problems = await problemsOf(rules, script, observed);
      findings.push(...problems.map((problem) => ({ ruleSet: rules.name, problem })));
    }
    return findings;
  };

  return {
    compare,
    async check(script, figures) {
      const allowing: RuleSet[] = [];
      for (const rules of RULE_SETS) if (await allows(rules, script)) allowing.push(rules);
      if (allowing.length === 0) return [];
      if (figures !== undefined) {
        figures.run++;
        for (const { name } of allowing) figures.allowed[name] = (figures.allowed[name] ?? 0) + 1;
      }
      return compare(script, allowing, figures);
    },
    close() {
      jail.close();
      root.remove();
    },
  };
}

interface Observed {
  readonly started: readonly StartedProgram[];
  /** Files of the scratch tree, relative to it. */
  readonly changed: readonly string[];
}

/** Generates scripts, checks each, and makes what it finds small. */
export async function runDifferential(
  differential: Differential,
  {
    seed,
    from = 0,
    scripts,
    most = 20,
  }: { seed: number; from?: number; scripts: number; most?: number },
): Promise<Figures> {
  const figures: Figures = { generated: 0, run: 0, hung: 0, allowed: {}, findings: [] };
  for (let index = from; index < from + scripts; index++) {
    const script = generateScript(seed, index);
    figures.generated++;
    const [first] = await differential.check(script, figures);
    if (first === undefined) continue;
    const small = await shrink(differential, script, first.ruleSet);
    const [shown = first] = await differential.check(small);
    figures.findings.push({ ...shown, script: small, index });
    if (figures.findings.length >= most) break;
  }
  return figures;
}

/** Leaves out pieces, ever smaller ones, as long as something is still found under the same rule set. */
async function shrink(
  differential: Differential,
  script: string,
  ruleSet: string,
): Promise<string> {
  let small = script;
  for (let size = Math.ceil(small.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < small.length; ) {
      const shorter = small.slice(0, at) + small.slice(at + size);
      const found = await differential.check(shorter);
      if (found.some((one) => one.ruleSet === ruleSet)) small = shorter;
      else at += size;
    }
  }
  return small;
}

function mayChange({ mode, deny }: RuleSet, file: string): boolean {
  const isInside = file.startsWith('project/');
  const isProtected = /^project\/\.(git|claude)(\/|$)/.test(file);
  if (deny.length > 0) return !isProtected && file !== 'project/.env';
  return mode === 'acceptEdits' && isInside && !isProtected;
}

/** Text of a file that the rules keep from being read, in the arguments of a program. */
function leaked({ deny }: RuleSet, { args }: StartedProgram): string | undefined {
  const text = args.join(' ');
  if (deny.length > 0) return text.includes(ENV_SECRET) ? 'the denied file' : undefined;
  return text.includes(OUTSIDE_SECRET) ? 'a file outside the project' : undefined;
}

/**
 * A path rule covers the files that a command is seen to name: a name that is made at run time (`cat $x`) is not
 * held to it, only to rules for the program.
 */
function isNamedAtRunTime(
  { deny }: RuleSet,
  script: string,
  { name, args }: StartedProgram,
): boolean {
  const program = path.basename(name);
  const isDeniedProgram =
    /^(rm|touch)$/.test(program) || (program === 'git' && args.includes('push'));
  return deny.length > 0 && !isDeniedProgram && /[`*?[{]|\$[^'"\\]/.test(script);
}

/** Started by a script of the project, whose code no rule looks into. */
function isOfProject({ name }: StartedProgram): boolean {
  return name === SOURCED || name === OUTSIDE_SECRET;
}

/** Rules that would have denied what ran: the script must not be allowed beside them. */
function denyRulesFor({ name, args }: StartedProgram): readonly string[] {
  const program = path.basename(name);
  // A number at its end is the process's own, which no rule names.
  if (!/^[a-z][\w.-]*(?<!\d\d)$/.test(program)) return [];
  const whole = [program, ...args];
  const isPlain =
    args.length > 0 && whole.every((word) => /^[\w./-]+$/.test(word) && !word.includes('/dev/fd/'));
  return [`Bash(${program} *)`, ...(isPlain ? [`Bash(${whole.join(' ')})`] : [])];
}

function plain(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : quote(word);
}
