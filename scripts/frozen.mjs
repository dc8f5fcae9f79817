// node scripts/frozen.mjs report [stride]: what is decided otherwise than when test/differential/corpus was frozen.
// node scripts/frozen.mjs freeze: freezes the decisions of this version.
import { runTypeScript } from './setup.mjs';

const [, , what = 'report'] = process.argv;
if (what !== 'report' && what !== 'freeze') {
  console.error(`There is no "${what}"; say report or freeze.`);
  process.exit(2);
}
await runTypeScript(`test/differential/corpus/${what}.ts`);
