import { own } from './own.js';
import { paths } from './suite/paths.js';
import { permissions } from './suite/permissions.js';

permissions(own);
paths(own);
