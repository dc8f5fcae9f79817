// The shared kits: run where they lie beside the project, else left out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './setup.mjs';

const SHARED = path.join(ROOT, '..', 'shared');

/** Plays the differential scenarios named in test/oracle-scenarios.json and compares. */
export function oracleKit() {
  const kit = path.join(SHARED, 'oracle');
  if (!existsSync(path.join(kit, 'run-scenario.mjs'))) return undefined;
  const { only } = JSON.parse(readFileSync(path.join(ROOT, 'test/oracle-scenarios.json'), 'utf8'));
  const observed = mkdtempSync(path.join(os.tmpdir(), 'portcullis-oracle-'));
  const env = { ...process.env };
  delete env.NODE_EXTRA_CA_CERTS;
  try {
    const run = spawnSync(
      process.execPath,
      [path.join(kit, 'run-scenario.mjs'), '--only', only, '--jobs', '2', '--out', observed],
      { cwd: ROOT, encoding: 'utf8', env, maxBuffer: 1 << 26 },
    );
    const compared = spawnSync(
      process.execPath,
      [
        path.join(kit, 'compare.mjs'),
        '--only',
        only,
        '--differences',
        path.join(ROOT, 'docs/differences.json'),
        observed,
      ],
      { cwd: ROOT, encoding: 'utf8', env, maxBuffer: 1 << 26 },
    );
    const totals =
      /(\d+) the same, (\d+) meant differences, (\d+) different, (\d+) not run, (\d+) stale/.exec(
        compared.stdout,
      );
    const [same, meant, different, missing, stale] = (totals ?? []).slice(1).map(Number);
    const failed = totals === null ? 1 : different + missing + stale;
    const text = `differential scenarios (${only}):\n${failed > 0 ? run.stdout + compared.stdout : compared.stdout.trim()}`;
    return { text, passed: totals === null ? 0 : same + meant, failed };
  } finally {
    rmSync(observed, { recursive: true, force: true });
  }
}

/** Sends the security pairs through the gate; its own bars decide. */
export function securityKit() {
  const kit = path.join(SHARED, 'security', 'run');
  if (!existsSync(kit)) return undefined;
  const env = { ...process.env };
  delete env.NODE_EXTRA_CA_CERTS;
  const run = spawnSync(kit, [], { cwd: ROOT, encoding: 'utf8', env, maxBuffer: 1 << 26 });
  const rates = run.stdout.match(/^\w+\/\w+\/\w+: \d+\/\d+ .*$/gm) ?? [];
  const holds = run.status === 0 && rates.length > 0;
  const text = `security pairs:\n${holds ? rates.join('\n') : `${run.stdout}${run.stderr}`}`;
  return { text, passed: holds ? rates.length : 0, failed: holds ? 0 : 1 };
}
