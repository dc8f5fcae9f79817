import { official } from './official.js';
import { modes } from './suite/modes.js';

modes(official);
