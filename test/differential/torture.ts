import { observerUnavailable } from '../soundness/observe.js';
import { openSoundness, runSoundness } from '../soundness/soundness.js';
import { type Finding, openDifferential, runDifferential } from './differential.js';
import { compareGenerated, openEquivalence } from './equivalence.js';

export interface TortureBatch {
  readonly seed: number;
  readonly from: number;
  readonly scripts: number;
  readonly most: number;
}

/** All that is compared with real programs, for as many scripts as there is time. */
export function openTorture() {
  const differential = openDifferential();
  const equivalence = openEquivalence();
  const soundness = observerUnavailable() === undefined ? openSoundness() : undefined;
  return {
    async run(batch: TortureBatch) {
      const figures = await runDifferential(differential, batch);
      const { differ, ...forms } = await compareGenerated(equivalence, batch);
      const { seed, from, scripts, most } = batch;
      const real =
        soundness === undefined
          ? { misses: [] }
          : await runSoundness(soundness, {
              seed: seed * 1_000 + Math.floor(from / most),
              commands: scripts,
            });
      const { misses, ...programs } = real;
      const others: Finding[] = [
        ...differ.map((script) => ({
          ruleSet: 'canonical form',
          problem: 'does something else',
          script,
        })),
        ...misses.map((script) => ({ ruleSet: 'effects', problem: 'not foretold', script })),
      ];
      return { ...figures, forms, programs, findings: [...figures.findings, ...others] };
    },
    close() {
      differential.close();
      equivalence.close();
      soundness?.close();
    },
  };
}
