import { own } from './own.js';
import { rewind } from './suite/rewind.js';

rewind(own);
