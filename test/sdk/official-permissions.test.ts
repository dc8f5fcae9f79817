import { official } from './official.js';
import { permissions } from './suite/permissions.js';

permissions(official);
