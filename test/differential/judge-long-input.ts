// Judges every long input with prefixes and with deny rules and prints the outcomes; run as a process of its own, with little memory.
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
    process.stdout.write(`${name}: ${outcomes.join(' ')}\n`);
  }
} finally {
  project.remove();
}
