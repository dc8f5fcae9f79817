import path from 'node:path';
import { runScenario, type Scenario, type ScenarioRun } from '../../src/testing/scenario.js';

/** The built program, as users start it. */
export const PROGRAM = [
  process.execPath,
  path.resolve(import.meta.dirname, '../../bin/portcullis'),
];

export function play(scenario: Scenario): Promise<ScenarioRun> {
  return runScenario(PROGRAM, scenario);
}
