import { own } from './own.js';
import { modes } from './suite/modes.js';

modes(own);
