import { official } from './official.js';
import { local } from './suite/local.js';

local(official);
