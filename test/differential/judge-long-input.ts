// Judges every long input with prefixes and with deny rules, and prints for each a line of JSON with the outcomes and the steps of
// reading it (null: it was not read); run as a process of its own, with little memory.
import { Budget } from '../../src/permissions/gate/budget.js';
import { readShell } from '../../src/permissions/shell/syntax/read.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { gateRig } from '../support/gate-rig.js';
import { LONG_INPUTS } from './long-inputs.js';
import { RULE_SETS } from './rule-sets.js';

const project = makeTempProject({ files: { 'a.txt': 'a', '.env': 'X=1', 'sub/b.txt': 'b' } });
try {
  for (const [name, command] of Object.entries(LONG_INPUTS)) {
    const outcomes: string[] = [];
    for (const { mode, allow, deny } of RULE_SETS.filter((rules) => rules.allow.length > 0)) {
      const gate = gateRig({ cwd: project.directory, home: project.home, mode, allow, deny });
      outcomes.push(await gate.bash(command));
    }
    const budget = new Budget();
    const { opaque } = await readShell(command, { cwd: '/project', home: '/home' }, budget);
    const steps = opaque === undefined ? budget.spent : null;
    process.stdout.write(`${JSON.stringify({ name, outcomes, steps })}\n`);
  }
} finally {
  project.remove();
}
