import { own } from './own.js';
import { permissions } from './suite/permissions.js';

permissions(own);
