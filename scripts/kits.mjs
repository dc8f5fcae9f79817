// The shared kits: run where they lie beside the project, else left out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './setup.mjs';

const SHARED = path.join(ROOT, '..', 'shared');

/** More differing scenarios than this are a change of behaviour, not a busy machine. */
const MOST_SCENARIOS_AGAIN = 4;

/** Plays the differential scenarios named in test/oracle-scenarios.json and compares. */
export function oracleKit() {
  const kit = path.join(SHARED, 'oracle');
  if (!existsSync(path.join(kit, 'run-scenario.mjs'))) return undefined;
  const { only } = JSON.parse(readFileSync(path.join(ROOT, 'test/oracle-scenarios.json'), 'utf8'));
  const observed = mkdtempSync(path.join(os.tmpdir(), 'portcullis-oracle-'));
  try {
    const played = play(kit, { only, observed, jobs: 2 });
    const first = compare(kit, { only, observed });
    const again = first.differing.length > 0 && first.differing.length <= MOST_SCENARIOS_AGAIN;
    // Two at a time on a busy machine, a scenario may miss a moment it depends on. Alone it counts.
    if (again) play(kit, { only: `^(${first.differing.join('|')})$`, observed, jobs: 1 });
    const last = again ? compare(kit, { only, observed }) : first;
    const unsteady = first.differing.filter((id) => !last.differing.includes(id));
    return {
      text: `differential scenarios (${only}):\n${last.failed > 0 ? `${played}${last.text}` : last.text.trim()}`,
      passed: last.passed,
      failed: last.failed,
      failures: last.differing.map((id) => `scenario ${id}`),
      unsteady: unsteady.map((id) => `scenario ${id}`),
    };
  } finally {
    rmSync(observed, { recursive: true, force: true });
  }
}

/** What the kit printed while it played. */
function play(kit, { only, observed, jobs }) {
  const options = ['--only', only, '--jobs', String(jobs), '--out', observed];
  return runOf([path.join(kit, 'run-scenario.mjs'), ...options]).stdout;
}

function compare(kit, { only, observed }) {
  const meant = path.join(ROOT, 'docs/differences.json');
  const options = ['--only', only, '--differences', meant, observed];
  const text = runOf([path.join(kit, 'compare.mjs'), ...options]).stdout;
  const totals =
    /(\d+) the same, (\d+) meant differences, (\d+) different, (\d+) not run, (\d+) stale/.exec(
      text,
    );
  if (totals === null) return { text, passed: 0, failed: 1, differing: [] };
  const [same, listed, different, missing, stale] = totals.slice(1).map(Number);
  const differing = [...text.matchAll(/^([\w-]+)(?: {2}\(|: not run|: listed as a diff)/gm)];
  return {
    text,
    passed: same + listed,
    failed: different + missing + stale,
    differing: differing.map(([, id]) => id),
  };
}

function runOf(args) {
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: withoutExtraCertificates(),
    maxBuffer: 1 << 26,
  });
}

/** The kits count what a start costs; Node reads these certificates at each one. */
function withoutExtraCertificates() {
  const env = { ...process.env };
  delete env.NODE_EXTRA_CA_CERTS;
  return env;
}

/** Sends the security pairs through the gate; its own bars decide. */
export function securityKit() {
  const kit = path.join(SHARED, 'security', 'run');
  if (!existsSync(kit)) return undefined;
  const run = spawnSync(kit, [], {
    cwd: ROOT,
    encoding: 'utf8',
    env: withoutExtraCertificates(),
    maxBuffer: 1 << 26,
  });
  const rates = run.stdout.match(/^\w+\/\w+\/\w+: \d+\/\d+ .*$/gm) ?? [];
  const holds = run.status === 0 && rates.length > 0;
  const text = `security pairs:\n${holds ? rates.join('\n') : `${run.stdout}${run.stderr}`}`;
  return {
    text,
    passed: holds ? rates.length : 0,
    failed: holds ? 0 : 1,
    failures: holds ? [] : ['the security pairs'],
  };
}
