// A reporter that writes what scripts/vitest.mjs counts. The runner's own JSON has no word of errors outside
// of tests, and such an error must fail the run although no test did.
import { writeFileSync } from 'node:fs';

export default class Report {
  onTestRunEnd(modules, unhandled) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const having = (state) => tests.filter((test) => test.result().state === state);
    const report = {
      passed: having('passed').length,
      skipped: having('skipped').length,
      failing: having('failed').map((test) => ({
        file: test.module.relativeModuleId,
        test: test.fullName,
        message: firstLine(test.result().errors[0]),
      })),
      outside: [
        ...modules.flatMap((module) =>
          [...module.errors(), ...suiteErrors(module)].map(
            (error) => `${module.relativeModuleId}: ${firstLine(error)}`,
          ),
        ),
        ...unhandled.map((error) => `outside of a test: ${firstLine(error)}`),
      ],
    };
    writeFileSync(process.env.PORTCULLIS_TEST_REPORT, JSON.stringify(report));
  }
}

function suiteErrors(module) {
  return [...module.children.allSuites()].flatMap((suite) => suite.errors());
}

function firstLine(error) {
  return String(error?.message ?? error ?? '')
    .split('\n', 1)[0]
    .slice(0, 300);
}
