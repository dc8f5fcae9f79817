import { official } from './official.js';
import { basics } from './suite/basics.js';

basics(official);
