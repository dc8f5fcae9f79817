// The full crash proof of the fleet: 3 workers, 200 sessions of 5 turns, 5 kills, one stopped worker, severed connections.
//   node bench/fleet.mjs [files|PostgreSQL]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ensureBuilt, ROOT } from '../scripts/setup.mjs';

ensureBuilt({ types: false });
const only = process.argv[2];
const { status } = spawnSync(
  process.execPath,
  [
    path.join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    'test/fleet/crash.test.ts',
    ...(only === undefined ? [] : ['-t', only]),
  ],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      PORTCULLIS_FLEET_SESSIONS: '200',
      PORTCULLIS_FLEET_TURNS: '5',
      PORTCULLIS_FLEET_KILLS: '5',
      PORTCULLIS_FLEET_LIMIT_MS: '900000',
    },
  },
);
process.exit(status ?? 1);
