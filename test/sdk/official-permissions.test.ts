import { official } from './official.js';
import { paths } from './suite/paths.js';
import { permissions } from './suite/permissions.js';

permissions(official);
paths(official);
