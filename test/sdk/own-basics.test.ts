import { own } from './own.js';
import { basics } from './suite/basics.js';

basics(own);
