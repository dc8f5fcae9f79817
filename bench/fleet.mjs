// The full proofs of the fleet, with its tests at their full size:
//   node bench/fleet.mjs crash   3 workers, 200 sessions of 5 turns, 5 kills, one stopped worker, severed connections
//   node bench/fleet.mjs load    1,000 sessions of 5 turns through 3 workers: turns a second, writes, cost of a turn
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ensureBuilt, ROOT } from '../scripts/setup.mjs';

ensureBuilt({ types: false });
const [name = 'crash', ...more] = process.argv.slice(2);
const sessions = name === 'load' ? '1000' : '200';
const { status } = spawnSync(
  process.execPath,
  [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', `test/fleet/${name}.test.ts`, ...more],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      PORTCULLIS_FLEET_SESSIONS: sessions,
      PORTCULLIS_FLEET_TURNS: '5',
      PORTCULLIS_FLEET_KILLS: '5',
      PORTCULLIS_FLEET_TALK: '200',
      PORTCULLIS_FLEET_LIMIT_MS: '1800000',
    },
  },
);
process.exit(status ?? 1);
