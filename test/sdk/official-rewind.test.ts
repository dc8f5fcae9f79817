import { official } from './official.js';
import { rewind } from './suite/rewind.js';

rewind(official);
