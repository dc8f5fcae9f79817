import { official } from './official.js';
import { hookFailures } from './suite/hook-failures.js';
import { hooks } from './suite/hooks.js';

hooks(official);
hookFailures(official);
