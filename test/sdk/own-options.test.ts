import { own } from './own.js';
import { options } from './suite/options.js';

options(own);
