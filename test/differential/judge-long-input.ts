// Judges one long input under every rule set and prints the outcomes; run as a process of its own, with little memory.
import { makeTempProject } from '../../src/testing/temp-project.js';
import { gateRig } from '../support/gate-rig.js';
import { LONG_INPUTS } from './long-inputs.js';
import { RULE_SETS } from './rule-sets.js';

const command = LONG_INPUTS[process.argv[2] ?? ''];
if (command === undefined) throw new Error(`no such input: ${process.argv[2]}`);
const project = makeTempProject({ files: { 'a.txt': 'a', '.env': 'X=1', 'sub/b.txt': 'b' } });
try {
  const outcomes: string[] = [];
  for (const { mode, allow, deny } of RULE_SETS) {
    const gate = gateRig({ cwd: project.directory, home: project.home, mode, allow, deny });
    outcomes.push(await gate.bash(command));
  }
  process.stdout.write(outcomes.join(' '));
} finally {
  project.remove();
}
