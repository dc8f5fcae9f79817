import { own } from './own.js';
import { local } from './suite/local.js';

local(own);
