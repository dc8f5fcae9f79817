import { official } from './official.js';
import { options } from './suite/options.js';
import { ownProcess } from './suite/process.js';

options(official);
ownProcess(official);
