import { own } from './own.js';
import { hookFailures } from './suite/hook-failures.js';
import { hooks } from './suite/hooks.js';

hooks(own);
hookFailures(own);
